import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cursorOf,
  cursorRange,
  inLayers,
  keptCount,
  reduce,
  START,
  update,
  verdictLength,
} from "../../../eagle_viz/stage/js/35-state.js";
import { side, small, table } from "./traces.mjs";

const at = (changes = {}) => ({ ...START, trace: small(), budget: 3, step: 3, ...changes });
const after = (state, change) => ({ ...state, ...reduce(state, change) });

test("a change names only the fields that differ, and leaves the state it came from alone", () => {
  const state = Object.freeze(at());
  assert.deepEqual(reduce(state, { cursor: 2 }), { step: 2 });
  assert.deepEqual(reduce(state, { cursor: 3 }), {});
  const stage = { ...at(), scenes: "untouched" };
  update(stage, { cursor: 1 });
  assert.deepEqual([stage.step, stage.scenes], [1, "untouched"]);
});

test("a cursor stays within its range in every mode", () => {
  for (const mode of ["nodes", "phases", "verify"])
    for (const cursor of [-99, -1.4, 0, 1.6, 99]) {
      const state = after(at({ mode, step: 0, layer: mode === "phases" ? -2 : 0 }), { cursor });
      const [low, high] = cursorRange(state);
      assert.equal(cursorOf(state), Math.min(Math.max(Math.round(cursor), low), high) + 0, `${mode} ${cursor}`);
      assert.ok(keptCount(state) >= 0 && keptCount(state) <= state.budget);
    }
});

test("a budget that is served shows the whole trees; one that is not is asked for and the picture stays", () => {
  assert.deepEqual(reduce(at({ step: 1 }), { budget: 2 }), { budget: 2, step: 2 });
  assert.deepEqual(reduce(at(), { budget: 40 }), { wanted: 40 });
  assert.deepEqual(reduce(at({ options: { ...START.options, max_budget: 20 } }), { budget: 999 }), { budget: 20, step: 20 });
  assert.deepEqual(reduce(at({ wanted: 40 }), { budget: 3 }), { wanted: null });
});

test("phases begin at the first layer, the other modes with the whole trees", () => {
  const phases = after(at(), { mode: "phases" });
  assert.deepEqual([phases.step, phases.layer, inLayers(phases)], [0, -2, true]);
  const nodes = after(phases, { mode: "nodes" });
  assert.deepEqual([nodes.step, nodes.layer], [3, 0]);
  assert.deepEqual(reduce(at({ mode: "verify", turn: 2, step: 1 }), { mode: "nodes" }), { mode: "nodes", turn: 0 });
});

test("a new trace answers a wanted budget, keeps what is looked at by its path, and cuts what it does not serve", () => {
  const state = at({ wanted: 9, look: { node: 3, side: "static", pinned: true } });
  const nodes = [table().nodes[0], { ...table().nodes[1] }, { ...table().nodes[3], parent: 1 }];
  const next = table({ id: "next", nodes, sides: { static: side([1, 2], [0, 0.6, 0.9]), dynamic: side([1, 2], [0, 0.6, 0.9]) } });
  const moved = after(state, { trace: next });
  assert.deepEqual([moved.budget, moved.step, moved.wanted, moved.look.node], [9, 9, null, 2]);
  const small = after(at({ budget: 50, step: 40 }), { trace: table({ id: "other" }) });
  assert.deepEqual([small.budget, small.step], [32, 32]);
  const gone = after(state, { trace: table({ id: "gone", nodes: nodes.slice(0, 2) }) });
  assert.equal(gone.look, null);
});

test("the same trace again changes nothing", () => {
  assert.deepEqual(reduce(at(), { trace: table(), options: {} }), { options: START.options });
});

test("a command is obeyed whole, and leaves the roll where it was only within verify", () => {
  const command = { told: 7, budget: 2, step: 9, mode: "verify" };
  assert.deepEqual(reduce(at({ mode: "verify", turn: 2, wanted: 9 }), { command }), {
    budget: 2,
    step: 2,
    wanted: null,
    told: 7,
  });
  assert.equal(after(at({ turn: 2 }), { command }).turn, 0);
  assert.equal(after(at(), { command: { ...command, mode: "phases", step: 0 } }).layer, -2);
});

test("a recorded verdict ends one token beyond the longer accepted path", () => {
  const verify = { kind: "recorded", path: [1, 3], said: ["a", "b", "c", "d"] };
  const trace = small({ verify });
  assert.deepEqual(
    [0, 1, 3].map((budget) => verdictLength(at({ trace, budget }))),
    [1, 2, 3],
  );
});
