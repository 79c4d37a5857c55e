// Moves: what a user can do. Each changes the state, paints within the same event, and reports to Python when the hand lets go.

import { setText } from "./10-dom.js";
import { sideNames, tierOf } from "./20-trace.js";
import { cursorOf, cursorRange, update } from "./35-state.js";
import { announce } from "./66-link.js";
import { paint, paintControls } from "./70-paint.js";
import { arrangeStage } from "./78-sizes.js";
import { report } from "./85-report.js";

const SPEED_BASE = 500;

export function moveCursor(stage, cursor) {
  update(stage, { cursor });
  paint(stage);
  speak(stage);
}

function speak(stage) {
  const { phase, who, main, static: fixed, dynamic, gain } = stage.parts;
  const names = sideNames(stage.trace);
  const [sentence, numbers] = [`${who.textContent}${main.textContent}`, [fixed, dynamic, gain].map((part) => part.textContent)];
  announce(stage, `${phase.textContent}. ${sentence} ${names[0]} ${numbers[0]}, ${names[1]} ${numbers[1]}, gain ${numbers[2]}.`);
}

export function moveBudget(stage, budget) {
  const tier = tierOf(stage.trace, stage.budget);
  update(stage, { budget });
  if (stage.wanted !== null) return askBudget(stage);
  if (tierOf(stage.trace, stage.budget) !== tier) arrangeStage(stage, true);
  paint(stage);
  speak(stage);
}

// Beyond what this trace serves: hold the picture, show the number, and let Python send the next tier.
function askBudget(stage) {
  setText(stage.parts.budget.output, `${stage.wanted} …`);
  report(stage, 60);
}

export function moveMode(stage, mode) {
  stop(stage);
  update(stage, { mode });
  arrangeStage(stage, true);
  paint(stage);
  speak(stage);
  report(stage, 0);
}

export function scrub(stage, cursor) {
  stop(stage);
  moveCursor(stage, cursor);
}

export function dragBudget(stage, budget) {
  stop(stage);
  moveBudget(stage, budget);
}

export function nudge(stage, by) {
  stop(stage);
  moveCursor(stage, cursorOf(stage) + by);
  report(stage);
}

export function jump(stage, end) {
  stop(stage);
  moveCursor(stage, cursorRange(stage)[end]);
  report(stage);
}

export function stop(stage) {
  if (!stage.playing) return;
  clearInterval(stage.playing);
  stage.playing = null;
  paintControls(stage);
  report(stage);
}

export function togglePlay(stage) {
  if (stage.playing) return stop(stage);
  const [low, high] = cursorRange(stage);
  if (cursorOf(stage) >= high) moveCursor(stage, low);
  stage.playing = setInterval(() => playOn(stage), paceOf(stage));
  paintControls(stage);
}

function paceOf(stage) {
  const hurry = stage.mode === "verify" && stage.trace.verify.kind === "rolls" ? 4 : 1;
  return SPEED_BASE / Number(stage.parts.speed.value) / hurry;
}

function playOn(stage) {
  moveCursor(stage, cursorOf(stage) + 1);
  if (cursorOf(stage) >= cursorRange(stage)[1]) stop(stage);
}

export function changePace(stage) {
  if (!stage.playing) return;
  clearInterval(stage.playing);
  stage.playing = setInterval(() => playOn(stage), paceOf(stage));
}
