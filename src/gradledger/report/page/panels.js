// Stages of one step, layers of one forward pass and the table of epochs, where the recording holds them.
const shapeText = (tensor) => `${tensor.name ? `${tensor.name} ` : ""}${tensor.shape} ${tensor.dtype.replace("torch.", "")}`;
const shapes = (word, tensors) => tensors.map((tensor, at) => element("span", { class: "shape" }, element("b", {}, at ? "" : `${word} `), shapeText(tensor), tensor.values.length ? element("span", { class: "values" }, tensor.values.join(" ") + (tensor.more ? " …" : "")) : null));
const cellsOf = (kind, words) => words.map((word) => element(kind, kind === "th" ? { scope: "col" } : {}, word));
const tableOf = (caption, heads, rows, width) => {
  const body = element("tbody");
  for (const row of rows) body.append(typeof row === "number" ? element("tr", {}, element("td", { colspan: width, class: "more" }, `… ${count(row)} more`)) : element("tr", {}, ...row));
  return element("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": caption }, element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...cellsOf("th", heads))), body));
};

const drawStages = () => {
  const list = document.getElementById("stages");
  list.replaceChildren();
  for (const stage of DATA.stages) {
    if (typeof stage === "string") { list.append(element("li", { class: "gap" }, `… ${stage}`)); continue; }
    const moved = stage.before === stage.after ? [stage.after] : [`${stage.before} → `, element("b", {}, stage.after)];
    list.append(element("li", {}, element("h3", {}, element("span", { class: "number" }, `${stage.number} `), stage.name), ...(stage.line < 0 ? [] : [element("span", { class: "values place", title: LINES[stage.line].place }, LINES[stage.line].place.split(/[\\/]/).pop()), element("code", { title: LINES[stage.line].code }, LINES[stage.line].code)]),
      ...shapes("in", stage.in), ...shapes("out", stage.out), stage.fact ? element("span", { class: "shape" }, stage.fact) : null,
      element("span", { class: stage.stale ? "state stale" : "state" }, "gradients: ", ...moved)));
  }
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
