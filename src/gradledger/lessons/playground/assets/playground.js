// The playground put together: a change is run as soon as the hand rests.
import { ask } from "./asking.js";
import { startDragging } from "./dragging.js";
import { startLifting } from "./lifting.js";
import { change, onChange, PRESETS, render, same, state } from "./loop.js";
import { drawSettings } from "./settings.js";
import { show, startShowing } from "./showing.js";

const at = (id) => document.getElementById(id);
const outcome = at("outcome"), words = at("progress-words"), cancel = at("cancel"), rerun = at("rerun");
let running = null, timer = 0, first = true;

const say = (text, { busy = false, again = false } = {}) => {
  words.textContent = text;
  outcome.setAttribute("aria-busy", String(busy));
  at("progress").classList.toggle("busy", busy);
  cancel.hidden = !busy;
  rerun.hidden = !again;
};
const run = async () => {
  clearTimeout(timer);
  running?.abort();
  const mine = running = new AbortController();
  say(first ? "Starting PyTorch…" : "Running…", { busy: true });
  try {
    const result = await ask("run", { setup: state.setup }, { signal: mine.signal, waiting: () => say("Other tabs are running; this one waits…", { busy: true }) });
    if (running !== mine) return;
    first = false;
    show(result);
    say(`Trained in ${result.seconds.toFixed(2)} s: ${result.ledger.timeline.count} backward passes, ${result.updates.mine} updates.`);
  } catch (error) {
    if (running !== mine) return;
    say(error.name === "AbortError" ? "Cancelled. What is shown below belongs to the run before." : error.message, { again: true });
  }
  if (running === mine) running = null;
};
const soon = () => { clearTimeout(timer); timer = setTimeout(run, 200); say("Running…", { busy: true }); };

const presets = [...document.querySelectorAll("[data-preset]")];
const markPreset = () => { for (const link of presets) if (same(PRESETS[link.dataset.preset], state.setup)) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current"); };
for (const link of presets) link.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab is a good thing here
  event.preventDefault();
  at("trouble").textContent = "";
  change((setup) => Object.assign(setup, JSON.parse(JSON.stringify(PRESETS[link.dataset.preset]))));
});

cancel.addEventListener("click", () => { clearTimeout(timer); if (running) running.abort(); else say("Cancelled.", { again: true }); });
rerun.addEventListener("click", run);
onChange(() => { drawSettings(); markPreset(); soon(); });
render();
drawSettings();
markPreset();
startDragging();
startLifting();
startShowing();
document.documentElement.dataset.ready = "yes";
run();
