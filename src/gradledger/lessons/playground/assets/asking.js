// Questions to the server: JSON there, JSON back, and a reason where it cannot be done.
const root = document.body.dataset.root;

export class Refused extends Error {
  constructor(status, reason) { super(reason); this.status = status; }
}

const later = (milliseconds, signal) => new Promise((done, fail) => {
  const timer = setTimeout(done, milliseconds);
  signal?.addEventListener("abort", () => { clearTimeout(timer); fail(signal.reason); }, { once: true });
});

// A server that is busy with other tabs is asked again a few times.
export const ask = async (what, data, { signal, waiting } = {}) => {
  for (let turn = 0; ; turn++) {
    const answer = await fetch(`${root}/api/${what}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(data), signal });
    if (answer.ok) return answer.json();
    let reason = "The server could not answer.";
    try { reason = (await answer.json()).reason; } catch { /* the guard answers in plain words */ }
    if (answer.status !== 429 || turn >= 20) throw new Refused(answer.status, reason);
    waiting?.();
    await later(400 + 150 * turn, signal);
  }
};
export const linkTo = (path) => `${root}/${path}`;
