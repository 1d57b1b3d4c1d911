// The set-up as the reader sees it: blocks in lanes, nested like the program they become.
const DATA = JSON.parse(document.getElementById("data").textContent);
export const { lanes: LANES, ranges: RANGES, choices: CHOICES, most: MOST, presets: PRESETS, worlds: WORLDS } = DATA;
export const BLOCKS = Object.fromEntries(DATA.blocks.map((block) => [block.name, block]));
const WIDER = { single: ["both", "single"], amp: ["both", "single", "amp"], pair: ["both", "pair"] };

export const state = { setup: DATA.setup, marks: new Map(), past: [] };
const listeners = [];
export const onChange = (listener) => listeners.push(listener);
export const world = () => (state.setup.second ? "pair" : state.setup.amp ? "amp" : "single");
export const known = () => DATA.blocks.filter((block) => WIDER[world()].includes(block.world));
export const announce = (words) => { document.getElementById("announce").textContent = words; };
export const blocksOf = (lane) => state.setup.lanes[lane];
const copied = (setup) => JSON.parse(JSON.stringify(setup));
export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// Every change goes through here: it can be undone, and it is run.
export const change = (made) => {
  const next = copied(state.setup);
  made(next);
  if (same(next, state.setup)) return false;
  state.past.push(state.setup);
  if (state.past.length > 100) state.past.shift();
  state.setup = next;
  state.marks = new Map();
  render();
  for (const listener of listeners) listener();
  return true;
};
export const undo = () => {
  if (!state.past.length) return;
  state.setup = state.past.pop();
  state.marks = new Map();
  render();
  for (const listener of listeners) listener();
  announce("Undone.");
};
export const counted = (name) => Object.values(state.setup.lanes).flat().filter((one) => one === name).length;
export const total = () => Object.values(state.setup.lanes).flat().length;

// From one place to another; places count without the block itself.
export const move = (from, to) => change((setup) => {
  const [name] = setup.lanes[from.lane].splice(from.at, 1);
  setup.lanes[to.lane].splice(to.at, 0, name);
});
export const add = (name, to) => {
  if (total() >= MOST.blocks || counted(name) >= MOST.alike) { announce(`No more than ${MOST.alike} ${BLOCKS[name].label} and ${MOST.blocks} blocks in all.`); return false; }
  return change((setup) => setup.lanes[to.lane].splice(to.at, 0, name));
};
export const remove = (from) => change((setup) => setup.lanes[from.lane].splice(from.at, 1));

const make = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};
export { make };

const titleOf = (lane) => LANES.find((one) => one.name === lane).title;
export const placeWords = (lane, at) => `place ${at + 1} of ${Math.max(blocksOf(lane).length, at + 1)}, ${titleOf(lane)}`;
export const open = (lane) => { const one = LANES.find((each) => each.name === lane); return !one.window || state.setup.every > 1 || blocksOf(lane).length > 0; };
export const openLanes = () => LANES.map((lane) => lane.name).filter(open);

const blockOf = (name, lane, at) => {
  const block = BLOCKS[name], mark = state.marks.get(`${lane}:${at}`);
  const hold = make("button", { type: "button", class: "hold", "aria-describedby": "how", "aria-roledescription": "movable block", "aria-label": `${block.label}, ${placeWords(lane, at)}${mark ? `, ${mark.code}` : ""}`, title: block.about },
    make("span", { class: "grip", "aria-hidden": "true" }), make("b", {}, block.label), make("code", { "aria-hidden": "true" }, block.code));
  const badge = mark ? make("a", { class: "badge", href: "#findings", title: mark.words }, mark.code) : null;
  return make("li", { class: `block tone-${block.tone}${mark ? ` marked ${mark.kind}` : ""}`, "data-lane": lane, "data-at": at, "data-name": name }, hold, badge,
    make("button", { type: "button", class: "remove", "aria-label": `Remove ${block.label}`, title: "Remove" }, "×"));
};
const laneOf = (name) => {
  const one = LANES.find((lane) => lane.name === name), blocks = blocksOf(name);
  return make("ol", { class: `lane${blocks.length ? "" : " empty"}`, "data-lane": name, "aria-label": `${one.title}: ${one.about}` }, ...blocks.map((block, at) => blockOf(block, name, at)),
    blocks.length ? null : make("li", { class: "hint", "aria-hidden": "true" }, one.title, make("span", {}, one.about)));
};
const GUARDS = { whole: (n) => `if (i + 1) % ${n} == 0 or last:`, plain: (n) => `if (i + 1) % ${n} == 0:`, early: (n) => `if i % ${n} == 0:` };
const line = (words, ...more) => make("p", { class: "line-of-code" }, make("code", {}, words), ...more);

export const render = () => {
  const { every, guard, epochs, second } = state.setup, nest = document.getElementById("nest");
  const inner = make("div", { class: "level" }), outer = make("div", { class: "level" });
  if (open("window_start")) inner.append(make("div", { class: "window" }, line(every > 1 ? `if i % ${every} == 0:` : "# a window of one opens"), laneOf("window_start")));
  inner.append(laneOf("batch"));
  if (open("window_end")) inner.append(make("div", { class: "window" }, line(every > 1 ? GUARDS[guard](every) : "# a window of one closes"), laneOf("window_end")));
  outer.append(laneOf("epoch_start"), line(`for i, (x, ${second ? "z" : "y"}) in enumerate(batches):`), inner, laneOf("epoch_end"));
  nest.replaceChildren(line(`for epoch in range(${epochs}):`), outer);
  document.getElementById("chips").replaceChildren(...known().map((block) => {
    const full = counted(block.name) >= MOST.alike || total() >= MOST.blocks;
    return make("button", { type: "button", class: `chip tone-${block.tone}`, "data-name": block.name, title: block.about, disabled: full, "aria-label": `Add ${block.label} to every micro-batch` }, block.label);
  }));
  document.getElementById("undo").disabled = !state.past.length;
};
export const elementAt = (lane, at) => document.querySelector(`.block[data-lane="${lane}"][data-at="${at}"]`);
export const placeOf = (element) => ({ lane: element.dataset.lane, at: Number(element.dataset.at) });
