// What comes from Python: a trace, a command that counts once, options.

import { reducedMotion, setAttribute, setText } from "./10-dom.js";
import { keptBy, SIDES, sideNames, tierOf } from "./20-trace.js";
import { hasPool, update } from "./35-state.js";
import { ruler } from "./40-labels.js";
import { GLIDE, syncElements } from "./50-scene.js";
import { paint } from "./70-paint.js";
import { arrangeStage, resize } from "./78-sizes.js";
import { makeSharing } from "./80-share.js";
import { answered } from "./85-report.js";
import { stop } from "./90-moves.js";

export function receive(stage, data) {
  const isNew = stage.trace?.id !== data.trace.id;
  const before = { trace: stage.trace, tier: stage.trace && tierOf(stage.trace, stage.budget), mode: stage.mode };
  update(stage, { options: data.options, trace: data.trace });
  const commanded = data.command.told !== stage.told;
  if (commanded) applyCommand(stage, data.command);
  applyTrace(stage);
  if (isNew) for (const side of SIDES) syncElements(stage.scenes[side], stage.trace, keptBy(stage.trace, side));
  const moved = isNew || before.tier !== tierOf(stage.trace, stage.budget) || before.mode !== stage.mode;
  if (stage.scenes.static.size.width > 1 && moved) arrangeStage(stage, Boolean(before.trace));
  else resize(stage);
  if (stage.scenes.static.picture) paint(stage);
  if (commanded && data.command.in_sight) comeIntoSight(stage);
  answerPainted(stage, isNew && Boolean(before.trace));
}

function comeIntoSight({ root }) {
  root.scrollIntoView({ behavior: reducedMotion() ? "auto" : "smooth", block: "start" });
}

// Answer once for each revision that this picture is on screen: after the frame that paints it and the rest of its nodes.
function answerPainted(stage, gliding) {
  const { ask } = stage.options;
  if (ask === stage.painting) return;
  stage.painting = ask;
  clearTimeout(stage.resting);
  if (ask === null) return;
  const rest = gliding && !reducedMotion() ? GLIDE : 0;
  requestAnimationFrame(() => {
    if (stage.painting === ask) stage.resting = setTimeout(() => stage.answer(ask), rest);
  });
}

function applyCommand(stage, command) {
  stop(stage);
  update(stage, { command });
}

function applyTrace(stage) {
  const [fixed, free] = sideNames(stage.trace);
  for (const [i, text] of [`${fixed}: `, `${free}: `, `Gain of ${free}`].entries()) setText(stage.parts.labels[i], text);
  const { parts, options, trace } = stage;
  for (const side of SIDES) {
    const { name, fixed } = trace.sides[side];
    setText(parts.titles[side], name);
    setText(parts.kinds[side], fixed ? "always the same tree" : "fits its tree to the context");
    setAttribute(stage.scenes[side].canvas, "aria-label", `Draft tree of ${name}. Arrow keys walk it.`);
  }
  setUse(
    parts.modes.find((key) => key.dataset.mode === "phases"),
    "Watch the drafter expand, then rerank",
    whyNoPhases(trace),
  );
  setUse(parts.candidates, "Show what was scored but not kept", whyNoCandidates(stage));
  applySharpness(stage, options);
  if (!parts.sharing.childElementCount) parts.sharing.append(...makeSharing(stage));
  applyTheme(stage);
}

// A button that has nothing to show now stays in reach, and its title says why.
function setUse(button, title, reason) {
  setAttribute(button, "aria-disabled", reason ? true : null);
  setAttribute(button, "title", reason ?? title);
}

function whyNoPhases({ phases, sides: { dynamic } }) {
  if (phases.length) return null;
  return dynamic.keeping === "Rerank"
    ? "The layers of this tree are on their way."
    : `${dynamic.name} does not expand layers before it keeps nodes, so there are no phases to watch.`;
}

function whyNoCandidates(stage) {
  if (hasPool(stage)) return null;
  return "The candidates of this tree are on their way.";
}

function applySharpness(stage, options) {
  const { input, output, label } = stage.parts.sharpness;
  label.hidden = options.sharpness === null;
  if (label.hidden) return update(stage, { sharpness: null }); // or the next report would set the sharpness of a landscape long gone
  const [low, high] = options.sharpness_range;
  Object.assign(input, { min: low, max: high, step: 0.05 });
  if (stage.asking !== null && Math.abs(options.sharpness - stage.asking) < 1e-9) answered(stage);
  if (stage.dragging || stage.asking !== null) return;
  update(stage, { sharpness: options.sharpness });
  input.value = options.sharpness;
  setText(output, options.sharpness.toFixed(2));
  input.style.setProperty("--part", `${(100 * (options.sharpness - low)) / (high - low)}%`);
}

// Light or dark is read off the page's own background, so that any theme works.
export function applyTheme(stage) {
  const paper = getComputedStyle(stage.root).getPropertyValue("--st-background-color").trim();
  const dark = paper ? (shades[paper] ??= luminance(paper)) < 0.4 : window.matchMedia("(prefers-color-scheme: dark)").matches;
  setAttribute(stage.root, "data-theme", dark ? "dark" : "light");
  const look = getComputedStyle(stage.root);
  ruler.font = `${look.getPropertyValue("--label").trim()} ${look.fontFamily}`;
}

const shades = {};

function luminance(colour) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [r, g, b] = pen.getImageData(0, 0, 1, 1).data;
  return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
}
