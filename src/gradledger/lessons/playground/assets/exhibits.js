// Exhibits run on the server; what they print, the blanks in the text and the plots are filled in then.
import { ask } from "./asking.js";

const all = (selector, inside) => [...inside.querySelectorAll(selector)];

const fill = (owner, told) => {
  for (const [number, words] of Object.entries(told.blanks)) for (const blank of all(`[data-blank="${number}"]`, owner)) {
    blank.textContent = words;
    blank.classList.add("filled");
    blank.removeAttribute("aria-label");
  }
  for (const [number, drawing] of Object.entries(told.plots)) {
    const place = owner.querySelector(`[data-plot="${number}"]`);
    place.innerHTML = drawing; // made and escaped by the server
    place.hidden = false;
  }
  for (const [number, verdict] of Object.entries(told.predictions)) {
    const form = owner.querySelector(`[data-predict="${number}"]`), said = form.querySelector(".said");
    form.classList.remove("right", "wrong");
    if (verdict.right === null) said.textContent = `It is ${verdict.is}.`;
    else {
      form.classList.add(verdict.right ? "right" : "wrong");
      said.textContent = verdict.right ? `Right: it is ${verdict.is}.` : `You said ${verdict.said}; it is ${verdict.is}.`;
    }
  }
};

const run = async (figure, judged) => {
  const owner = figure.closest("[data-owner]"), name = figure.dataset.exhibit;
  const button = figure.querySelector(".run"), state = figure.querySelector(".state"), printed = figure.querySelector(".printed");
  if (button.disabled) return null;
  const said = {};
  for (const form of all(`.predict[data-of="${name}"]`, owner)) if (form.querySelector("input").value.trim()) said[form.dataset.predict] = form.querySelector("input").value;
  button.disabled = true;
  state.textContent = "Running…";
  figure.classList.add("busy");
  try {
    const told = await ask("exhibit", { owner: owner.dataset.owner, name, said, judged }, { waiting: () => { state.textContent = "Waiting for other runs…"; } });
    printed.textContent = told.printed;
    printed.hidden = !told.printed;
    fill(owner, told);
    button.textContent = "Run again";
    state.textContent = "Computed just now, on this machine.";
    return told;
  } catch (error) {
    state.textContent = error.message;
    return null;
  } finally {
    button.disabled = false;
    figure.classList.remove("busy");
  }
};

for (const figure of all(".exhibit", document)) figure.querySelector(".run").addEventListener("click", () => run(figure));
for (const form of all(".predict", document)) form.addEventListener("submit", (event) => {
  event.preventDefault();
  const owner = form.closest("[data-owner]"), open = all(`.predict[data-of="${form.dataset.of}"]`, owner).find((one) => !one.querySelector("input").value.trim());
  if (open && open !== form) open.querySelector("input").focus();
  else run(owner.querySelector(`[data-exhibit="${form.dataset.of}"]`));
});

document.getElementById("run-all")?.addEventListener("click", async (event) => {
  event.target.disabled = true;
  for (const figure of all(".exhibit", document)) await run(figure);
  event.target.disabled = false;
});

document.getElementById("read")?.addEventListener("click", async (event) => {
  const button = event.target, done = button.getAttribute("aria-pressed") !== "true";
  await ask("read", { lesson: button.closest("[data-owner]").dataset.owner, done });
  button.setAttribute("aria-pressed", String(done));
  button.textContent = done ? "Read" : "Mark as read";
});

for (const myth of all(".myth", document)) for (const button of all("[data-says]", myth)) button.addEventListener("click", async () => {
  const says = button.dataset.says === "yes", line = myth.querySelector(".verdict-line"), buttons = all("[data-says]", myth);
  for (const one of buttons) { one.disabled = true; one.setAttribute("aria-pressed", String(one === button)); }
  line.textContent = "The experiment runs…";
  const told = await run(myth.querySelector('[data-exhibit="decide"]'), says);
  for (const one of buttons) one.disabled = false;
  if (!told) { line.textContent = myth.querySelector(".state").textContent; return; }
  myth.querySelector(".decided").hidden = false;
  myth.classList.toggle("right", told.right);
  myth.classList.toggle("wrong", !told.right);
  line.textContent = `${told.right ? "You were right." : "You said otherwise."} The experiment says: it ${told.holds ? "holds" : "does not hold"}.`;
});
document.documentElement.dataset.ready = "yes";
