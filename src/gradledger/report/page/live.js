// A run that goes on: the server says when there is something new, the page fetches it and changes in place.
const PILLS = { waiting: ["Waiting", "the recording is not there yet"], running: ["Live", "the run goes on"], ended: ["Ended", "the run has ended"], broken: ["Stopped", "the recording cannot be read further"], lost: ["Offline", "the server does not answer; trying again"] };
const pill = element("span", { class: "pill", role: "status" }), follow = element("button", { type: "button", id: "follow", "aria-pressed": "true" }, "Follow");
document.querySelector(".brand").append(pill);
document.querySelector(".tools [data-do=right]").after(follow);
const live = { revision: -1, state: "waiting", told: 0, since: 0, fetching: false, again: false, source: null, delay: 500 };

const showState = () => {
  const [word, meaning] = PILLS[live.state], quiet = Math.round((Date.now() - live.since) / 1000);
  const late = live.state === "running" && live.since && quiet >= 20 ? `, quiet for ${quiet < 120 ? `${quiet} s` : `${Math.floor(quiet / 60)} min`}` : "";
  if (pill.dataset.state !== live.state) pill.dataset.state = live.state;
  if (pill.textContent !== word + late) pill.textContent = word + late;
  pill.title = meaning + late;
};

// Make one element like another without replacing what is equal, so that focus, selection and open parts stay.
const morph = (old, made) => {
  if (old.nodeType !== made.nodeType || old.nodeName !== made.nodeName) { old.replaceWith(made); return; }
  if (old.nodeType === Node.TEXT_NODE) { if (old.data !== made.data) old.data = made.data; return; }
  for (const { name } of [...old.attributes]) if (name !== "open" && !made.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of made.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const theirs = [...made.childNodes];
  [...old.childNodes].forEach((child, index) => { if (theirs[index]) morph(child, theirs[index]); else child.remove(); });
  theirs.slice(old.childNodes.length).forEach((child) => old.append(child));
};
const parsed = (html) => new DOMParser().parseFromString(html, "text/html").body;
const morphInto = (id, html) => { const made = element(document.getElementById(id).localName, {}); made.append(...parsed(html).childNodes); const box = document.getElementById(id); for (const { name, value } of box.attributes) made.setAttribute(name, value); morph(box, made); };
const cards = new Map();
const drawCards = (findings) => {
  const box = document.getElementById("findings"), wanted = new Set(findings.map(([key]) => key));
  if (!cards.size) [...box.children].forEach((card, index) => { if (findings[index]) cards.set(findings[index][0], card); });
  for (const [key, card] of cards) if (!wanted.has(key)) { card.remove(); cards.delete(key); }
  findings.forEach(([key, html], index) => {
    const made = parsed(html).firstElementChild;
    if (cards.has(key)) morph(cards.get(key), made); else { made.classList.add("new"); cards.set(key, made); }
    const card = cards.get(key);
    if (box.children[index] !== card) box.insertBefore(card, box.children[index] || null);
  });
};

const following = () => follow.getAttribute("aria-pressed") === "true";
const setFollowing = (on) => follow.setAttribute("aria-pressed", String(on));
const atEnd = () => view.offset + view.width >= wide() - view.zoom * 1.5;
const whole = () => view.zoom <= fitting() * 1.001;
const take = (news) => {
  const before = SPAN.total > 0, had = DATA.findings.length, all = before && whole();
  const left = before ? SPAN.numbers[columnAt(0)] : 1, within = before ? place(columnAt(0)) : 0;
  const chosen = view.column < 0 ? 0 : SPAN.numbers[view.column], ended = before && view.column === SPAN.total - 1;
  document.title = parsed(news.title).textContent;
  morphInto("verdict", news.verdict);
  drawCards(news.findings);
  morphInto("notes", news.notes.join(""));
  document.getElementById("summary").textContent = parsed(news.summary).textContent;
  document.querySelector(".brand .run").textContent = news.name;
  load(news.data);
  arrange();
  if (!before || (!had && DATA.findings.length && view.column < 0)) begin();
  else if (following() && all) { view.zoom = fitting(); view.offset = 0; }
  else if (following()) view.offset = wide();
  else { view.offset = 0; view.offset = place(columnOf(left)) - within; }
  if (before && chosen && SPAN.total) {
    view.column = ended && following() ? SPAN.total - 1 : columnOf(chosen);
    view.row = Math.min(view.row, timeline.rows.length - 1);
    say();
  } else if (!SPAN.total) view.column = -1; // another run has begun
  hold();
  draw();
};
const tookOver = () => setFollowing(SPAN.total > 0 && (whole() || atEnd()));
for (const name of ["pointerup", "wheel", "keyup"]) canvas.addEventListener(name, () => requestAnimationFrame(tookOver));
document.querySelector(".tools").addEventListener("click", (event) => { if (event.target !== follow) requestAnimationFrame(tookOver); });
overview.addEventListener("pointerup", () => requestAnimationFrame(tookOver));
document.getElementById("findings").addEventListener("click", (event) => { if (event.target.closest(".go")) setFollowing(false); });
follow.addEventListener("click", () => { setFollowing(!following()); if (following()) { if (!whole()) view.offset = wide(); hold(); draw(); } });

// One request at a time: what comes meanwhile is fetched afterwards, and what lies between is left out.
const fetchNew = async () => {
  if (live.fetching) { live.again = true; return; }
  live.fetching = true;
  try {
    do {
      live.again = false;
      const answer = await fetch("data", { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      const news = await answer.json();
      if (news.revision !== live.revision) { live.revision = news.revision; take(news); }
      document.documentElement.dataset.revision = news.revision;
    } while (live.again && live.source);
  } catch (error) {
    lose();
  } finally {
    live.fetching = false;
  }
};
const lose = () => {
  if (live.source) live.source.close();
  live.source = null;
  if (live.state === "ended") return; // nothing more will come, and the server may well be gone
  live.state = "lost";
  showState();
  live.delay = Math.min(live.delay * 2, 30000);
  setTimeout(listen, live.delay);
};
const hear = (news) => {
  live.delay = 500;
  live.state = news.state;
  live.since = Date.now() - news.quiet * 1000;
  showState();
  if (news.revision !== live.revision) fetchNew();
};
const listen = () => {
  // A browser has few connections to one server: a page that nobody sees gives its own back.
  if (live.source || document.hidden) return;
  live.source = new EventSource("events");
  live.source.addEventListener("news", (event) => hear(JSON.parse(event.data)));
  live.source.addEventListener("error", lose);
};
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) { live.delay = 500; listen(); } else if (live.source) { live.source.close(); live.source = null; }
});
setInterval(showState, 5000);
showState();
listen();
