// The ledger timeline on a canvas: only what is in sight is drawn, so thousands of steps stay smooth.
const LANE = 21, ROW = 38, PARAMETER = 20, AXIS = 28, DETAIL = 46;
const canvas = document.getElementById("canvas");
const pen = canvas.getContext("2d");
const view = { width: 0, height: 0, zoom: 8, offset: 0, column: -1, row: 0, open: new Set(), pinned: false };
let lanes, gapsBefore, epochs, harmless;
loads.push(() => {
  lanes = LANES.filter(([lane]) => timeline.kinds.some((kind) => kind.marks.some((mark) => LANE_OF[mark[0]] === lane)));
  gapsBefore = new Int32Array(SPAN.total + 1);
  for (const gap of SPAN.gaps) gapsBefore[gap.before]++;
  for (let at = 1; at <= SPAN.total; at++) gapsBefore[at] += gapsBefore[at - 1];
  epochs = new Set(timeline.kinds.flatMap((kind, index) => (kind.marks.some((mark) => mark[0] === "epoch") ? [index] : [])));
  harmless = timeline.rows.map((_, row) => harmlessIn(row));
  sketch = null;
});

const gapWidth = () => Math.max(2, Math.min(30, view.zoom * 8));
const place = (column) => column * view.zoom + gapsBefore[column] * gapWidth() - view.offset;
const wide = () => SPAN.total * view.zoom + SPAN.gaps.length * gapWidth();
const columnAt = (x) => {
  let low = 0, high = SPAN.total - 1;
  while (low < high) { const middle = (low + high + 1) >> 1; if (place(middle) <= x) low = middle; else high = middle - 1; }
  return low;
};
const columnOf = (number) => {
  let low = 0, high = SPAN.total - 1;
  while (low < high) { const middle = (low + high) >> 1; if (SPAN.numbers[middle] < number) low = middle + 1; else high = middle; }
  return low;
};
// Before a group was split off, its gradients were booked with those of its parent.
const bookedAs = (row, number) => {
  while (number <= timeline.rows[row].start && timeline.rows[row].parent !== null) row = timeline.rows[row].parent;
  return row;
};
// New passes on top of spent ones do no harm if no step uses them, as in adversarial training.
const harmlessIn = (row) => {
  const marked = new Uint8Array(SPAN.total), gaps = new Set(SPAN.gaps.map((gap) => gap.before));
  let next = "end"; // which uses nothing either
  for (let column = SPAN.total - 1; column >= 0; column--) {
    const marks = SPAN.kinds[column] < 0 ? [] : timeline.kinds[SPAN.kinds[column]].marks, own = bookedAs(row, SPAN.numbers[column]);
    for (let at = marks.length - 1; at >= 0; at--) {
      const [mark, , rows] = marks[at];
      if (mark === "backward") marked[column] = next === "lose" ? 2 : next === "clear" || next === "end" ? 1 : 0;
      if (!rows.includes(own)) continue;
      if (mark === "step" || mark === "skip" || mark === "closure") next = "step";
      if (mark === "clear" || mark === "lose" || mark === "assign") next = mark === "lose" ? "lose" : "clear";
    }
    if (gaps.has(column)) next = "";
  }
  return marked;
};
const stateAt = (row, column) => {
  const state = SPAN.kinds[column] < 0 ? "" : PEAKS[SPAN.kinds[column]][row];
  return state === "S" && harmless[row][column] ? "L" : state;
};

// Passes that were cleared before any step used them.
const lostAt = (row, column) => harmless[row][column] === 2 && "FA".includes(stateAt(row, column) || "?");

const strips = () => {
  const made = [];
  let top = lanes.length * LANE + 6;
  timeline.rows.forEach((row, index) => {
    made.push({ row: index, top, height: ROW });
    top += ROW;
    if (view.open.has(index)) for (const name of namesOf(row)) { made.push({ row: index, top, height: PARAMETER, name }); top += PARAMETER; }
  });
  return { made, end: top };
};
const namesOf = (row) => {
  const rest = row.size - row.names.length;
  return row.names.length && rest > 0 ? [...row.names, `and ${count(rest)} more`] : row.names;
};

const hold = () => {
  view.zoom = Math.max(Math.min(view.zoom, 160), fitting());
  view.offset = Math.max(0, Math.min(view.offset, wide() - view.width));
};
const fitting = () => {
  if (!SPAN.total) return 8;
  const gaps = SPAN.gaps.length;
  let zoom = view.width / (SPAN.total + 8 * gaps);
  if (zoom * 8 < 2) zoom = Math.max(0.001, (view.width - 2 * gaps) / SPAN.total);
  return Math.min(zoom, 120);
};

let asked = false;
const draw = () => { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; paint(); }); } };

// A strip of the whole run, each pixel the gravest state of any group, with a frame around what is in sight.
const overview = document.getElementById("overview");
let sketch = null;
const paintOverview = () => {
  const ratio = window.devicePixelRatio || 1, width = Math.round(overview.clientWidth * ratio), height = Math.round(16 * ratio);
  const small = overview.getContext("2d");
  if (overview.width !== width || !sketch) {
    overview.width = width; overview.height = height;
    sketch = new Int8Array(width).fill(-1);
    for (let at = 0; at < SPAN.total; at++) {
      const from = Math.floor((at / SPAN.total) * width), to = Math.max(from + 1, Math.floor(((at + 1) / SPAN.total) * width));
      let best = -1;
      for (let row = 0; row < timeline.rows.length; row++) best = Math.max(best, RANK.indexOf(stateAt(row, at) || "?"));
      for (let x = from; x < to && x < width; x++) sketch[x] = Math.max(sketch[x], best);
    }
  }
  small.clearRect(0, 0, width, height);
  for (let x = 0, from = 0; x < width; x++) {
    if (x + 1 < width && sketch[x + 1] === sketch[x]) continue;
    if (sketch[x] >= 0) { small.fillStyle = fills[RANK[sketch[x]]]; small.fillRect(from, 0, x + 1 - from, height); }
    from = x + 1;
  }
  const [from, to] = [columnAt(0), columnAt(view.width) + 1].map((column) => (column / SPAN.total) * width);
  small.strokeStyle = fills.ink; small.lineWidth = 2 * ratio;
  small.strokeRect(from + ratio, ratio, Math.max(to - from - 2 * ratio, 3 * ratio), height - 2 * ratio);
};

const paint = () => {
  const { made, end } = strips();
  const ratio = window.devicePixelRatio || 1, height = end + AXIS;
  view.width = canvas.parentElement.clientWidth;
  if (canvas.width !== Math.round(view.width * ratio) || view.height !== height) {
    view.height = height;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(view.width * ratio); canvas.height = Math.round(height * ratio);
  }
  hold();
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, view.width, height);
  if (!SPAN.total) return;
  const first = columnAt(0), last = Math.min(SPAN.total - 1, columnAt(view.width));
  paintEpochs(first, last, end);
  for (const strip of made) paintStrip(strip, first, last);
  paintGaps(first, last, end);
  paintMarks(first, last);
  paintAxis(first, last, end);
  paintFindings(end);
  paintCursor(made);
  paintOverview();
  extent.textContent = `micro-batches ${count(SPAN.numbers[first])} to ${count(SPAN.numbers[last])} of ${count(timeline.count)}`;
};

const paintStrip = (strip, first, last) => {
  const y = strip.top + (strip.name ? 2 : 5), h = strip.height - (strip.name ? 4 : 10);
  pen.fillStyle = fills.line;
  if (!strip.name) pen.fillRect(0, strip.top, view.width, 1);
  if (view.zoom < 1.5) return paintDense(strip, first, last, y, h);
  let from = first;
  const pad = view.zoom >= 7 ? 1.5 : 0;
  for (let at = first; at <= last; at++) {
    const state = stateAt(strip.row, at);
    const joined = !pad && at < last && stateAt(strip.row, at + 1) === state && lostAt(strip.row, at + 1) === lostAt(strip.row, at) && gapsBefore[at + 1] === gapsBefore[at];
    if (joined) continue;
    if (state) {
      const x = place(from), w = place(at) + view.zoom - x - pad;
      if (view.zoom >= DETAIL && !strip.name) paintTrail(strip, at, x, y, w, h);
      else { pen.fillStyle = fills[state]; pen.fillRect(x, y, w, h); }
      if (lostAt(strip.row, at)) { pen.fillStyle = fills.card; pen.globalAlpha = 0.55; pen.fillRect(x, y, w, h); pen.globalAlpha = 1; pen.fillStyle = fills.lost; pen.fillRect(x, y + h - 4, w, 4); }
      if (view.zoom >= 15 && !strip.name) paintCount(strip, at, state, x, y, w, h);
    }
    from = at + 1;
  }
};

// Several micro-batches share a pixel: the gravest state among them is seen.
const paintDense = (strip, first, last, y, h) => {
  let x = Math.floor(place(first)), best = -1, from = x, current = -1;
  const flush = (to) => { if (current >= 0 && to > from) { pen.fillStyle = fills[RANK[current]]; pen.fillRect(from, y, to - from, h); } };
  for (let at = first; at <= last + 1; at++) {
    const here = at > last ? x + 1 : Math.floor(place(at));
    if (here > x || at > last) {
      if (best !== current) { flush(x); from = x; current = best; }
      if (here > x + 1) { flush(x + 1); from = here; current = -1; }
      x = here; best = -1;
    }
    if (at <= last) best = Math.max(best, RANK.indexOf(stateAt(strip.row, at) || "?"));
  }
  flush(x);
};

const marksOf = (column) => (SPAN.kinds[column] < 0 ? [] : timeline.kinds[SPAN.kinds[column]].marks);

// Wide cells show the state between one mark and the next.
const paintTrail = (strip, column, x, y, w, h) => {
  const trail = trailOf(SPAN.kinds[column], strip.row), part = w / trail.length;
  for (let at = 0; at < trail.length; at++) {
    pen.fillStyle = fills[trail[at]];
    pen.fillRect(x + at * part, y, part + 0.5, h);
  }
};
const paintCount = (strip, column, state, x, y, w, h) => {
  const [fresh, , stale] = SPAN.inside[bookedAs(strip.row, SPAN.numbers[column])].map((row) => row[column]);
  const word = state === "S" ? (w > 34 ? `${fresh}+${stale}` : "S") : fresh > 0 ? String(fresh) : LOOKS[state].letter;
  if (!word) return;
  pen.font = `600 ${w > 34 ? 13 : 11}px ${getComputedStyle(document.body).fontFamily}`;
  const size = pen.measureText(word).width + 8;
  if (size > w + 4) return;
  const dark = "FASH".includes(state);
  let middle = x + w / 2;
  if (view.zoom >= DETAIL) {
    const trail = trailOf(SPAN.kinds[column], strip.row), part = w / trail.length;
    const begin = marksOf(column).findIndex((mark) => mark[0] === "backward") + 1;
    let stop = begin;
    while (stop < trail.length && trail[stop] === state) stop++;
    middle = x + ((begin + stop) / 2) * part;
    middle = Math.min(Math.max(middle, x + size / 2), x + w - size / 2);
  }
  pen.textAlign = "center"; pen.textBaseline = "middle";
  if (dark) { pen.fillStyle = colourOf(state); pen.beginPath(); pen.roundRect(middle - size / 2, y + h / 2 - 9, size, 18, 5); pen.fill(); }
  pen.fillStyle = dark ? fills.on : fills.soft;
  pen.fillText(word, middle, y + h / 2 + 0.5);
};
const colourOf = (state) => colour(LOOKS[state].colour);

const paintMarks = (first, last) => {
  lanes.forEach(([lane, , tone], index) => {
    const y = index * LANE + LANE / 2 + 3;
    let seen = -2;
    for (let at = first; at <= last; at++) {
      const marks = marksOf(at);
      for (let i = 0; i < marks.length; i++) {
        if (LANE_OF[marks[i][0]] !== lane) continue;
        const w = view.zoom >= 7 ? view.zoom - 1.5 : view.zoom;
        const x = place(at) + (w * (i + 1)) / (marks.length + 1);
        pen.fillStyle = pen.strokeStyle = fills[marks[i][0] === "skip" ? "error" : marks[i][0] === "lose" ? "lost" : tone];
        if (view.zoom >= 12) glyph(pen, marks[i][0], x, y, 9);
        else if (marks[i][0] === "skip") glyph(pen, "skip", x, y, 7);
        else if (Math.round(x) > seen || marks[i][0] === "lose") { seen = Math.round(x); pen.fillRect(seen, y - 4.5, view.zoom >= 5 ? 2 : 1, 9); }
      }
    }
  });
};
const paintEpochs = (first, last, end) => {
  let seen = -9;
  for (let at = first; at <= last; at++) {
    if (!epochs.has(SPAN.kinds[at])) continue;
    const x = place(at) + view.zoom - (view.zoom >= 7 ? 1.5 : 0);
    if (x - seen < 3) continue;
    seen = x;
    pen.fillStyle = fills.faint; pen.globalAlpha = 0.55; pen.fillRect(Math.round(x), 0, 1, end + 4); pen.globalAlpha = 1;
  }
};
const paintGaps = (first, last, end) => {
  for (const gap of SPAN.gaps) {
    if (gap.before < first || gap.before > last + 1) continue;
    const w = gapWidth(), x = place(gap.before) - w, top = lanes.length * LANE + 6;
    pen.fillStyle = fills.well; pen.fillRect(x, top + 1, w, end - top - 1);
    pen.fillStyle = fills.faint;
    if (w >= 10) for (let dot = -1; dot <= 1; dot++) { pen.beginPath(); pen.arc(x + w / 2 + dot * 5, (top + end) / 2, 1.3, 0, 7); pen.fill(); }
  }
};
const paintAxis = (first, last, end) => {
  pen.fillStyle = fills.line; pen.fillRect(0, end, view.width, 1);
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  pen.textBaseline = "middle"; pen.textAlign = "center";
  let step = 1;
  for (let grow = 0; step * view.zoom < 64; grow++) step *= grow % 3 === 1 ? 2.5 : 2;
  let free = 0;
  for (let at = first; at <= last; at++) {
    if (SPAN.numbers[at] % step && SPAN.numbers[at] !== 1) continue;
    const x = place(at) + view.zoom / 2, word = count(SPAN.numbers[at]), half = pen.measureText(word).width / 2;
    if (x - half < free || x + half > view.width) continue;
    pen.fillStyle = fills.faint; pen.fillRect(Math.round(x), end, 1, 4);
    pen.fillStyle = fills.soft; pen.fillText(word, x, end + 15);
    free = x + half + 12;
  }
};
const paintFindings = (end) => {
  for (const finding of DATA.findings) {
    const column = columnOf(finding.at), x = place(column), w = Math.max(view.zoom - (view.zoom >= 7 ? 1.5 : 0), 3);
    if (x + w < 0 || x > view.width) continue;
    pen.strokeStyle = fills.error; pen.lineWidth = 2;
    pen.strokeRect(x - 1, 1, w + 2, end - 2);
  }
};
const paintCursor = (made) => {
  if (view.column < 0) return;
  const strip = made.find((one) => one.row === view.row && !one.name);
  const x = place(view.column), w = Math.max(view.zoom - (view.zoom >= 7 ? 1.5 : 0), 2);
  pen.strokeStyle = fills.ink; pen.lineWidth = 2;
  if (strip) pen.strokeRect(x - 1, strip.top + 4, w + 2, strip.height - 8);
  pen.globalAlpha = 0.07; pen.fillStyle = fills.ink; pen.fillRect(x, 0, w, view.height - AXIS); pen.globalAlpha = 1;
};
