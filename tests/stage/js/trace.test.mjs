import assert from "node:assert/strict";
import { test } from "node:test";
import {
  acceptedBy,
  expectedAt,
  factsOf,
  gainText,
  isFaint,
  keptBy,
  layoutOf,
  leastOf,
  nameOf,
  passesAt,
  revealAt,
  serves,
  spelled,
  tierOf,
  twoDecimals,
  wayTo,
} from "../../../eagle_viz/stage/js/20-trace.js";
import { side, small, table } from "./traces.mjs";

test("children and paths are those of the table, which itself is kept as it came", () => {
  const trace = small();
  assert.deepEqual(trace.children, [[1, 2], [3], [], []]);
  assert.equal(trace.index.get("0.0"), 3);
  assert.deepEqual(trace.table, table());
});

test("a node is revealed at its place in the order, the root before all, the rest never", () => {
  const trace = small({ sides: { static: side([1], [0, 0.6]), dynamic: side([1, 3, 2], [0, 0.6, 0.9, 1.2]) } });
  const { at } = revealAt(trace, "dynamic", 3);
  assert.deepEqual([...at], [-1, 0, 2, 1]);
  assert.ok(revealAt(trace, "static", 3).at[3] > 1e9);
});

test("a policy that chooses anew at each budget is served only where Python has sent that budget", () => {
  const anew = side([1, 2], [0, 0.6, 0.9], { nested: false, available: 4 });
  anew.reveals = { 2: anew.reveals.all, 4: { ...anew.reveals.all, order: [1, 3] } };
  const trace = small({ sides: { static: anew, dynamic: side([1, 3, 2], [0, 0.6, 0.9, 1.2]) } });
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((budget) => serves(trace, budget)),
    [false, true, false, true, true],
  );
  assert.deepEqual(keptBy(trace, "static").sort(), [1, 2, 3]);
});

test("expected tokens and the least value stay at the last row beyond what was scored", () => {
  const reveal = revealAt(small(), "static", 3);
  assert.deepEqual(expectedAt(reveal, 2), { number: 0.9, text: "0.90" });
  assert.deepEqual(expectedAt(reveal, 30), { number: 1.2, text: "1.20" });
  assert.equal(leastOf(reveal, 30), 0.3);
});

test("a path spells its product from the texts that Python wrote", () => {
  const trace = small();
  assert.deepEqual(wayTo(trace, 3), [0, 1, 3]);
  assert.equal(spelled(trace, 3), "0.60 × 0.50 = 0.30");
  assert.equal(spelled(trace, 1), "0.60");
  assert.match(spelled(trace, 0), /worth 1$/);
  assert.equal(nameOf(trace, 3), "0.0");
});

test("a tree accepts the part of a path that it shows at this budget", () => {
  const reveal = revealAt(small(), "dynamic", 3);
  assert.deepEqual(
    [0, 1, 2, 3].map((budget) => acceptedBy(reveal, [1, 3], budget)),
    [0, 1, 2, 2],
  );
});

test("a gain is a signed whole percentage, and none where both are 0", () => {
  assert.deepEqual(
    [gainText(2, 2.4), gainText(2, 1.9), gainText(2, 2), gainText(0, 0), gainText(0, 1)],
    ["+20%", "-5%", "0%", "0%", "∞"],
  );
});

test("a budget belongs to the smallest tier that holds it", () => {
  const layouts = { 32: { name: "small", pool: { name: "pool" } }, 64: { name: "large" } };
  const trace = small({ tier: 64, tiers: [32, 64], layouts });
  assert.deepEqual(
    [1, 32, 33, 64].map((budget) => tierOf(trace, budget)),
    [32, 32, 64, 64],
  );
  assert.deepEqual(
    [layoutOf(trace, 9, false).name, layoutOf(trace, 9, true).name, layoutOf(trace, 40, true).name],
    ["small", "pool", "large"],
  );
});

test("a tree's numbers: expected tokens by level, the chance that a whole branch is accepted, the deepest level", () => {
  const trace = small();
  const reveal = revealAt(trace, "static", 3);
  const rounded = ({ levels, branch, depth }) => [levels.map(twoDecimals), twoDecimals(branch), depth];
  assert.deepEqual(rounded(factsOf(trace, reveal, 0)), [[], "0.00", 0]);
  assert.deepEqual(rounded(factsOf(trace, reveal, 2)), [["0.90"], "0.90", 1]);
  assert.deepEqual(rounded(factsOf(trace, reveal, 3)), [["0.90", "0.30"], "0.60", 2]);
});

test("two decimals are those of Python, exact ties to the even digit", () => {
  const texts = [0.125, 0.375, 0.625, 0.875, 1.125, 0.005, 0.015, 2.675, 0.1 + 0.2].map(twoDecimals);
  assert.deepEqual(texts, ["0.12", "0.38", "0.62", "0.88", "1.12", "0.01", "0.01", "2.67", "0.30"]);
});

test("draft passes are those of the budget, the last where there are no more", () => {
  assert.deepEqual(
    [passesAt({ passes: [0, 1, 2] }, 1), passesAt({ passes: [0, 1, 2] }, 9), passesAt({ passes: [6] }, 4)],
    [1, 2, 6],
  );
});

test("a node is drawn as worth under 0.02 only where the number beside it is under 0.02", () => {
  assert.deepEqual(
    ["<0.01", "0.01", "0.02", "0.03", "1.00"].map((shown) => isFaint({ shown })),
    [true, true, false, false, false],
  );
});
