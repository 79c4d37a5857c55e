// Labels that never overlap: in reveal order each takes the first free spot beside its node, or stays away until hover or zoom.
// Later nodes never push out earlier ones, so a label does not vanish while stepping forward.

import { radiusOf } from "./30-geometry.js";

const LINE = 12;
const CELL = 48;
export const LONGEST_TOKEN = 12;

// Measures texts in the page's font, each once; a test without a page puts a measure of its own in.
export const ruler = { widths: new Map(), font: "10.5px sans-serif", pen: null, measure: widthInPage };

function widthInPage(text, weight) {
  ruler.pen ??= document.createElement("canvas").getContext("2d");
  ruler.pen.font = `${weight} ${ruler.font}`;
  return ruler.pen.measureText(text).width;
}

function textWidth(text, weight) {
  const key = weight + text;
  if (!ruler.widths.has(key)) ruler.widths.set(key, ruler.measure(text, weight));
  return ruler.widths.get(key);
}

function makeGrid(width) {
  return { cells: new Map(), width };
}

function* cellsOf(box) {
  for (let cx = Math.floor(box.x0 / CELL); cx <= Math.floor(box.x1 / CELL); cx++)
    for (let cy = Math.floor(box.y0 / CELL); cy <= Math.floor(box.y1 / CELL); cy++) yield `${cx},${cy}`;
}

function occupy(grid, box) {
  for (const cell of cellsOf(box)) {
    if (!grid.cells.has(cell)) grid.cells.set(cell, []);
    grid.cells.get(cell).push(box);
  }
}

function isFree(grid, box, owner) {
  for (const cell of cellsOf(box))
    for (const other of grid.cells.get(cell) ?? [])
      if (other.owner !== owner && box.x0 < other.x1 && other.x0 < box.x1 && box.y0 < other.y1 && other.y0 < box.y1) return false;
  return true;
}

function boxAt(owner, x, y, width, anchor) {
  const x0 = anchor === "middle" ? x - width / 2 : x;
  return { owner, x0: x0 - 1, x1: x0 + width + 1, y0: y - LINE + 2, y1: y + 2.5 };
}

// Spots for a text beside a mark, best first: {dx, dy, anchor}. A text to the right of an inner node lies on its edges, so it comes last.
function spotsFor(radius, isLeaf, isToken) {
  const above = { dx: 0, dy: -radius - 4, anchor: "middle" };
  const below = { dx: 0, dy: radius + 11, anchor: "middle" };
  const right = { dx: radius + 6, dy: 3.5, anchor: "start" };
  if (isToken) return isLeaf ? [right, above, below] : [above, right, below];
  return isLeaf ? [above, right, below] : [above, below, right];
}

// A value belongs to its token: behind it on one line, or across the mark from it.
function spotsBeside(token, radius, width) {
  const below = { dx: 0, dy: radius + 11, anchor: "middle" };
  const right = { dx: radius + 6, dy: 3.5, anchor: "start" };
  if (!token) return [];
  if (token.anchor === "start") return [{ dx: token.dx + width + 5, dy: token.dy, anchor: "start" }, below];
  return token.dy < 0 ? [below, right] : [{ dx: 0, dy: -radius - 4, anchor: "middle" }, right];
}

export function cut(text, length) {
  const signs = [...text];
  return signs.length <= length ? text : `${signs.slice(0, length - 1).join("")}…`;
}

export function place(grid, node, point, texts, spots, weight) {
  for (const text of texts)
    for (const spot of spots) {
      const box = boxAt(node, point.x + spot.dx, point.y + spot.dy, textWidth(text, weight), spot.anchor);
      const cutOff = point.x < grid.width && box.x1 > grid.width; // a label of a node in sight must not run out of it
      if (cutOff || !isFree(grid, box, node)) continue;
      occupy(grid, { ...box, owner: null });
      return { text, ...spot };
    }
  return null;
}

function tokenTexts(text, across) {
  const whole = cut(text, LONGEST_TOKEN);
  const fitting = Math.floor(across / 6.5);
  return fitting >= 4 && fitting < [...whole].length ? [whole, cut(text, fitting)] : [whole];
}

// For each node of a side: {value, token} spots or null. `order` is the reveal order, `leaf(node)` whether nothing ever hangs below it.
export function placeLabels(trace, order, picture, leaf) {
  const grid = makeGrid(picture.width);
  const marks = order.filter((node) => picture.places.has(node));
  for (const node of [0, ...marks]) occupyMark(grid, trace, node, picture);
  const labels = new Map();
  for (const node of marks) labels.set(node, labelsOf(grid, trace, node, picture, leaf(node)));
  return labels;
}

function occupyMark(grid, trace, node, picture) {
  const { x, y } = picture.places.get(node);
  const r = node === 0 ? 8 : radiusOf(trace.nodes[node].value, picture.down);
  occupy(grid, { owner: node, x0: x - r, x1: x + r, y0: y - r, y1: y + r });
}

function labelsOf(grid, trace, node, picture, isLeaf) {
  const { value, shown, text } = trace.nodes[node];
  const point = picture.places.get(node);
  const radius = radiusOf(value, picture.down);
  if (text === undefined) {
    const weight = value >= 0.1 ? 600 : 400;
    return { token: null, value: place(grid, node, point, [shown], spotsFor(radius, isLeaf, false), weight) };
  }
  const token = place(grid, node, point, tokenTexts(text, picture.across), spotsFor(radius, isLeaf, true), 600);
  const width = token ? textWidth(token.text, 600) : 0;
  return { token, value: place(grid, node, point, [shown], spotsBeside(token, radius, width), 400) };
}
