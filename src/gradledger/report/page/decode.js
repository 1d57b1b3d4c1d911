"use strict";
// The data of the page, written out as far as drawing needs it; of a run that goes on it is loaded again and again.
let DATA, LINES, PEAKS, SPAN, timeline;
const loads = [];
const load = (data) => {
  DATA = data; LINES = data.lines; timeline = data.timeline;
  PEAKS = timeline.kinds.map((_, kind) => timeline.rows.map((_, row) => peakOf(kind, row)));
  SPAN = decoded(timeline);
  for (const made of loads) made();
};
const RANK = "NZULHFAS";

const unrolled = (runs) => {
  const row = new Int32Array(runs.reduce((sum, run) => sum + run[1], 0));
  let value = 0, at = 0;
  for (const [difference, count] of runs) for (let i = 0; i < count; i++) { value += difference; row[at++] = value; }
  return row;
};

// Columns in the order of time: kind, number of the micro-batch, steps before it; gaps between stretches.
const decoded = (timeline) => {
  const total = timeline.kept;
  const kinds = new Int32Array(total), numbers = new Int32Array(total), steps = new Int32Array(total), gaps = [];
  const inside = timeline.rows.map(() => [0, 1, 2, 3].map(() => new Int32Array(total)));
  const made = timeline.kinds.map((kind) => kind.marks.filter((mark) => mark[0] === "step").length);
  let at = 0, end = 1;
  for (const stretch of timeline.stretches) {
    if (stretch.first > end) gaps.push({ before: at, count: stretch.first - end });
    stretch.numbers.forEach((row, index) => row.forEach((runs, which) => inside[index][which].set(unrolled(runs), at)));
    let step = stretch.steps, number = stretch.first;
    for (let i = 0; i < stretch.kinds.length; i += 2) {
      for (let n = 0; n < stretch.kinds[i + 1]; n++) {
        kinds[at] = stretch.kinds[i]; numbers[at] = number++; steps[at] = step; at++;
        step += made[stretch.kinds[i]] || 0;
      }
    }
    end = number;
  }
  return { total, kinds, numbers, steps, gaps, inside };
};

// What a row's cell shows in a column of this kind: the states between the marks, and the one its pass left.
const trailOf = (kind, row) => {
  if (kind < 0) return "";
  const cells = DATA.timeline.kinds[kind].cells;
  for (let at = row; at !== null && at !== undefined; at = DATA.timeline.rows[at].parent) if (cells[at]) return cells[at];
  return "";
};
const peakOf = (kind, row) => {
  const trail = trailOf(kind, row);
  if (!trail) return "";
  const pass = DATA.timeline.kinds[kind].marks.findIndex((mark) => mark[0] === "backward");
  return trail[Math.min(pass + 1, trail.length - 1)];
};

const count = (number) => number.toLocaleString("en");
const many = (number, one, more) => `${count(number)} ${number === 1 ? one : more || one + "s"}`;
const element = (name, attributes, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) if (value !== null && value !== undefined) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
