// The stage's state and its one writer, `update`; what a step is in each mode, how far it goes, and what it shows.

import { clamp } from "./10-dom.js";
import { acceptedBy, layoutOf, readTrace, revealAt, SIDES, serves } from "./20-trace.js";
import { HOME } from "./30-geometry.js";

export const DEFAULTS = {
  max_budget: 128,
  height: 440,
  sharpness: null,
  sharpness_range: [0.1, 4],
  offline: false,
  ask: null,
  charts: true,
};

// budget, step, layer (negative in an expand layer), turn (of the verify phase), mode: where the stage stands. look: the node that is
// looked at. wanted: a budget that Python has been asked for. told, serial: the last command heard, the last report sent.
// sharpness, dragging, asking, behind: that slider's value, whether it is held, what Python is working on, whether it has to be asked again.
export const START = {
  trace: null,
  options: DEFAULTS,
  view: HOME,
  budget: 1,
  step: 0,
  layer: 0,
  turn: 0,
  mode: "nodes",
  look: null,
  candidates: false,
  full: false,
  wanted: null,
  told: null,
  serial: 0,
  sharpness: null,
  dragging: false,
  asking: null,
  behind: false,
};

// What a change of one field means for the others; a field that is not named here just takes its new value.
const MEANINGS = {
  trace: (state, table) => openedTrace(state, table),
  options: (_, options) => ({ options: { ...DEFAULTS, ...options } }),
  cursor: (state, cursor) => cursorAt(state, cursor),
  budget: (state, budget) => budgetAt(state, clamp(Math.round(budget), 1, state.options.max_budget)),
  mode: (state, mode) => modeAt(state, mode),
  command: (state, command) => commandedBy(state, command),
};

// The fields that a change such as {cursor: 12} or {budget: 30} alters, with what follows from it.
export function reduce(state, change) {
  let after = state;
  for (const [field, value] of Object.entries(change))
    after = { ...after, ...(MEANINGS[field]?.(after, value) ?? { [field]: value }) };
  return Object.fromEntries(Object.keys(START).flatMap((key) => (after[key] === state[key] ? [] : [[key, after[key]]])));
}

// The only writer of the fields of START on a stage.
export function update(stage, change) {
  Object.assign(stage, reduce(stage, change));
}

// Node numbers belong to one trace: what is looked at stays by its path. A new trace may serve less than the old one showed.
function openedTrace(state, table) {
  const trace = state.trace?.id === table.id ? state.trace : readTrace(table);
  const node = state.look ? trace.index.get(state.trace.nodes[state.look.node].path) : undefined;
  return keptInside({ ...state, trace, look: node === undefined ? null : { ...state.look, node } });
}

function keptInside(state) {
  const { trace, wanted } = state;
  const after = wanted !== null && serves(trace, wanted) ? { ...state, budget: wanted, step: wanted, wanted: null } : { ...state };
  after.budget = Math.min(after.budget, trace.tier);
  while (after.budget > 1 && !serves(trace, after.budget)) after.budget -= 1;
  after.step = Math.min(after.step, after.budget);
  if (!trace.phases.length && after.mode === "phases") after.layer = 0;
  after.turn = Math.min(after.turn, verdictLength(after));
  return after;
}

function cursorAt(state, cursor) {
  const to = clamp(Math.round(cursor), ...cursorRange(state));
  return state.mode === "verify" ? { turn: to } : { step: Math.max(to, 0), layer: Math.min(to, 0) };
}

// Beyond what this trace serves the picture stays and Python has to be asked.
function budgetAt(state, budget) {
  return serves(state.trace, budget) ? { budget, step: budget, layer: 0, wanted: null } : { wanted: budget };
}

function modeAt(state, mode) {
  const layers = state.trace.phases.length;
  if (mode === "phases" && layers) return { mode, turn: 0, step: 0, layer: -layers };
  return state.step === 0 && mode !== "phases" ? { mode, turn: 0, step: state.budget, layer: 0 } : { mode, turn: 0 };
}

function commandedBy(state, { told, budget, step, mode }) {
  const layer = mode === "phases" && step === 0 ? -state.trace.phases.length : 0;
  const turn = state.mode === mode ? state.turn : 0;
  return keptInside({ ...state, told, budget, step: Math.min(step, budget), layer, turn, mode, wanted: null });
}

export function cursorRange(stage) {
  const { trace, mode, budget } = stage;
  if (mode === "phases") return [-trace.phases.length, budget];
  if (mode === "verify") return [0, verdictLength(stage)];
  return [0, budget];
}

export function cursorOf(stage) {
  if (stage.mode === "verify") return stage.turn;
  return stage.mode === "phases" && stage.step === 0 ? stage.layer : stage.step;
}

export function keptCount(stage) {
  return stage.mode === "verify" ? stage.budget : stage.step;
}

export function inLayers(stage) {
  return stage.mode === "phases" && stage.step === 0 && stage.layer < 0;
}

export function cursorName(stage) {
  if (inLayers(stage)) return ["Layer", `${stage.trace.phases.length + stage.layer + 1}`];
  if (stage.mode !== "verify") return ["Step", `${stage.step}`];
  return [stage.trace.verify.kind === "rolls" ? "Roll" : "Token", `${stage.turn}`];
}

// How far there is something to see: every roll, or one token beyond the longer accepted path.
export function verdictLength(stage) {
  const { verify } = stage.trace;
  if (verify.kind === "rolls") return verify.rolls.length;
  const longest = Math.max(
    ...SIDES.map((side) => acceptedBy(revealAt(stage.trace, side, stage.budget), verify.path, stage.budget)),
  );
  return Math.min(verify.said.length, longest + 1);
}

export function pathAt(stage) {
  const { verify } = stage.trace;
  if (stage.turn === 0) return [];
  return verify.kind === "rolls" ? verify.rolls[stage.turn - 1] : verify.path.slice(0, stage.turn);
}

export function isShown(stage, side, node) {
  return node === 0 || stage.reveals[side].at[node] < keptCount(stage);
}

export function hasPool(stage) {
  return Boolean(layoutOf(stage.trace, stage.budget, false).pool);
}
