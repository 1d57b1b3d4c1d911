// The way in for a page that shows one run after another.
const owners = () => [...new Set(startingWith("norm ").map((name) => name.slice(5).replace(/(this|the right) loop$/, "")))];
loads.push(() => {
  const named = (names) => Object.fromEntries(names.map((name) => [name, name.replace(/^.*?(this|the right) loop$/, "$1 loop")]));
  const plots = [{ title: `${owners().length > 1 ? "Discriminator's loss" : "Loss"} on all data after each update`, of: startingWith("loss "), log: true }];
  for (const owner of owners()) {
    const names = ["this loop", "the right loop"].map((loop) => `norm ${owner}${loop}`);
    plots.push({ title: `Gradient norm at each step${owner ? ` of ${owner.slice(0, -2)}` : ""}`, of: names, log: true });
  }
  const apart = series.distance.points.some(([, value]) => value > 1e-6) || series.distance.broken;
  if (apart) plots.push({ title: "Distance from the right weights", of: ["distance"], zero: true });
  PLOTS = plots.map((plot) => ({ ...plot, names: named(plot.of), of: plot.of.filter((name) => series[name] && series[name].points.length) })).filter((plot) => plot.of.length);
});
export const showLedger = (data) => {
  load(data);
  view.column = -1;
  view.row = 0;
  view.open.clear();
  mix();
  view.width = canvas.parentElement.clientWidth;
  label();
  drawLegend();
  drawJumps();
  drawCurves();
  view.zoom = Math.min(fitting(), 120);
  view.offset = 0;
  const finding = DATA.findings.find((one) => one.at !== null);
  if (SPAN.total) choose(finding ? columnOf(finding.at) : 0, finding ? guiltyRow(columnOf(finding.at)) : 0);
  paint();
};
export const showAt = (number) => { goTo(number); canvas.focus({ preventScroll: true }); };
export const repaintLedger = () => { if (!SPAN) return; mix(); sketch = null; drawLegend(); drawCurves(); draw(); };
overview.addEventListener("pointerdown", (event) => { const box = overview.getBoundingClientRect(), column = Math.floor(((event.clientX - box.left) / box.width) * SPAN.total); view.offset += place(Math.max(0, Math.min(column, SPAN.total - 1))) - view.width / 2; draw(); });
new ResizeObserver(() => { if (SPAN && view.width !== canvas.parentElement.clientWidth) { view.width = canvas.parentElement.clientWidth; fit(); drawCurves(); } }).observe(canvas.parentElement);
