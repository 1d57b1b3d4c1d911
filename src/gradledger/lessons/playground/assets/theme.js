// The colour scheme: as the system has it, light or dark; set before the page is drawn, kept for the other pages.
(() => {
  const THEMES = { auto: ["Auto", "as the system has it"], light: ["Light", "light"], dark: ["Dark", "dark"] };
  const names = Object.keys(THEMES);
  const put = (name) => { if (name === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name; };
  let now = "auto";
  try { now = localStorage.getItem("theme") || "auto"; } catch { /* a browser that keeps nothing */ }
  if (!names.includes(now)) now = "auto";
  put(now);
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const say = () => { button.textContent = THEMES[now][0]; button.setAttribute("aria-label", `Colour scheme: ${THEMES[now][1]}`); };
    say();
    button.addEventListener("click", () => {
      now = names[(names.indexOf(now) + 1) % names.length];
      put(now);
      say();
      try { localStorage.setItem("theme", now); } catch { /* then for this page only */ }
      dispatchEvent(new Event("themechange"));
    });
  });
})();
