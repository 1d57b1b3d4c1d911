// Curves as SVG: a line for the mean, a band from the least to the greatest where points were joined.
const SVG = "http://www.w3.org/2000/svg";
const drawn = (name, attributes, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const short = (value) => (value === 0 ? "0" : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3 ? value.toExponential(1) : String(+value.toPrecision(3)));
const bytes = (value) => { const units = ["B", "KB", "MB", "GB", "TB"]; let at = 0; while (Math.abs(value) >= 1024 && at < 4) { value /= 1024; at++; } return `${+value.toPrecision(3)} ${units[at]}`; };
const series = DATA.curves.series;
const startingWith = (word) => Object.keys(series).filter((name) => name.startsWith(word));
const PLOTS = [
  { title: "Loss", of: ["loss"] },
  { title: "Accuracy", of: ["accuracy"] },
  { title: "Gradient norm", of: ["norm", "norm before clip", "norm after clip"], names: { norm: "at the step", "norm before clip": "before clip", "norm after clip": "after clip" }, log: true },
  { title: "Gradient norm, measured by the audit", of: ["norm inside", "norm alone"], names: { "norm inside": "what .grad holds", "norm alone": "this batch alone" } },
  { title: "Learning rate", of: startingWith("rate "), names: {} },
  { title: "Gradient scale", of: startingWith("scale "), names: {}, log: true },
  { title: "Memory of gradients", of: ["memory"], format: bytes, zero: true },
].map((plot) => ({ ...plot, of: plot.of.filter((name) => series[name] && series[name].points.length) })).filter((plot) => plot.of.length);
const STROKES = [["fresh", ""], ["stale", "6 3"], ["accumulated", "2 3"]];

const updates = () => {
  const places = [];
  for (let column = 0; column < SPAN.total && places.length <= 150; column++) if (marksOf(column).some((mark) => mark[0] === "step")) places.push(SPAN.numbers[column]);
  return places.length <= 150 && SPAN.gaps.length === 0 ? places : [];
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
  const end = Math.max(timeline.count, 2);
  const X = (x) => left + ((x - 1) / (end - 1)) * (width - left - right), Y = (y) => top + (1 - (scale(y) - from) / (to - from)) * (height - top - bottom);
  const format = plot.format || short;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": plot.of.map((name, i) => { const row = rows[i]; return `${plot.title}, ${(plot.names || {})[name] || name}: from ${format(row[0].y)} to ${format(row[row.length - 1].y)} over ${count(timeline.count)} micro-batches, least ${format(Math.min(...row.map((p) => p.low)))}, greatest ${format(Math.max(...row.map((p) => p.high)))}`; }).join("; ") });
  for (let tick = 0; tick <= 3; tick++) {
    const value = from + ((to - from) * tick) / 3, y = top + (1 - tick / 3) * (height - top - bottom);
    svg.append(drawn("line", { x1: left, x2: width - right, y1: y, y2: y, stroke: "var(--line)" }), drawn("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, format(log ? 10 ** value : value)));
  }
  const shownEpochs = DATA.curves.epochs.length <= 60 ? DATA.curves.epochs : [];
  for (const epoch of shownEpochs) if (epoch < end) svg.append(drawn("line", { x1: X(epoch), x2: X(epoch), y1: top, y2: height - bottom, stroke: "var(--faint)", "stroke-dasharray": "1 4" }));
  for (const update of updates()) svg.append(drawn("line", { x1: X(update), x2: X(update), y1: height - bottom, y2: height - bottom + 4, stroke: "var(--soft)" }));
  for (const skip of DATA.curves.skips) svg.append(drawn("text", { x: X(skip), y: height - bottom - 3, "text-anchor": "middle", class: "skipped" }, "×"));
  rows.forEach((row, index) => {
    const [tone, dash] = STROKES[index % 3], steps = plot.zero;
    if (row.some((p) => p.low !== p.high)) svg.append(drawn("path", { d: `M${row.map((p) => `${X(p.x)},${Y(p.high)}`).join("L")}L${[...row].reverse().map((p) => `${X(p.x)},${Y(p.low)}`).join("L")}Z`, fill: `var(--${tone})`, opacity: 0.16 }));
    const path = row.map((p, at) => (at && steps ? `H${X(p.x)}V${Y(p.y)}` : `${at ? "L" : "M"}${X(p.x)},${Y(p.y)}`)).join("");
    if (row.length > 1) svg.append(drawn("path", { d: path, fill: "none", stroke: `var(--${tone})`, "stroke-width": 1.8, "stroke-dasharray": dash, "stroke-linejoin": "round" }));
    if (row.length <= 40) for (const p of row) svg.append(drawn("circle", { cx: X(p.x), cy: Y(p.y), r: 2.3, fill: `var(--${tone})` }));
  });
  svg.append(drawn("text", { x: left, y: height - 4 }, "1"), drawn("text", { x: width - right, y: height - 4, "text-anchor": "end" }, `micro-batch ${count(timeline.count)}`));
  const cross = drawn("line", { y1: top, y2: height - bottom, stroke: "var(--ink)", opacity: 0 });
  svg.append(cross);
  svg.addEventListener("pointermove", (event) => {
    const x = 1 + ((event.clientX - svg.getBoundingClientRect().left - left) / (width - left - right)) * (end - 1);
    const near = rows.map((row) => row.reduce((best, p) => (Math.abs(p.x - x) < Math.abs(best.x - x) ? p : best)));
    cross.setAttribute("x1", X(near[0].x)); cross.setAttribute("x2", X(near[0].x)); cross.setAttribute("opacity", 0.4);
    box.querySelector(".read").textContent = `${count(near[0].x)}: ${near.map((p) => format(p.y)).join(", ")}`;
  });
  svg.addEventListener("pointerleave", () => { cross.setAttribute("opacity", 0); box.querySelector(".read").textContent = ""; });
  return svg;
};

const drawCurves = () => {
  const plots = document.getElementById("plots");
  plots.replaceChildren();
  for (const plot of PLOTS) {
    const box = element("article", { class: "plot" }), head = element("header", {}, element("h3", {}, plot.title));
    if (plot.of.length > 1) plot.of.forEach((name, index) => head.append(element("span", { class: "key" }, drawn("svg", { viewBox: "0 0 22 8", "aria-hidden": "true" }, drawn("line", { x1: 0, x2: 22, y1: 4, y2: 4, stroke: `var(--${STROKES[index % 3][0]})`, "stroke-width": 2.4, "stroke-dasharray": STROKES[index % 3][1] })), (plot.names || {})[name] || name)));
    const broken = plot.of.reduce((sum, name) => sum + series[name].broken, 0);
    if (broken) head.append(element("span", { class: "key" }, `${many(broken, "value")} NaN or infinite, not drawn`));
    head.append(element("span", { class: "read", "aria-hidden": "true" }));
    box.append(head);
    plots.append(box);
  }
  // Only when all boxes are there does each have its width.
  PLOTS.forEach((plot, index) => plots.children[index].append(plotted(plot, plots.children[index])));
};
