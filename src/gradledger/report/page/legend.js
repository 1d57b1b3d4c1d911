// What the colours and letters mean, and buttons that lead to the findings.
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
  if (timeline.kinds.some((kind) => kind.marks.some((mark) => mark[0] === "lose"))) legend.append(element("li", {}, element("b", { class: "lost" }, "●"), "pale with an orange foot: cleared before any step used it"));
  if (timeline.kinds.some((kind) => kind.marks.some((mark) => mark[0] === "skip"))) legend.append(element("li", {}, "× skipped update"));
  if (epochs.size) legend.append(element("li", {}, "│ epoch ends"));
  if (DATA.findings.length) legend.append(element("li", {}, element("span", { class: "outline" }), "where a finding first shows"));
};
const drawJumps = () => {
  const jumps = document.getElementById("jumps"), made = jumps.dataset.made, wanted = JSON.stringify(DATA.findings);
  if (made === wanted) return; // a button that has the focus keeps it
  jumps.dataset.made = wanted;
  jumps.replaceChildren();
  for (const finding of DATA.findings) {
    const button = element("button", { type: "button", title: finding.name }, finding.code);
    button.setAttribute("aria-label", `Go to the first place of ${finding.code} ${finding.name}`);
    button.addEventListener("click", () => goTo(finding.at));
    jumps.append(button);
  }
};
