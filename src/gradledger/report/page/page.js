// Everything put together when the page is there.
const THEMES = { auto: ["Auto", "as the system has it"], light: ["Light", "light"], dark: ["Dark", "dark"] };
const theme = document.getElementById("theme");
theme.addEventListener("click", () => {
  const names = Object.keys(THEMES), next = names[(names.indexOf(document.documentElement.dataset.theme || "auto") + 1) % names.length];
  if (next === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = next;
  theme.textContent = THEMES[next][0];
  theme.setAttribute("aria-label", `Colour scheme: ${THEMES[next][1]}`);
  repaint();
});
const repaint = () => { mix(); sketch = null; drawLegend(); draw(); };

const drawNotes = () => {
  const notes = [];
  if (timeline.kept < timeline.count) notes.push(`Of ${count(timeline.count)} micro-batches ${count(timeline.kept)} are drawn one by one: the beginning, the end, everything new, and samples between; dots stand for the rest.`);
  if (timeline.hidden) notes.push(`${many(timeline.hidden, "more group")} of parameters not drawn.`);
  if (timeline.unlike) notes.push(`${many(timeline.unlike, "micro-batch", "micro-batches")} left blank: hardly any two of this run are alike.`);
  const thinned = document.getElementById("thinned");
  thinned.textContent = notes.join(" ");
  thinned.hidden = !notes.length;
  const missing = [["loss", "loss"], ["accuracy", "accuracy"], ["rate ", "learning rate"], ["memory", "memory"]].filter(([start]) => !startingWith(start).length).map(([, word]) => word);
  document.getElementById("curves-lead").textContent = !DATA.detailed ? "This run was recorded without detail: loss, accuracy, learning rate, memory, shapes and layers are not in it (gradledger trace --save records them)." : missing.length ? `Not in this recording: ${missing.join(", ")}.` : "";
  document.getElementById("pipeline-lead").textContent = `${DATA.step ? `Step ${count(DATA.step)} of ${count(DATA.steps)}` : "What came before any step"}, in the order in which this program does it, and what the gradients held before and after each stage.`;
};
const detailed = () => DATA.detailed && DATA.stages.length > 0;
const drawSections = () => {
  const shown = { findings: document.querySelector(".finding") !== null, timeline: SPAN.total > 0, curves: SPAN.total > 0, pipeline: detailed() };
  for (const [name, there] of Object.entries(shown)) {
    if (name !== "findings") document.getElementById(name).hidden = !there;
    document.querySelector(`nav [href="#${name}"]`).hidden = !there;
  }
};
const showFinding = (number) => { goTo(number); document.getElementById("timeline").scrollIntoView(); canvas.focus({ preventScroll: true }); };
document.getElementById("findings").addEventListener("click", (event) => { const button = event.target.closest(".go"); if (button) showFinding(Number(button.dataset.at)); });

// Draw everything that stands around the timeline; what has not changed stays as it is.
let panelled = "";
const arrange = () => {
  drawSections();
  view.width = canvas.parentElement.clientWidth;
  drawNotes();
  drawJumps();
  label();
  drawLegend();
  drawCurves();
  const panels = JSON.stringify([DATA.stages, DATA.layers, DATA.epochs]);
  if (panels !== panelled) { drawStages(); drawLayers(); drawEpochs(); }
  panelled = panels;
};
const begin = () => {
  view.zoom = Math.min(Math.max(fitting(), DATA.findings.length ? 34 : fitting()), 120);
  if (DATA.findings.length && SPAN.total) { const column = columnOf(DATA.findings[0].at); view.offset = place(column) + view.offset - view.width / 4; hold(); choose(column, guiltyRow(column)); }
};

load(JSON.parse(document.getElementById("data").textContent));
mix();
arrange();
begin();
paint();
overview.addEventListener("pointerdown", (event) => { const box = overview.getBoundingClientRect(), column = Math.floor(((event.clientX - box.left) / box.width) * SPAN.total); view.offset += place(Math.max(0, Math.min(column, SPAN.total - 1))) - view.width / 2; draw(); });
let sized = window.innerWidth;
window.addEventListener("resize", () => { if (sized !== window.innerWidth) { sized = window.innerWidth; drawCurves(); } draw(); });
// Paper is light, and what is drawn on it must be, too.
let onScreen;
const inScheme = (name) => { if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme; };
window.addEventListener("beforeprint", () => { onScreen = document.documentElement.dataset.theme; inScheme("light"); repaint(); fit(); paint(); });
window.addEventListener("afterprint", () => { inScheme(onScreen); repaint(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
document.documentElement.dataset.ready = "yes";
