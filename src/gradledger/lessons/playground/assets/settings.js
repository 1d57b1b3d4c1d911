// The settings around the blocks: window, data, optimizer, mixed precision, a second optimizer.
import { change, CHOICES, known, make, RANGES, state, WORLDS } from "./loop.js";

const WORDS = {
  every: ["Window", "micro-batches before an update"], batches: ["Epoch", "micro-batches in it"], epochs: ["Epochs", ""],
  sizes: ["Batches", ""], guard: ["A window closes", ""], optimizer: ["Optimizer", ""],
  amp: ["Mixed precision", "fp16 autocast and GradScaler(\"cpu\")"], second: ["Second optimizer", "a small GAN: discriminator and generator"], set_to_none: ["zero_grad sets None", "off: zeros in place"],
};
const OPTIONS = {
  sizes: { even: "8 samples each", uneven: "8, 2, 6, 4 in turns" },
  guard: { whole: "full, or epoch over", plain: "only when full", early: "at i % N == 0" },
  optimizer: { sgd: "SGD", momentum: "SGD, momentum 0.9", adam: "Adam", adamw: "AdamW" },
};

const set = (key, value) => change((setup) => { setup[key] = value; });
// Another world has other blocks: those that it does not know give way to its right loop.
const enter = (key, on) => change((setup) => {
  const world = key === "second" && on ? "pair" : (key === "amp" && on) || (key === "second" && setup.amp && !on) ? "amp" : "single";
  const right = WORLDS[world];
  setup.second = world === "pair";
  setup.amp = world === "amp";
  setup.every = world === "pair" ? 1 : state.setup.second ? right.every : setup.every;
  setup.lanes = JSON.parse(JSON.stringify(right.lanes));
  if (setup.every === 1 && world !== "pair") setup.lanes.batch = setup.lanes.batch.filter((name) => name !== "divide");
});

const number = (key) => {
  const [least, most] = RANGES[key], id = `set-${key}`, second = key === "every" && state.setup.second;
  const input = make("input", { type: "range", id, min: least, max: most, value: state.setup[key], disabled: second, "aria-describedby": `${id}-about` });
  const shown = make("output", { for: id }, String(state.setup[key]));
  input.addEventListener("input", () => { shown.textContent = input.value; });
  input.addEventListener("change", () => set(key, Number(input.value)));
  return make("div", { class: "setting" }, make("label", { for: id }, WORDS[key][0]), make("span", { class: "control" }, input, shown), make("small", { id: `${id}-about` }, second ? "1 with two optimizers" : WORDS[key][1]));
};
const choice = (key) => {
  const id = `set-${key}`, select = make("select", { id, disabled: key === "guard" && state.setup.every === 1 });
  for (const value of CHOICES[key]) select.append(make("option", { value, selected: state.setup[key] === value }, OPTIONS[key][value]));
  select.addEventListener("change", () => set(key, select.value));
  return make("div", { class: "setting" }, make("label", { for: id }, WORDS[key][0]), make("span", { class: "control" }, select));
};
const toggle = (key) => {
  const id = `set-${key}`, input = make("input", { type: "checkbox", role: "switch", id, checked: state.setup[key], "aria-describedby": `${id}-about` });
  input.addEventListener("change", () => (key === "set_to_none" ? set(key, input.checked) : enter(key, input.checked)));
  return make("div", { class: "setting" }, make("label", { for: id }, WORDS[key][0]), make("span", { class: "control" }, input), make("small", { id: `${id}-about` }, WORDS[key][1]));
};

export const drawSettings = () => {
  const focused = document.activeElement?.id;
  document.getElementById("settings").replaceChildren(number("every"), number("batches"), number("epochs"), choice("sizes"), choice("guard"), choice("optimizer"), toggle("amp"), toggle("second"), toggle("set_to_none"));
  if (focused?.startsWith("set-")) document.getElementById(focused)?.focus({ preventScroll: true });
};
export const allKnown = () => Object.values(state.setup.lanes).flat().every((name) => known().some((block) => block.name === name));
