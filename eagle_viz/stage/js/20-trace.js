// Reading a trace. Which node is shown when was decided in Python; these functions only look it up.

export const SIDES = ["static", "dynamic"];
export const OTHER = { static: "dynamic", dynamic: "static" };
const NEVER = 1 << 30;
export const FAINT = 0.02;

// The table that Python sent, with each node's children and the way from a path to its node; `table` is what came.
export function readTrace(table) {
  const children = table.nodes.map(() => []);
  for (const [i, node] of table.nodes.entries()) if (node.parent >= 0) children[node.parent].push(i);
  const index = new Map(table.nodes.map((node, i) => [node.path, i]));
  return { ...table, table, children, index, made: new Map() };
}

// What a side reveals at a budget; null where Python has to be asked first.
export function revealAt(trace, side, budget) {
  const { nested, reveals, available } = trace.sides[side];
  const name = nested ? "all" : String(Math.min(budget, available));
  if (!reveals[name]) return null;
  const key = `${side} ${name}`;
  if (!trace.made.has(key)) trace.made.set(key, makeReveal(trace, reveals[name]));
  return trace.made.get(key);
}

function makeReveal(trace, reveal) {
  const at = new Int32Array(trace.nodes.length).fill(NEVER);
  for (const [step, node] of reveal.order.entries()) at[node] = step;
  at[0] = -1;
  return { ...reveal, at };
}

// Every node that a side reveals at any budget.
export function keptBy(trace, side) {
  return [...new Set(Object.values(trace.sides[side].reveals).flatMap((reveal) => reveal.order))];
}

export function serves(trace, budget) {
  return budget <= trace.tier && SIDES.every((side) => revealAt(trace, side, budget));
}

export function tierOf(trace, budget) {
  return trace.tiers.find((tier) => budget <= tier) ?? trace.tier;
}

export function layoutOf(trace, budget, withPool) {
  const layout = trace.layouts[tierOf(trace, budget)];
  return (withPool && layout.pool) || layout;
}

export function wayTo(trace, node) {
  const way = [];
  for (let here = node; here >= 0; here = trace.nodes[here].parent) way.unshift(here);
  return way;
}

// "0.57 × 0.78 = 0.44", from the texts that Python wrote.
export function spelled(trace, node) {
  if (node === 0) return "the last committed token, worth 1";
  const odds = wayTo(trace, node)
    .slice(1)
    .map((i) => trace.nodes[i].odds);
  const value = trace.nodes[node].shown;
  return odds.length > 1 ? `${odds.join(" × ")} = ${value}` : value;
}

// The two policies as the sentences call them, the static side first.
export function sideNames(trace) {
  return SIDES.map((side) => trace.sides[side].name);
}

// What a tree with `count` nodes promises: expected tokens by level, the chance that a whole branch is accepted, the depth reached.
export function factsOf(trace, reveal, count) {
  const kept = reveal.order.slice(0, count).map((node) => ({ node, ...trace.nodes[node] }));
  const levels = [];
  for (const { depth, value } of kept) levels[depth - 1] = (levels[depth - 1] ?? 0) + value;
  const parents = new Set(kept.map(({ parent }) => parent));
  const branch = kept.reduce((sum, { node, value }) => sum + (parents.has(node) ? 0 : value), 0);
  return { levels, branch, depth: levels.length };
}

// Whether a node is drawn as worth under 0.02: by the number that stands beside it, so that label and look agree.
export function isFaint({ shown }) {
  return shown.startsWith("<") || Number(shown) < FAINT;
}

export function passesAt({ passes }, budget) {
  return passes[Math.min(budget, passes.length - 1)];
}

// Two decimals, an exact tie to the even digit as Python writes it: 0.125 is 0.12.
export function twoDecimals(value) {
  const tie = Number.isInteger(value * 8) && !Number.isInteger(value * 4) && Math.abs(value) < 2 ** 40;
  const even = 2 * Math.round((100 * value) / 2);
  return tie && Math.abs(even - 100 * value) === 0.5 ? (even / 100).toFixed(2) : value.toFixed(2);
}

export function nameOf(trace, node) {
  const { path, text } = trace.nodes[node];
  return text === undefined ? path : `${text} (${path})`;
}

export function leastOf(reveal, count) {
  return reveal.least[Math.min(count, reveal.least.length - 1)];
}

export function expectedAt(reveal, count) {
  const row = Math.min(count, reveal.expected.length - 1);
  return { number: reveal.expected[row], text: reveal.shown[row] };
}

export function gainText(fixed, free) {
  if (fixed === 0) return free === 0 ? "0%" : "∞";
  const percent = Math.round((free / fixed - 1) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "-" : ""}${Math.abs(percent)}%`;
}

export function acceptedBy(reveal, path, budget) {
  return path.filter((node) => reveal.at[node] < budget).length;
}
