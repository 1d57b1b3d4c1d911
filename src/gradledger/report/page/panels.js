// Stages of one step, layers of one forward pass and the table of epochs, where the recording holds them.
const tensorOf = (tensor) => element("div", { class: "tensor" }, tensor.name ? element("b", {}, `${tensor.name} `) : null, element("span", { class: "dims" }, `${tensor.shape} `), element("span", { class: "dtype" }, tensor.dtype.replace("torch.", "")), tensor.values.length ? element("span", { class: "values" }, tensor.values.join(" ") + (tensor.more ? "\u00a0…" : "")) : null);
const flow = (word, tensors) => (tensors.length ? [element("dt", {}, word), element("dd", {}, ...tensors.map(tensorOf))] : []);
const cellsOf = (kind, words) => words.map((word) => element(kind, kind === "th" ? { scope: "col" } : {}, word));
const tableOf = (caption, heads, rows, width) => {
  const body = element("tbody");
  for (const row of rows) body.append(typeof row === "number" ? element("tr", {}, element("td", { colspan: width, class: "more" }, `… ${count(row)} more`)) : element("tr", {}, ...row));
  return element("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": caption }, element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...cellsOf("th", heads))), body));
};

// What the gradients held, each lot with the colour that the timeline gives it.
const owned = (words) => words.replace(/^(\S+) (\d+)(?=[:,])/, (whole, kind, at) => { const alike = [...new Set(timeline.rows.filter((row) => row.kind === kind).map((row) => row.optimizer))].sort((a, b) => a - b); return alike.length > 1 && alike[at - 1] ? optimizerName(alike[at - 1]) : whole; });
const held = (lots) => lots.map(([letter, words]) => element("span", { class: letter === "S" ? "held stale" : "held" }, element("span", { class: `swatch ${letter}`, "aria-hidden": "true" }), owned(words)));
const stateOf = (stage) => {
  const same = JSON.stringify(stage.before) === JSON.stringify(stage.after);
  const before = element("span", { class: "lots" }, ...held(stage.before)), after = element("span", { class: "lots now" }, element("span", { class: "arrow" }, "→ "), ...held(stage.after));
  return element("div", { class: same ? "state" : "state moved" }, element("span", { class: "word" }, "gradients "), before, same ? null : after);
};
const stageOf = (stage) => {
  const line = stage.line < 0 ? null : LINES[stage.line], [name, of] = stage.name.split(" (");
  return element("li", { "data-kind": stage.kind },
    element("header", {}, element("h3", {}, element("span", { class: "number" }, `${stage.number} `), name, of ? element("small", {}, ` ${of.slice(0, -1)}`) : null), line ? element("span", { class: "place", title: line.place }, line.place.split(/[\\/]/).pop()) : null),
    line && line.code ? element("code", { title: line.code }, line.code) : null,
    element("dl", {}, ...flow("in", stage.in), ...flow("out", stage.out)), stage.fact ? element("p", { class: "fact" }, stage.fact) : null, stateOf(stage));
};
const drawStages = () => {
  const list = document.getElementById("stages");
  list.classList.toggle("windowed", DATA.stages.some((stage) => stage.name && stage.name.includes("(micro-batch ")));
  list.replaceChildren(...DATA.stages.map((stage) => (typeof stage === "string" ? element("li", { class: "gap" }, `… ${stage}`) : stageOf(stage))));
};
const drawLayers = () => {
  document.getElementById("layers").replaceChildren();
  if (!DATA.layers.length) return;
  const place = document.getElementById("layers"), heads = ["layer", "kind", "in", "out", "gradient", "first values in", "first values out"];
  const rows = DATA.layers.map((layer) => (typeof layer === "number" ? layer : cellsOf("td", [layer.module || "(model)", layer.kind, layer.in, layer.out, layer.gradient === null ? "-" : layer.gradient, layer.takes.join(" "), layer.values.join(" ")])));
  const back = DATA.layers.filter((layer) => layer.gradient && layer.gradient !== "0").reverse().map((layer) => `${layer.module || layer.kind} ${layer.gradient}`);
  const carried = DATA.way.scale === null ? "" : ` (these carry the scale of ${DATA.way.scale})`;
  place.append(tableOf("One sample through the model, layer by layer, and its batch's gradients on the way back", heads, rows, heads.length), element("p", { class: "way" }, `And back: ${[`loss ${DATA.way.loss}`, ...back.slice(0, 40)].join(" → ")}${carried}`));
};
const drawEpochs = () => {
  document.getElementById("epochs").replaceChildren();
  if (!DATA.epochs || !DATA.epochs.rows.length) return;
  const told = DATA.epochs, rows = told.rows.map((row) => (typeof row === "number" ? row : cellsOf("td", row)));
  document.getElementById("epochs").append(tableOf(told.by_steps ? "Steps, a stretch at a time" : "Epoch by epoch", told.heads, rows, told.heads.length), told.summary ? element("p", { class: "way" }, `${told.summary[0].toUpperCase()}${told.summary.slice(1)}.`) : "");
};
