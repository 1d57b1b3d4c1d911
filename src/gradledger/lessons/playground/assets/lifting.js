// Blocks moved by keyboard: Space lifts, arrows move through all lanes, Space puts down, Escape puts back.
import { add, announce, BLOCKS, blocksOf, elementAt, move, openLanes, placeOf, placeWords, remove, render, state, undo } from "./loop.js";

let lifted = null; // { lane, at } where it is now, { lane, at } where it was

const hold = (place) => elementAt(place.lane, place.at)?.querySelector(".hold");
const labelAt = (place) => BLOCKS[blocksOf(place.lane)[place.at]].label;
export const showLifted = () => {
  for (const block of document.querySelectorAll(".block.lifted")) { block.classList.remove("lifted"); block.querySelector(".hold").removeAttribute("aria-pressed"); }
  if (!lifted) return;
  const block = elementAt(lifted.now.lane, lifted.now.at);
  block.classList.add("lifted");
  block.querySelector(".hold").setAttribute("aria-pressed", "true");
  block.querySelector(".hold").focus();
};

// One place up or down; at the end of a lane it is the next lane.
const beside = ({ lane, at }, by) => {
  const lanes = openLanes(), here = lanes.indexOf(lane), size = blocksOf(lane).length;
  if (by > 0 && at + 1 < size) return { lane, at: at + 1 };
  if (by < 0 && at > 0) return { lane, at: at - 1 };
  const next = lanes[here + by];
  if (next === undefined) return null;
  return { lane: next, at: by > 0 ? 0 : blocksOf(next).length };
};
// While a block is lifted the loop changes on the screen only; it runs when the block is put down.
const shift = (by) => {
  const to = beside(lifted.now, by);
  if (!to) { announce("It cannot go further."); return; }
  const lanes = state.setup.lanes, [name] = lanes[lifted.now.lane].splice(lifted.now.at, 1);
  lanes[to.lane].splice(to.at, 0, name);
  lifted.now = to;
  state.marks = new Map(); // what the rules said belongs to the loop as it was
  render();
  showLifted();
  announce(`${BLOCKS[name].label}: ${placeWords(to.lane, to.at)}.`);
};
const back = () => {
  const { now, was, marks } = lifted, lanes = state.setup.lanes;
  state.marks = marks;
  lanes[was.lane].splice(was.at, 0, lanes[now.lane].splice(now.at, 1)[0]);
  lifted = null;
  render();
  return { now, was };
};
const putDown = () => {
  const { now, was } = back();
  move(was, now);
  hold(now)?.focus();
  announce(`${labelAt(now)} put down: ${placeWords(now.lane, now.at)}.`);
};
const focusBy = (place, by) => {
  const holds = [...document.querySelectorAll("#nest .hold")], at = holds.indexOf(hold(place));
  holds[Math.max(0, Math.min(holds.length - 1, at + by))]?.focus();
};

const keyed = (event) => {
  const block = event.target.closest?.(".block"), place = block && event.target.closest(".hold") ? placeOf(block) : null;
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && !event.target.closest("input, textarea")) { event.preventDefault(); if (lifted) back(); undo(); return; }
  if (!place || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = lifted
    ? { ArrowUp: () => shift(-1), ArrowDown: () => shift(1), " ": putDown, Enter: putDown, Tab: putDown, Escape: () => { const { was } = back(); hold(was)?.focus(); announce(`${labelAt(was)} put back.`); } }
    : {
      " ": () => { lifted = { now: place, was: place, marks: state.marks }; showLifted(); announce(`${labelAt(place)} lifted: ${placeWords(place.lane, place.at)}. Arrows move it, Space puts it down, Escape puts it back.`); },
      ArrowUp: () => focusBy(place, -1), ArrowDown: () => focusBy(place, 1),
      Delete: () => { const name = labelAt(place); focusBy(place, 1); remove(place); (hold(place) || document.querySelector("#nest .hold"))?.focus(); announce(`Removed ${name}.`); },
    };
  keys.Backspace = keys.Delete;
  if (!lifted) keys.Enter = keys[" "];
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
};

export const startLifting = () => {
  document.addEventListener("keydown", keyed);
  document.getElementById("nest").addEventListener("click", (event) => {
    const button = event.target.closest(".remove");
    if (!button) return;
    const place = placeOf(button.closest(".block")), name = labelAt(place);
    remove(place);
    announce(`Removed ${name}.`);
  });
  document.getElementById("chips").addEventListener("click", (event) => {
    const chip = event.target.closest(".chip");
    if (!chip || chip.disabled) return;
    const to = { lane: "batch", at: blocksOf("batch").length };
    if (!add(chip.dataset.name, to)) return;
    hold(to)?.focus({ preventScroll: true });
    announce(`Added ${BLOCKS[chip.dataset.name].label}: ${placeWords(to.lane, to.at)}. Space lifts it, arrows move it.`);
  });
  document.addEventListener("focusout", (event) => { if (lifted && !event.relatedTarget?.closest?.(".block.lifted")) queueMicrotask(() => { if (lifted && !document.activeElement?.closest(".block.lifted")) putDown(); }); });
  document.getElementById("undo").addEventListener("click", undo);
};
