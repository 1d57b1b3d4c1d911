// Blocks dragged by mouse, pen or finger: a ghost follows the pointer, a gap shows where the block would go.
import { add, announce, BLOCKS, elementAt, move, openLanes, placeOf, remove } from "./loop.js";

const nest = document.getElementById("nest"), palette = document.getElementById("palette");
let drag = null;

const begin = (event) => {
  const block = event.target.closest(".block"), chip = event.target.closest(".chip");
  if (drag || event.button !== 0 || (!block && !chip) || event.target.closest(".remove, .badge") || chip?.disabled) return;
  if (block && event.pointerType === "touch" && !event.target.closest(".grip")) return; // elsewhere a finger scrolls
  const source = block || chip, box = source.getBoundingClientRect();
  drag = { source, id: event.pointerId, from: block ? placeOf(block) : null, name: source.dataset.name, x: event.clientX, y: event.clientY, dx: event.clientX - box.left, dy: event.clientY - box.top, width: box.width, moving: false, to: null };
};

const lift = () => {
  drag.moving = true;
  drag.ghost = drag.source.cloneNode(true);
  drag.ghost.classList.add("ghost");
  drag.ghost.style.width = `${drag.width}px`;
  drag.ghost.setAttribute("aria-hidden", "true");
  drag.gap = document.createElement("li");
  drag.gap.className = "gap-here";
  drag.gap.setAttribute("aria-hidden", "true");
  document.body.append(drag.ghost);
  if (drag.from) drag.source.classList.add("lifted-away");
  document.documentElement.classList.add("dragging-block");
  document.documentElement.classList.toggle("removable", Boolean(drag.from));
};

// The lane whose span is nearest to the pointer, and the place in it by the middles of its blocks.
const target = (x, y) => {
  const inside = nest.getBoundingClientRect(), bin = palette.getBoundingClientRect();
  if (y > bin.top && y < bin.bottom && x > bin.left && x < bin.right) return drag.from ? "bin" : null;
  if (x < inside.left - 60 || x > inside.right + 60 || y < inside.top - 60 || y > inside.bottom + 60) return null;
  let best = null, nearest = Infinity;
  for (const name of openLanes()) {
    const lane = nest.querySelector(`.lane[data-lane="${name}"]`), box = lane.getBoundingClientRect();
    const away = y < box.top ? box.top - y : y > box.bottom ? y - box.bottom : 0;
    if (away < nearest) { nearest = away; best = lane; }
  }
  const blocks = [...best.querySelectorAll(".block")].filter((block) => block !== drag.source);
  let at = blocks.findIndex((block) => { const box = block.getBoundingClientRect(); return y < box.top + box.height / 2; });
  if (at < 0) at = blocks.length;
  return { lane: best.dataset.lane, at, element: best, before: blocks[at] || null };
};

const follow = (event) => {
  if (!drag || event.pointerId !== drag.id) return;
  if (!drag.moving) {
    if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 5) return;
    lift();
  }
  event.preventDefault();
  drag.ghost.style.transform = `translate(${event.clientX - drag.dx}px, ${event.clientY - drag.dy}px)`;
  drag.to = target(event.clientX, event.clientY);
  palette.classList.toggle("over", drag.to === "bin");
  if (drag.to && drag.to !== "bin") { if (drag.gap.nextSibling !== drag.to.before || drag.gap.parentElement !== drag.to.element) drag.to.element.insertBefore(drag.gap, drag.to.before); } else drag.gap.remove();
  const edge = 70, fast = 14;
  if (event.clientY < edge) scrollBy(0, -fast); else if (event.clientY > innerHeight - edge) scrollBy(0, fast);
};

const clear = () => {
  if (!drag) return;
  drag.ghost?.remove();
  drag.gap?.remove();
  drag.source.classList.remove("lifted-away");
  palette.classList.remove("over");
  document.documentElement.classList.remove("dragging-block", "removable");
  drag = null;
};
const drop = (event) => {
  if (!drag || event.pointerId !== drag.id) return;
  const { moving, from, to, name } = drag;
  if (moving) { event.preventDefault(); swallow(); }
  clear();
  if (!moving || !to) return;
  if (to === "bin") { if (remove(from)) announce(`Removed ${BLOCKS[name].label}.`); return; }
  if (from ? move(from, to) : add(name, to)) {
    announce(`${BLOCKS[name].label} stands at place ${to.at + 1} now.`);
    elementAt(to.lane, to.at)?.querySelector(".hold").focus({ preventScroll: true });
  }
};
// The click that ends a drag is no click on the block.
const swallow = () => {
  const stop = (event) => { event.stopPropagation(); event.preventDefault(); };
  addEventListener("click", stop, { capture: true, once: true });
  setTimeout(() => removeEventListener("click", stop, { capture: true }), 0);
};

export const startDragging = () => {
  for (const place of [nest, palette]) place.addEventListener("pointerdown", begin);
  addEventListener("pointermove", follow, { passive: false });
  addEventListener("pointerup", drop);
  addEventListener("pointercancel", (event) => { if (drag && event.pointerId === drag.id) clear(); });
  addEventListener("keydown", (event) => { if (event.key === "Escape" && drag) clear(); });
  addEventListener("blur", clear);
};
