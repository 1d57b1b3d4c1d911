// How each state looks: a colour, a pattern and a letter, so that no reader depends on the colour.
const LOOKS = {
  N: { colour: "none", pattern: "", letter: "" },
  Z: { colour: "none", pattern: "ring", letter: "0" },
  U: { colour: "applied", pattern: "", letter: "✓" },
  L: { colour: "applied", pattern: "cross", letter: "" },
  H: { colour: "hand", pattern: "dots", letter: "H" },
  F: { colour: "fresh", pattern: "", letter: "" },
  A: { colour: "accumulated", pattern: "rise", letter: "" },
  S: { colour: "stale", pattern: "cross", letter: "S" },
};
let fills = {};

const patternOf = (look) => {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const pen = tile.getContext("2d");
  pen.fillStyle = colour(look.colour);
  pen.fillRect(0, 0, 8, 8);
  pen.strokeStyle = pen.fillStyle = colour(look.pattern === "ring" ? "zero" : "card");
  pen.globalAlpha = look.pattern === "ring" ? 0.9 : 0.34;
  pen.lineWidth = 1.4;
  pen.beginPath();
  if (look.pattern === "rise" || look.pattern === "cross") { pen.moveTo(-2, 10); pen.lineTo(10, -2); pen.moveTo(-2, 2); pen.lineTo(2, -2); pen.moveTo(6, 10); pen.lineTo(10, 6); }
  if (look.pattern === "cross") { pen.moveTo(-2, -2); pen.lineTo(10, 10); pen.moveTo(6, -2); pen.lineTo(10, 2); pen.moveTo(-2, 6); pen.lineTo(2, 10); }
  pen.stroke();
  if (look.pattern === "dots" || look.pattern === "ring") { pen.beginPath(); pen.arc(4, 4, 1.5, 0, 7); pen.fill(); }
  return pen.createPattern(tile, "repeat");
};
const mix = () => {
  fills = {};
  for (const [letter, look] of Object.entries(LOOKS)) fills[letter] = look.pattern ? patternOf(look) : colour(look.colour);
  for (const name of ["ink", "soft", "faint", "line", "card", "on", "error", "accent", "fresh", "well", "zero"]) fills[name] = colour(name);
  fills.lost = colour("stale");
};

const LANES = [
  ["backward", "backward", "fresh"], ["unscale", "unscale", "soft"], ["clip", "clip", "soft"], ["step", "step", "ink"],
  ["clear", "clear", "soft"], ["scheduler", "scheduler", "soft"],
];
const LANE_OF = { backward: "backward", unscale: "unscale", clip: "clip", step: "step", skip: "step", closure: "step", clear: "clear", lose: "clear", assign: "clear", change: "clip", scheduler: "scheduler", scale: "unscale", reduce: "clip" };
const WORDS = { backward: "backward", clear: "clear", lose: "clear, unused", clip: "clip", unscale: "unscale", step: "step", skip: "step skipped", closure: "closure again", scheduler: "scheduler", epoch: "epoch ends", assign: "grad replaced", change: "grad changed", reduce: "all-reduce", scale: "scale adapted" };

// The marks differ by shape: triangle down posts, triangle up steps, ring clears, bar clips, diamond unscales, dash schedules.
const glyph = (pen, mark, x, y, size) => {
  const r = size / 2;
  pen.beginPath();
  switch (mark) {
    case "backward": pen.moveTo(x - r, y - r); pen.lineTo(x + r, y - r); pen.lineTo(x, y + r); break;
    case "step": case "closure": pen.moveTo(x - r, y + r); pen.lineTo(x + r, y + r); pen.lineTo(x, y - r); break;
    case "skip": pen.moveTo(x - r, y - r); pen.lineTo(x + r, y + r); pen.moveTo(x + r, y - r); pen.lineTo(x - r, y + r); break;
    case "clear": case "lose": case "assign": pen.arc(x, y, r, 0, 7); break;
    case "unscale": case "scale": pen.moveTo(x, y - r); pen.lineTo(x + r, y); pen.lineTo(x, y + r); pen.lineTo(x - r, y); break;
    case "scheduler": pen.rect(x - r, y - 1.25, size, 2.5); break;
    default: pen.rect(x - r, y - r * 0.75, size, r * 1.5);
  }
  pen.closePath();
  if (mark === "clear" || mark === "skip" || mark === "assign") { pen.lineWidth = 1.6; pen.stroke(); } else pen.fill();
};
