// What a run has shown: the verdict, the findings, the ledger, the curves, the program.
import { linkTo } from "./asking.js";
import { repaintLedger, showAt, showLedger } from "./ledger.js";
import { showLifted } from "./lifting.js";
import { make, render, state } from "./loop.js";

const at = (id) => document.getElementById(id);
const short = (value) => (value === null ? "–" : value === 0 ? "0" : Math.abs(value) >= 1e4 || Math.abs(value) < 1e-3 ? value.toExponential(1) : String(+value.toPrecision(3)));
let program = "";

const tiles = (result) => {
  const bad = result.distance === null || result.distance > 1e-5;
  const owner = state.setup.second ? "D's " : "";
  const rows = [
    [`${owner}loss, this loop`, short(result.loss.mine), bad && !owner && result.loss.mine > result.loss.right],
    [`${owner}loss, the right loop`, short(result.loss.right), false],
    ["weights apart", result.distance === null ? "–" : result.distance <= 1e-5 ? "0" : result.distance < 10 ? `${+(100 * result.distance).toPrecision(2)} %` : short(result.distance), bad],
    ["updates", `${result.updates.mine}${result.updates.mine === result.updates.right ? "" : ` (right: ${result.updates.right})`}`, result.updates.mine !== result.updates.right],
  ];
  at("tiles").replaceChildren(...rows.map(([name, value, wrong]) => make("div", { class: `tile${wrong ? " bad" : ""}` }, make("dt", {}, name), make("dd", {}, value))));
};
const verdict = (result) => {
  const { kind, symbol, headline, below } = result.verdict, peek = at("peek");
  at("verdict").className = `verdict-card ${kind}`;
  at("verdict-symbol").textContent = symbol;
  at("verdict-title").textContent = headline;
  at("verdict-below").textContent = below;
  at("verdict").hidden = false;
  const codes = [...new Set(result.findings.map((finding) => finding.code))].join(", ");
  peek.className = `peek ${kind}`;
  peek.textContent = `${symbol} ${codes ? `${codes}: ${result.findings[0].name}` : headline}`;
  peek.hidden = false;
};
const findings = (result) => {
  const place = at("findings");
  place.innerHTML = result.findings.map((finding) => finding.card).join(""); // made and escaped by the server
  result.findings.forEach((finding, index) => {
    if (!finding.lesson) return;
    const { id, number, title } = finding.lesson;
    place.children[index].querySelector("footer").prepend(make("a", { class: "lesson-link", href: linkTo(`learn/lesson/${id}`) }, `Lesson ${number}: ${title}`));
  });
};
const script = (result) => {
  const remarks = new Map();
  const say = (line, kind, words) => { if (!remarks.has(line)) remarks.set(line, []); remarks.get(line).push([kind, words]); };
  for (const finding of result.findings) {
    say(finding.line, "label", `${finding.code}: ${finding.message}`);
    for (const one of finding.related) say(one.line, "related", one.message);
  }
  if (result.error) say(result.error.line, "label", `${result.error.kind}: ${result.error.message}`);
  at("program").replaceChildren(...result.lines.map((html, index) => {
    const told = remarks.get(index + 1) || [], code = make("code");
    code.innerHTML = html; // made and escaped by the server
    return make("li", { class: `line ${told.length ? told[0][0] : "plain"}` }, make("span", { class: "no" }, String(index + 1)), code, ...told.map(([kind, words]) => make("span", { class: `remark ${kind}` }, words)));
  }));
  program = result.program;
  at("printed").textContent = [result.printed.trim() && `It printed: ${result.printed.trim()}`, ...result.warned.map((words) => `PyTorch warned: ${words}`)].filter(Boolean).join("\n");
  at("script").hidden = false;
};
const marks = (result) => {
  state.marks = new Map();
  const mark = (place, code, kind, words) => { if (place && !state.marks.has(place.join(":"))) state.marks.set(place.join(":"), { code, kind, words }); };
  for (const finding of result.findings) mark(finding.block, finding.code, finding.certainty === "possible" ? "possible" : finding.severity, finding.message);
  if (result.error) mark(result.origins[result.error.line], "stops", "error", result.error.message);
};

export const show = (result) => {
  marks(result);
  const focused = document.activeElement?.closest?.(".block"), kind = focused && [...focused.querySelectorAll("button")].indexOf(document.activeElement);
  render();
  if (focused) document.querySelector(`.block[data-lane="${focused.dataset.lane}"][data-at="${focused.dataset.at}"]`)?.querySelectorAll("button")[kind]?.focus({ preventScroll: true });
  showLifted();
  verdict(result);
  tiles(result);
  findings(result);
  script(result);
  const trained = result.ledger.timeline.count > 0;
  at("timeline").hidden = at("curves").hidden = !trained;
  if (trained) showLedger(result.ledger);
  history.replaceState(null, "", `?${result.query}`);
};

const copied = async (button, words) => {
  const before = button.dataset.word || button.textContent;
  button.dataset.word = before;
  try { await navigator.clipboard.writeText(words); button.textContent = "Copied"; } catch {
    const area = make("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = words;
    document.body.append(area);
    area.select();
    button.textContent = document.execCommand("copy") ? "Copied" : "Could not copy";
    area.remove();
    button.focus();
  }
  setTimeout(() => { button.textContent = before; }, 2500);
};
export const startShowing = () => {
  at("copy").addEventListener("click", () => copied(at("copy"), program));
  at("share").addEventListener("click", () => copied(at("share"), location.href));
  at("findings").addEventListener("click", (event) => {
    const button = event.target.closest(".go");
    if (!button) return;
    at("timeline").scrollIntoView();
    showAt(Number(button.dataset.at));
  });
  addEventListener("themechange", repaintLedger);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaintLedger);
};
