// Stages of one step and layers of one forward pass, where the recording holds them.
const shapeText = (tensor) => `${tensor.name ? `${tensor.name} ` : ""}[${tensor.shape.join(" × ")}] ${tensor.dtype.replace("torch.", "")}`;
const shapes = (word, tensors) => (tensors && tensors.length ? [element("span", { class: "shape" }, element("b", {}, `${word} `), tensors.map(shapeText).join(", ")), ...tensors.filter((t) => t.values.length).slice(0, 1).map((t) => element("span", { class: "values" }, `${t.values.join(", ")}, …`))] : []);

const drawStages = () => {
  const list = document.getElementById("stages");
  for (const stage of DATA.stages) {
    list.append(element("li", {}, element("h3", {}, stage.name, stage.times > 1 ? element("span", { class: "times" }, ` × ${count(stage.times)}`) : null), ...(stage.line < 0 ? [] : [element("span", { class: "values" }, LINES[stage.line].place), element("code", { title: LINES[stage.line].code }, LINES[stage.line].code)]),
      ...shapes("in", stage.in), ...shapes("out", stage.out), ...(stage.value === undefined ? [] : [element("span", { class: "shape" }, `value ${stage.value}`)]),
      stage.state ? element("span", { class: "state" }, `gradients: ${DATA.states[stage.state]}`) : null));
  }
};
const drawLayers = () => {
  if (!DATA.layers.length) return;
  const body = element("tbody");
  for (const layer of DATA.layers) body.append(element("tr", {}, ...[layer.module || "(model)", layer.kind, layer.in.map(shapeText).join(", "), layer.out.map(shapeText).join(", "), layer.gradient === undefined ? "" : short(layer.gradient)].map((word) => element("td", {}, word))));
  const head = element("tr", {}, ...["module", "kind", "in", "out", "gradient norm"].map((word) => element("th", { scope: "col" }, word)));
  document.getElementById("layers").append(element("table", {}, element("caption", {}, "Layer by layer, in the order of the forward pass"), element("thead", {}, head), body));
};
