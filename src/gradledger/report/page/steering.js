// Moving in the timeline by mouse, wheel, fingers and keys, and saying what the chosen cell holds.
const extent = document.getElementById("extent");
const told = document.getElementById("told");
const labels = document.getElementById("labels");

const lineText = (number) => (number < 0 ? "" : LINES[number].place);
const stretchOf = (first, size) => (size === 1 ? `micro-batch ${count(first)}` : `micro-batches ${count(first)} to ${count(first + size - 1)}`);
// Of several optimizers of one kind each is called by the variable it was put in, or else counted.
const variableOf = (line) => { const found = line < 0 ? null : /^([\p{L}_][\p{L}\p{N}_.]*)\s*(?::[^=]+)?=(?!=)/u.exec(LINES[line].code.trim()); return found ? found[1] : ""; };
const optimizerName = (number) => {
  const one = timeline.rows.find((row) => row.optimizer === number);
  if (!one || !one.kind) return `optimizer ${number}`;
  const alike = new Map(timeline.rows.filter((row) => row.kind === one.kind).map((row) => [row.optimizer, variableOf(row.line)]));
  if (alike.size < 2) return one.kind;
  const names = [...alike.values()], apart = names.every(Boolean) && new Set(names).size === names.length;
  return `${one.kind} ${apart ? alike.get(number) : [...alike.keys()].indexOf(number) + 1}`;
};
const rowName = (row) => {
  const one = timeline.rows[row];
  if (one.names.length === 1) return one.names[0];
  if (one.names.length) {
    const parts = one.names.map((name) => name.split(".")), shared = [];
    while (parts.every((part) => part.length > shared.length + 1 && part[shared.length] === parts[0][shared.length])) shared.push(parts[0][shared.length]);
    if (shared.length) return `${shared.join(".")}.*`;
    if (!one.kind) return `${one.names[0]} …`;
  }
  if (one.optimizer === null) return one.kind || "no optimizer";
  const own = timeline.rows.filter((other) => other.optimizer === one.optimizer);
  return `${optimizerName(one.optimizer)}${own.length > 1 ? `, group ${own.indexOf(one) + 1}` : ""}`;
};

const insideText = (row, column) => {
  const number = SPAN.numbers[column], state = stateAt(row, column);
  const [fresh, freshAgo, stale, staleAgo] = SPAN.inside[bookedAs(row, number)].map((values) => values[column]);
  const lines = marksOf(column).filter((mark) => mark[0] === "backward").map((mark) => lineText(mark[1])).filter(Boolean);
  const from = lines.length ? ` from ${lines.join(", ")}` : "";
  // Passes without a gap are told from the first to the last, others only counted.
  const span = (first, size, room) => (size === room || size === 1 ? stretchOf(first, size) : `${count(size)} micro-batches since ${count(first)}`);
  const parts = [];
  if (stale && state !== "N" && state !== "Z") parts.push(`${span(number - staleAgo, stale, fresh ? staleAgo - freshAgo : staleAgo + 1)}, which a step had already applied`);
  if (fresh) parts.push(`${span(number - freshAgo, fresh, freshAgo + 1)}${from}`);
  const words = { N: "holds nothing: the gradient is None", Z: "holds zeros", H: "holds what the program put there by hand" };
  const lost = lostAt(row, column) ? " It is cleared before any step uses it." : "";
  return parts.length ? `Inside: ${parts.join(", and ")}.${lost}` : `It ${words[state] || "is not known"}.`;
};

const say = () => {
  if (view.column < 0) return;
  const column = view.column, row = view.row, state = stateAt(row, column), one = timeline.rows[row];
  const name = state ? DATA.states[state] : "not recorded";
  const head = element("h3", {}, `Micro-batch ${count(SPAN.numbers[column])}, after ${many(SPAN.steps[column], "update")}: ${name}`);
  const group = element("p", {}, `${rowName(row)}, ${many(one.size, "parameter")}${one.names.length > 1 ? `: ${one.names.slice(0, 6).join(", ")}${one.size > 6 ? ", …" : ""}` : ""}${one.line >= 0 ? ` (${lineText(one.line)})` : ""}`);
  const inside = element("p", { class: state === "S" || lostAt(row, column) ? "inside stale" : "inside" }, insideText(row, column));
  const events = element("ol", { "aria-label": "What happened in this micro-batch, in this order" });
  for (const [mark, line, rows] of marksOf(column)) {
    const other = rows.length && !rows.includes(bookedAs(row, SPAN.numbers[column])) && !rows.includes(row) ? " (others)" : "";
    events.append(element("li", {}, element("b", {}, WORDS[mark] + other), element("span", { class: "at" }, lineText(line)), element("code", {}, line < 0 ? "" : LINES[line].code)));
  }
  const made = element("div", {}, head, group, inside, events);
  if (told.innerHTML !== made.innerHTML) told.replaceChildren(...made.children); // equal words are not read out again
};

const choose = (column, row, show) => {
  if (!SPAN.total) return;
  view.column = Math.max(0, Math.min(SPAN.total - 1, column));
  view.row = Math.max(0, Math.min(timeline.rows.length - 1, row));
  if (show) {
    const x = place(view.column);
    if (x < 0) view.offset += x - view.width / 4;
    if (x + view.zoom > view.width) view.offset += x + view.zoom - (view.width * 3) / 4;
  }
  say();
  draw();
};
const zoomBy = (factor, x) => {
  const at = x === undefined ? (view.column >= 0 && place(view.column) >= 0 && place(view.column) <= view.width ? place(view.column) : view.width / 2) : x;
  const column = columnAt(at), within = (at - place(column)) / view.zoom;
  view.zoom *= factor;
  hold();
  view.offset += place(column) + within * view.zoom - at;
  draw();
};
const fit = () => { view.zoom = fitting(); view.offset = 0; draw(); };
const goTo = (number) => {
  const column = columnOf(number);
  view.zoom = Math.max(view.zoom, 56);
  hold();
  view.offset += place(column) - view.width / 3;
  hold();
  choose(column, guiltyRow(column), true);
};
const guiltyRow = (column) => {
  let best = 0;
  timeline.rows.forEach((_, row) => { if (RANK.indexOf(stateAt(row, column) || "N") > RANK.indexOf(stateAt(best, column) || "N")) best = row; });
  return best;
};

const at = (event) => {
  const box = canvas.getBoundingClientRect(), y = event.clientY - box.top;
  const strip = strips().made.find((one) => y < one.top + one.height) || { row: timeline.rows.length - 1 };
  return { x: event.clientX - box.left, row: strip.row };
};
const fingers = new Map();
let pinch = 0;
canvas.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, event);
  canvas.setPointerCapture(event.pointerId);
  const { x, row } = at(event);
  if (SPAN.total && event.isPrimary) choose(columnAt(x), row);
});
canvas.addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  const { x, row } = at(event);
  if (!before) { if (SPAN.total && event.pointerType !== "touch") choose(columnAt(x), row); return; }
  fingers.set(event.pointerId, event);
  if (fingers.size === 1) {
    if (Math.abs(event.clientX - before.clientX) > 0) canvas.classList.add("dragging");
    view.offset -= event.clientX - before.clientX;
    draw();
  } else if (fingers.size === 2) {
    const [one, other] = [...fingers.values()];
    const apart = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    if (pinch && apart) zoomBy(apart / pinch, (one.clientX + other.clientX) / 2 - canvas.getBoundingClientRect().left);
    pinch = apart;
  }
});
for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => { fingers.delete(event.pointerId); pinch = 0; canvas.classList.remove("dragging"); });
canvas.addEventListener("wheel", (event) => {
  // Without the focus the wheel belongs to the page.
  if (document.activeElement !== canvas && !event.ctrlKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
  event.preventDefault();
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) { view.offset += event.deltaX || event.deltaY; draw(); return; }
  zoomBy(Math.exp(-event.deltaY * 0.0022), event.clientX - canvas.getBoundingClientRect().left);
}, { passive: false });
canvas.addEventListener("focus", () => { if (view.column < 0 && SPAN.total) choose(columnAt(0), 0); });
canvas.addEventListener("keydown", (event) => {
  const far = event.shiftKey ? 10 : 1;
  const keys = {
    ArrowLeft: () => choose(view.column - far, view.row, true), ArrowRight: () => choose(view.column + far, view.row, true),
    ArrowUp: () => choose(view.column, view.row - 1, true), ArrowDown: () => choose(view.column, view.row + 1, true),
    Home: () => choose(0, view.row, true), End: () => choose(SPAN.total - 1, view.row, true),
    "+": () => zoomBy(1.5), "=": () => zoomBy(1.5), "-": () => zoomBy(1 / 1.5), 0: fit,
    Enter: () => toggle(view.row),
  };
  if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  keys[event.key]();
});
const DO = { in: () => zoomBy(1.6), out: () => zoomBy(1 / 1.6), fit, left: () => { view.offset -= view.width / 2; draw(); }, right: () => { view.offset += view.width / 2; draw(); } };
for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", DO[button.dataset.do]);

const toggle = (row) => {
  if (!timeline.rows[row].names.length) return;
  if (!view.open.delete(row)) view.open.add(row);
  label();
  draw();
};
const label = () => {
  const focused = [...labels.querySelectorAll(".row")].indexOf(document.activeElement);
  labels.replaceChildren();
  const sized = (made, height) => { made.style.height = `${height}px`; labels.append(made); };
  lanes.forEach(([, word], index) => sized(element("div", { class: "lane" }, word), LANE + (index ? 0 : 3)));
  sized(element("div", { class: "lane" }), 3);
  timeline.rows.forEach((row, index) => {
    const open = view.open.has(index);
    const button = element("button", { type: "button", class: "row", "aria-expanded": row.names.length ? String(open) : null, title: row.names.join(", ") || "the recording does not name them" },
      element("span", {}, element("b", {}, rowName(index)), element("small", {}, many(row.size, "parameter"))));
    if (!row.names.length) button.disabled = true;
    button.addEventListener("click", () => toggle(index));
    sized(button, ROW);
    if (open) for (const name of namesOf(row)) sized(element("div", { class: "parameter", title: name }, name), PARAMETER);
  });
  sized(element("div", { class: "axis" }, "micro-batch"), AXIS);
  if (focused >= 0 && labels.querySelectorAll(".row")[focused]) labels.querySelectorAll(".row")[focused].focus();
};
