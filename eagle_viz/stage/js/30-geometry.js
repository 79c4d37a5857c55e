// Where things are on the screen. World pixels are the picture at fit; the view zooms into them, alike in both panels.

import { clamp } from "./10-dom.js";

const PAD = { left: 22, right: 30, top: 22, bottom: 18 };
const LARGEST = { across: 56, down: 34 };
const LARGEST_WITH_TOKENS = { across: 92, down: 44 };
const ROOM_FOR_TOKEN = 44;
export const HOME = { k: 1, x: 0.5, y: 0.5 };

function unitsOf(layout, size, real) {
  const most = real ? LARGEST_WITH_TOKENS : LARGEST;
  const right = PAD.right + (real ? ROOM_FOR_TOKEN : 0);
  return {
    across: Math.min(most.across, (size.width - PAD.left - right) / Math.max(layout.depth, 1)),
    down: Math.min(most.down, (size.height - PAD.top - PAD.bottom) / Math.max(layout.breadth, 1)),
  };
}

// Screen position of each node of a layout, by node index.
export function placeAll(trace, layout, size, view) {
  const units = unitsOf(layout, size, trace.real);
  const places = new Map();
  layout.nodes.forEach((node, row) => {
    const worldX = PAD.left + trace.nodes[node].depth * units.across;
    const worldY = size.height / 2 + (PAD.top - PAD.bottom) / 2 + (layout.y[row] - layout.breadth / 2) * units.down;
    places.set(node, toScreen(worldX, worldY, size, view));
  });
  return { places, across: units.across * view.k, down: units.down * view.k, width: size.width };
}

function toScreen(worldX, worldY, size, view) {
  return {
    x: (worldX - view.x * size.width) * view.k + size.width / 2,
    y: (worldY - view.y * size.height) * view.k + size.height / 2,
  };
}

// Zoom by a factor so that the point under the pointer stays where it is.
export function zoomed(view, factor, point, size) {
  const k = clamp(view.k * factor, 0.5, 40);
  const shift = (at, length, centre) => centre + ((at - length / 2) / length) * (1 / view.k - 1 / k);
  return { k, x: shift(point.x, size.width, view.x), y: shift(point.y, size.height, view.y) };
}

export function panned(view, dx, dy, size) {
  return { k: view.k, x: view.x - dx / size.width / view.k, y: view.y - dy / size.height / view.k };
}

export function radiusOf(value, down) {
  return (2.6 + 6.6 * Math.sqrt(value)) * clamp(down / 15, 0.55, 1);
}

export function edgePath(from, to) {
  const at = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const middle = (from.x + to.x) / 2;
  return `M${at(from.x, from.y)}C${at(middle, from.y)} ${at(middle, to.y)} ${at(to.x, to.y)}`;
}
