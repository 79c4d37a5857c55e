// Hand-made tables as Python sends them, small enough to be checked by eye.

import { readTrace } from "../../../eagle_viz/stage/js/20-trace.js";

// Root 0; children 1 (0.6) and 2 (0.3); below 1: 3 (0.5, worth 0.3). Static keeps 1, 2, 3; dynamic 1, 3, 2.
export function table(changes = {}) {
  const nodes = [
    { path: "", parent: -1, depth: 0, confidence: 1, value: 1, odds: "1.00", shown: "1.00" },
    { path: "0", parent: 0, depth: 1, confidence: 0.6, value: 0.6, odds: "0.60", shown: "0.60" },
    { path: "1", parent: 0, depth: 1, confidence: 0.3, value: 0.3, odds: "0.30", shown: "0.30" },
    { path: "0.0", parent: 1, depth: 2, confidence: 0.5, value: 0.3, odds: "0.50", shown: "0.30" },
  ];
  const layout = { nodes: [0, 1, 2, 3], y: [0.5, 0, 1, 0], breadth: 1, depth: 2 };
  return {
    id: "small",
    label: "small",
    tier: 32,
    tiers: [32],
    real: false,
    nodes,
    layouts: { 32: layout },
    sides: { static: side([1, 2, 3], [0, 0.6, 0.9, 1.2]), dynamic: side([1, 3, 2], [0, 0.6, 0.9, 1.2]) },
    phases: [
      { frontier: [0], scored: [1, 2], chosen: [1] },
      { frontier: [1], scored: [3], chosen: [] },
    ],
    verify: { kind: "rolls", seed: 0, rolls: [[1, 3], [2], []] },
    ...changes,
  };
}

export function side(order, expected, changes = {}) {
  const reveal = { order, expected, shown: expected.map((value) => value.toFixed(2)), least: [1, 0.6, 0.3, 0.3] };
  return { nested: true, available: order.length, reveals: { all: reveal }, ...changes };
}

export const small = (changes) => readTrace(table(changes));
