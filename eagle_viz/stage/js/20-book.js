// The book: reads a trace. Which node is shown when was decided in Python; these functions only look it up.

const SIDES = ["static", "dynamic"];
const OTHER = { static: "dynamic", dynamic: "static" };
const NEVER = 1 << 30;

function makeBook(trace) {
  const children = trace.nodes.map(() => []);
  trace.nodes.forEach((node, i) => node.parent >= 0 && children[node.parent].push(i));
  const index = new Map(trace.nodes.map((node, i) => [node.path, i]));
  return { trace, nodes: trace.nodes, children, index, pages: new Map() };
}

// What a side reveals at a budget; null where Python has to be asked first.
function pageOf(book, side, budget) {
  const { nested, reveals, available } = book.trace.sides[side];
  const name = nested ? "all" : String(Math.min(budget, available));
  if (!reveals[name]) return null;
  const key = `${side} ${name}`;
  if (!book.pages.has(key)) book.pages.set(key, makePage(book, reveals[name]));
  return book.pages.get(key);
}

function makePage(book, reveal) {
  const at = new Int32Array(book.nodes.length).fill(NEVER);
  reveal.order.forEach((node, step) => (at[node] = step));
  at[0] = -1;
  return { ...reveal, at };
}

// Every node that a side reveals at any budget.
function keptBy(book, side) {
  return [...new Set(Object.values(book.trace.sides[side].reveals).flatMap((reveal) => reveal.order))];
}

function serves(book, budget) {
  return budget <= book.trace.tier && SIDES.every((side) => pageOf(book, side, budget));
}

function tierOf(book, budget) {
  return book.trace.tiers.find((tier) => budget <= tier) ?? book.trace.tier;
}

function layoutOf(book, budget, withPool) {
  const layout = book.trace.layouts[tierOf(book, budget)];
  return (withPool && layout.pool) || layout;
}

function wayTo(book, node) {
  const way = [];
  for (let here = node; here >= 0; here = book.nodes[here].parent) way.unshift(here);
  return way;
}

// "0.57 × 0.78 = 0.44", from the texts that Python wrote.
function spelled(book, node) {
  if (node === 0) return "the last committed token, worth 1";
  const odds = wayTo(book, node)
    .slice(1)
    .map((i) => book.nodes[i].odds);
  const value = book.nodes[node].shown;
  return odds.length > 1 ? `${odds.join(" × ")} = ${value}` : value;
}

function nameOf(book, node) {
  const { path, text } = book.nodes[node];
  return text === undefined ? path : `${text} (${path})`;
}
