// Where things are on the screen. World pixels are the picture at fit; the view zooms into them, alike in both panels.

import { clamp } from "./10-dom.js";

const PAD = { left: 22, right: 30, top: 22, bottom: 18 };
const LARGEST = { across: 56, down: 34 };
const LARGEST_WITH_TOKENS = { across: 92, down: 44 };
const ROOM_FOR_TOKEN = 44;
export const HOME = { k: 1, x: 0.5, y: 0.5 };

// How much larger everything is on a screen of this size: 1.24 at 1024 x 768, 1.74 at 1920 x 1080.
export function scaleFor(width, height) {
  return clamp(Math.min(width / 820, height / 620), 1, 1.8);
}

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

// The middle of what is shown, as far as it is in sight: where the zoom buttons zoom.
export function middleOf(points, size) {
  if (!points.length) return { x: size.width / 2, y: size.height / 2 };
  const middle = (values, length) => clamp((Math.min(...values) + Math.max(...values)) / 2, 0, length);
  return {
    x: middle(
      points.map(({ x }) => x),
      size.width,
    ),
    y: middle(
      points.map(({ y }) => y),
      size.height,
    ),
  };
}

// Points along an edge, its ends included.
function alongEdge(from, to) {
  return [0, 0.2, 0.4, 0.6, 0.8, 1].map((t) => {
    const u = 1 - t;
    const middle = (from.x + to.x) / 2;
    const x = u ** 3 * from.x + 3 * u * t * middle + t ** 3 * to.x;
    return { x, y: (u ** 3 + 3 * u * u * t) * from.y + (3 * u * t * t + t ** 3) * to.y };
  });
}

// Where a box of this size explains the last point of a way and covers none of it: beside the point where that is free, else
// wherever the least of the way lies beneath. {x, y} is the upper left corner.
export function spotBeside(box, way, size) {
  const { x, y } = way.at(-1);
  const points = way.flatMap((point, i) => (i ? alongEdge(way[i - 1], point) : [point]));
  const inside = (left, top) => ({
    x: clamp(left, 4, Math.max(size.width - box.width - 4, 4)),
    y: clamp(top, 2, Math.max(size.height - box.height - 2, 2)),
  });
  const [right, middle, bottom] = [size.width - box.width, x - box.width / 2, size.height - box.height];
  const spots = [
    [middle, y + 18],
    [middle, y - 18 - box.height],
    [x + 18, y + 14],
    [x + 18, y - 14 - box.height],
    [x + 22, y - box.height / 2],
    [right, bottom],
    [right, 0],
    [0, bottom],
    [0, 0],
  ].map(([left, top]) => inside(left, top));
  const covered = (spot) =>
    points.filter(
      (point) =>
        point.x > spot.x - 12 && point.x < spot.x + box.width + 12 && point.y > spot.y - 12 && point.y < spot.y + box.height + 12,
    ).length;
  return spots.reduce((best, spot) => (covered(spot) < covered(best) ? spot : best));
}

export function radiusOf(value, down) {
  return (2.6 + 6.6 * Math.sqrt(value)) * clamp(down / 15, 0.55, 1);
}

export function edgePath(from, to) {
  const at = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const middle = (from.x + to.x) / 2;
  return `M${at(from.x, from.y)}C${at(middle, from.y)} ${at(middle, to.y)} ${at(to.x, to.y)}`;
}
