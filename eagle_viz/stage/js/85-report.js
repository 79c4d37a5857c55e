// What Python hears: a report when the hand lets go, and the sharpness while it is held.

import { setText } from "./10-dom.js";
import { update } from "./35-state.js";

const SETTLE = 250;

export function report(stage, delay = SETTLE) {
  clearTimeout(stage.reporting);
  stage.reporting = setTimeout(() => sendReport(stage), delay);
}

function sendReport(stage, sharpness = null) {
  clearTimeout(stage.reporting);
  const { step, mode, told, dragging, candidates } = stage;
  const budget = stage.wanted ?? stage.budget;
  update(stage, { serial: stage.serial + 1 });
  stage.send({
    step: stage.wanted === null ? step : budget,
    budget,
    mode,
    sharpness,
    dragging,
    candidates,
    told,
    serial: stage.serial,
  });
}

export function moveSharpness(stage, value, dragging) {
  if (value === stage.sharpness && dragging === stage.dragging) return;
  update(stage, { sharpness: value, dragging });
  setText(stage.parts.sharpness.output, value.toFixed(2));
  const { input } = stage.parts.sharpness;
  input.style.setProperty("--part", `${(100 * (value - input.min)) / (input.max - input.min)}%`);
  if (stage.asking === null) askSharpness(stage);
  else update(stage, { behind: true });
}

function askSharpness(stage) {
  update(stage, { asking: stage.sharpness, behind: false });
  clearTimeout(stage.patience);
  stage.patience = setTimeout(() => answered(stage), 1500);
  sendReport(stage, stage.sharpness);
}

export function answered(stage) {
  clearTimeout(stage.patience);
  update(stage, { asking: null });
  if (stage.behind) askSharpness(stage);
}
