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
const drawLegend = () => {
  const legend = document.getElementById("legend");
  legend.replaceChildren();
  const left = harmless.some((marked, row) => marked.some((_, column) => stateAt(row, column) === "L"));
  const stale = timeline.rows.some((_, row) => SPAN.kinds.some((_, column) => stateAt(row, column) === "S"));
  const used = new Set((left ? ["L"] : []).concat(PEAKS.flat()).concat(timeline.kinds.flatMap((kind) => Object.values(kind.cells).flatMap((trail) => [...trail]))));
  const words = { N: "none", Z: "zero", F: "fresh: one micro-batch", A: "accumulated: several", S: "stale: fresh + already applied", L: "left over, used by no step", U: "spent by a step, not cleared", H: "set by hand" };
  for (const state of "NZFAULSH") {
    if (!used.has(state) || (state === "S" && !stale)) continue;
    const swatch = element("canvas", { width: 44, height: 32, "aria-hidden": "true" }), small = swatch.getContext("2d");
    small.scale(2, 2);
    small.fillStyle = fills[state];
    small.fillRect(0, 0, 22, 16);
    small.strokeStyle = fills.line; small.strokeRect(0.5, 0.5, 21, 15);
    legend.append(element("li", {}, swatch, words[state]));
  }
  if (timeline.kinds.some((kind) => kind.marks.some((mark) => mark[0] === "lose"))) legend.append(element("li", {}, element("b", { class: "lost" }, "●"), "cleared before any step used it"));
  if (timeline.kinds.some((kind) => kind.marks.some((mark) => mark[0] === "skip"))) legend.append(element("li", {}, "× skipped update"));
  if (epochs.size) legend.append(element("li", {}, "│ epoch ends"));
  if (DATA.findings.length) legend.append(element("li", {}, element("span", { class: "outline" }), "where a finding first shows"));
};
const repaint = () => { mix(); sketch = null; drawLegend(); draw(); };

const notes = [];
if (timeline.kept < timeline.count) notes.push(`Of ${count(timeline.count)} micro-batches ${count(timeline.kept)} are drawn one by one: the beginning, the end, everything new, and samples between; dots stand for the rest.`);
if (timeline.hidden) notes.push(`${many(timeline.hidden, "more group")} of parameters not drawn.`);
if (timeline.unlike) notes.push(`${many(timeline.unlike, "micro-batch", "micro-batches")} left blank: hardly any two of this run are alike.`);
const thinned = document.getElementById("thinned");
thinned.textContent = notes.join(" ");
thinned.hidden = !notes.length;

const lead = document.getElementById("curves-lead");
const missing = [["loss", "loss"], ["accuracy", "accuracy"], ["rate ", "learning rate"], ["memory", "memory"]].filter(([start]) => !startingWith(start).length).map(([, word]) => word);
const detailed = DATA.stages.some((stage) => stage.in || stage.out || stage.value !== undefined) || DATA.layers.length > 0;
lead.textContent = missing.length === 4 && !detailed ? "This run was recorded without detail: loss, accuracy, learning rate, memory, shapes and layers are not in it." : missing.length ? `Not in this recording: ${missing.join(", ")}.` : "";
document.getElementById("pipeline-lead").textContent = "The first whole step, in the order in which this program does it, and what the gradients held after each stage.";
if (!SPAN.total) for (const name of ["timeline", "curves"]) { document.getElementById(name).hidden = true; document.querySelector(`nav [href="#${name}"]`).hidden = true; }
if (!detailed) { document.getElementById("pipeline").hidden = true; document.querySelector('nav [href="#pipeline"]').hidden = true; }
if (!DATA.findings.length && !document.querySelector(".finding")) document.querySelector('nav [href="#findings"]').hidden = true;
const jumps = document.getElementById("jumps");
const showFinding = (number) => { goTo(number); document.getElementById("timeline").scrollIntoView(); canvas.focus({ preventScroll: true }); };
for (const finding of DATA.findings) {
  const button = element("button", { type: "button", title: finding.name }, finding.code);
  button.setAttribute("aria-label", `Go to the first place of ${finding.code} ${finding.name}`);
  button.addEventListener("click", () => goTo(finding.at));
  jumps.append(button);
}
for (const button of document.querySelectorAll(".go")) button.addEventListener("click", () => showFinding(Number(button.dataset.at)));

view.width = canvas.parentElement.clientWidth;
mix();
label();
drawLegend();
view.zoom = Math.min(Math.max(fitting(), DATA.findings.length ? 34 : fitting()), 120);
if (DATA.findings.length && SPAN.total) { const column = columnOf(DATA.findings[0].at); view.offset = place(column) + view.offset - view.width / 4; hold(); choose(column, guiltyRow(column)); }
paint();
drawCurves();
overview.addEventListener("pointerdown", (event) => { const box = overview.getBoundingClientRect(), column = Math.floor(((event.clientX - box.left) / box.width) * SPAN.total); view.offset += place(Math.max(0, Math.min(column, SPAN.total - 1))) - view.width / 2; draw(); });
drawStages();
drawLayers();
let sized = window.innerWidth;
window.addEventListener("resize", () => { if (sized !== window.innerWidth) { sized = window.innerWidth; drawCurves(); } draw(); });
window.addEventListener("beforeprint", () => { fit(); paint(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
document.documentElement.dataset.ready = "yes";
