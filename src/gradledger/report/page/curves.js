// Curves as SVG: a line for the mean, a band from the least to the greatest where points were joined.
const SVG = "http://www.w3.org/2000/svg";
const drawn = (name, attributes, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const short = (value) => (value === 0 ? "0" : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4 ? value.toExponential(1) : String(+value.toPrecision(3)));
const bytes = (value) => { const units = ["B", "KB", "MB", "GB", "TB"]; let at = 0; while (Math.abs(value) >= 1024 && at < 4) { value /= 1024; at++; } return `${+value.toPrecision(3)} ${units[at]}`; };
let series, PLOTS;
const startingWith = (word) => Object.keys(series).filter((name) => name.startsWith(word));
loads.push(() => { series = DATA.curves.series; PLOTS = plotsOf(); });
const plotsOf = () => [
  { title: "Loss", of: startingWith("loss ").length ? startingWith("loss ") : ["loss"] },
  { title: "Accuracy", of: startingWith("accuracy ").length ? startingWith("accuracy ") : ["accuracy"] },
  { title: "Gradient norm", of: [...startingWith("norm before"), ...startingWith("norm after"), ...startingWith("norm ").filter((name) => /\d$/.test(name))], names: { "norm before clip": "before clip", "norm after clip": "after clip" }, log: true },
  { title: "Gradient norm, measured by the audit", of: ["norm inside", "norm alone"], names: { "norm inside": "what .grad holds", "norm alone": "this batch alone" } },
  { title: "Learning rate", of: startingWith("rate "), steps: true },
  { title: "Gradient scale", of: startingWith("scale "), steps: true, log: true },
  { title: "Memory of gradients", of: ["memory"], format: bytes, zero: true, steps: true },
].map((plot) => ({ ...plot, of: plot.of.filter((name) => series[name] && series[name].points.length) })).filter((plot) => plot.of.length);
const several = (names) => (names.length > 1 ? names : []);
const nameOf = (plot, name) => {
  const number = Number(name.split(" ").pop()), line = series[name].line;
  if (plot.names && plot.names[name]) return plot.names[name];
  if (line >= 0) return LINES[line].place;
  if (name.startsWith("norm ")) return several(startingWith("rate ")).length ? `at the step of ${optimizerName(number)}` : "at the step";
  if (name.startsWith("rate ")) return optimizerName(number);
  return name;
};
const STROKES = [["fresh", ""], ["stale", "6 3"], ["accumulated", "2 3"], ["soft", "8 2 2 2"]];

const updates = () => {
  const places = [];
  for (let column = 0; column < SPAN.total && places.length <= 150; column++) if (marksOf(column).some((mark) => mark[0] === "step")) places.push(SPAN.numbers[column]);
  return places.length <= 150 && SPAN.gaps.length === 0 ? places : [];
};

// Round numbers around what is drawn, three to six of them.
const ticksOf = (from, to, unit = 1) => {
  if (unit !== 1) return ticksOf(from / unit, to / unit).map((tick) => tick * unit);
  const rough = (to - from) / 4, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const first = Math.floor(from / step + 1e-9), last = Math.ceil(to / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
};
const plotted = (plot, box) => {
  const width = Math.max(240, box.clientWidth - 32), height = 170, left = 46, bottom = 22, top = 8, right = 8;
  const rows = plot.of.map((name) => series[name].points.map((p) => ({ x: p[0], y: p[1], low: p.length > 2 ? p[2] : p[1], high: p.length > 2 ? p[3] : p[1] })));
  const all = rows.flat();
  let low = Math.min(...all.map((p) => p.low)), high = Math.max(...all.map((p) => p.high));
  const log = plot.log && low > 0 && high / low > 50;
  if (plot.zero) low = 0;
  const scale = log ? Math.log10 : (value) => value;
  let [from, to] = [scale(low), scale(high)];
  if (from === to) { from -= Math.abs(from) * 0.1 || 0.5; to += Math.abs(to) * 0.1 || 0.5; }
  // Asked for once: around its own ends there would be other round numbers, outside the frame.
  const grain = plot.format === bytes ? 1024 ** Math.max(0, Math.min(4, Math.floor(Math.log(to) / Math.log(1024)))) : 1;
  const ticks = log ? [0, 1, 2, 3].map((tick) => from + ((to - from) * tick) / 3) : ticksOf(from, to, grain);
  if (!log) [from, to] = [ticks[0], ticks[ticks.length - 1]];
  // A page may draw over something else than the micro-batches of the timeline.
  const { end: last = timeline.count, unit = "micro-batch", steps: ticked = true } = DATA.curves, end = Math.max(last, 2);
  const X = (x) => left + ((x - 1) / (end - 1)) * (width - left - right), Y = (y) => top + (1 - (scale(y) - from) / (to - from)) * (height - top - bottom);
  const format = plot.format || short;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": plot.of.map((name, i) => { const row = rows[i]; return `${plot.title}, ${nameOf(plot, name)}: from ${format(row[0].y)} to ${format(row[row.length - 1].y)} over ${many(last, unit, `${unit}es`)}, least ${format(Math.min(...row.map((p) => p.low)))}, greatest ${format(Math.max(...row.map((p) => p.high)))}`; }).join("; ") });
  for (const value of ticks) {
    const y = Y(log ? 10 ** value : value);
    svg.append(drawn("line", { x1: left, x2: width - right, y1: y, y2: y, stroke: "var(--line)" }), drawn("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, format(log ? 10 ** value : value)));
  }
  const shownEpochs = DATA.curves.epochs.length <= 60 ? DATA.curves.epochs : [];
  for (const epoch of shownEpochs) if (epoch < end) svg.append(drawn("line", { x1: X(epoch), x2: X(epoch), y1: top, y2: height - bottom, stroke: "var(--faint)", "stroke-dasharray": "1 4" }));
  for (const update of ticked ? updates() : []) svg.append(drawn("line", { x1: X(update), x2: X(update), y1: height - bottom, y2: height - bottom + 4, stroke: "var(--soft)" }));
  for (const skip of DATA.curves.skips) svg.append(drawn("text", { x: X(skip), y: height - bottom - 3, "text-anchor": "middle", class: "skipped" }, "×"));
  rows.forEach((row, index) => {
    const [tone, dash] = STROKES[index % STROKES.length], steps = plot.steps;
    const apart = row.filter((p) => p.low !== p.high);
    // What came and went between two values that stand still is drawn where it happened.
    if (apart.length && steps && row.length <= 300) for (const p of apart) svg.append(drawn("line", { x1: X(p.x), x2: X(p.x), y1: Y(p.low), y2: Y(p.high), stroke: `var(--${tone})`, "stroke-width": Math.max(1, Math.min(5, (width - left - right) / row.length / 2)), opacity: 0.3, class: "given-back" }));
    else if (apart.length) svg.append(drawn("path", { d: `M${row.map((p) => `${X(p.x)},${Y(p.high)}`).join("L")}L${[...row].reverse().map((p) => `${X(p.x)},${Y(p.low)}`).join("L")}Z`, fill: `var(--${tone})`, opacity: 0.16 }));
    const path = row.map((p, at) => (at && steps ? `H${X(p.x)}V${Y(p.y)}` : `${at ? "L" : "M"}${X(p.x)},${Y(p.y)}`)).join("");
    if (row.length > 1) svg.append(drawn("path", { d: path, fill: "none", stroke: `var(--${tone})`, "stroke-width": 1.8, "stroke-dasharray": dash, "stroke-linejoin": "round" }));
    if (row.length <= 40) for (const p of row) svg.append(drawn("circle", { cx: X(p.x), cy: Y(p.y), r: 2.3, fill: `var(--${tone})` }));
  });
  svg.append(drawn("text", { x: left, y: height - 4 }, "1"), drawn("text", { x: width - right, y: height - 4, "text-anchor": "end" }, `${unit} ${count(last)}`));
  const cross = drawn("line", { y1: top, y2: height - bottom, stroke: "var(--ink)", opacity: 0 });
  svg.append(cross);
  const read = (clientX) => {
    const x = 1 + ((clientX - svg.getBoundingClientRect().left - left) / (width - left - right)) * (end - 1);
    const near = rows.map((row) => row.reduce((best, p) => (Math.abs(p.x - x) < Math.abs(best.x - x) ? p : best)));
    cross.setAttribute("x1", X(near[0].x)); cross.setAttribute("x2", X(near[0].x)); cross.setAttribute("opacity", 0.4);
    box.querySelector(".read").textContent = `${count(near[0].x)}: ${near.map((p) => format(p.y)).join(", ")}`;
  };
  svg.addEventListener("pointermove", (event) => { box.pointed = event.clientX; read(event.clientX); });
  svg.addEventListener("pointerleave", () => { box.pointed = undefined; cross.setAttribute("opacity", 0); box.querySelector(".read").textContent = ""; });
  return [svg, () => { if (box.pointed !== undefined) read(box.pointed); }];
};

const headOf = (plot) => {
  const head = element("header", {}, element("h3", {}, plot.title));
  if (plot.of.length > 1) plot.of.forEach((name, index) => head.append(element("span", { class: "key" }, drawn("svg", { viewBox: "0 0 22 8", "aria-hidden": "true" }, drawn("line", { x1: 0, x2: 22, y1: 4, y2: 4, stroke: `var(--${STROKES[index % STROKES.length][0]})`, "stroke-width": 2.4, "stroke-dasharray": STROKES[index % STROKES.length][1] })), nameOf(plot, name))));
  if (plot.zero && plot.of.some((name) => series[name].points.some((p) => p.length > 2))) head.append(element("span", { class: "key" }, "pale: given back by clearing before the pass"));
  const broken = plot.of.reduce((sum, name) => sum + series[name].broken, 0);
  if (broken) head.append(element("span", { class: "key" }, `${many(broken, "value")} NaN or infinite, not drawn`));
  head.append(element("span", { class: "read", "aria-hidden": "true" }));
  return head;
};
const drawCurves = () => {
  const plots = document.getElementById("plots");
  while (plots.children.length > PLOTS.length) plots.lastChild.remove();
  while (plots.children.length < PLOTS.length) plots.append(element("article", { class: "plot" }));
  // Only when all boxes are there does each have its width.
  PLOTS.forEach((plot, index) => {
    const box = plots.children[index], [svg, again] = plotted(plot, box);
    box.replaceChildren(headOf(plot), svg);
    again();
  });
};
