import assert from "node:assert/strict";
import { test } from "node:test";
import {
  edgePath,
  HOME,
  middleOf,
  panned,
  placeAll,
  radiusOf,
  scaleFor,
  spotBeside,
  zoomed,
} from "../../../eagle_viz/stage/js/30-geometry.js";
import { small } from "./traces.mjs";

const SIZE = { width: 500, height: 300 };
const picture = (view) => {
  const trace = small();
  return placeAll(trace, trace.layouts[32], SIZE, view);
};
const close = (a, b) => assert.ok(Math.hypot(a.x - b.x, a.y - b.y) < 1e-6, `${JSON.stringify(a)} ${JSON.stringify(b)}`);

test("a level is a column, a parent sits between its children, all within the panel", () => {
  const { places } = picture(HOME);
  assert.equal(places.get(1).x, places.get(2).x);
  assert.ok(places.get(0).x < places.get(1).x && places.get(1).x < places.get(3).x);
  assert.equal(places.get(0).y, (places.get(1).y + places.get(2).y) / 2);
  for (const { x, y } of places.values()) assert.ok(x > 0 && x < SIZE.width && y > 0 && y < SIZE.height);
});

test("zooming keeps the point under the pointer, and panning moves every node alike", () => {
  const point = picture(HOME).places.get(3);
  for (const factor of [0.7, 1.4, 3]) close(picture(zoomed(HOME, factor, point, SIZE)).places.get(3), point);
  const moved = picture(panned(zoomed(HOME, 2, point, SIZE), 40, -10, SIZE)).places;
  const before = picture(zoomed(HOME, 2, point, SIZE)).places;
  for (const [node, { x, y }] of before) close(moved.get(node), { x: x + 40, y: y - 10 });
});

test("the view is never nearer than 40 times and never smaller than half", () => {
  const centre = { x: 250, y: 150 };
  assert.deepEqual([zoomed(HOME, 1e9, centre, SIZE).k, zoomed(HOME, 1e-9, centre, SIZE).k], [40, 0.5]);
});

test("a larger value never has a smaller mark", () => {
  const radii = [0, 0.02, 0.3, 1].map((value) => radiusOf(value, 20));
  assert.deepEqual(
    radii,
    [...radii].sort((a, b) => a - b),
  );
});

test("an edge leaves and arrives level", () => {
  assert.equal(edgePath({ x: 0, y: 0 }, { x: 10, y: 4 }), "M0.0 0.0C5.0 0.0 5.0 4.0 10.0 4.0");
});

test("the zoom buttons zoom on the middle of what is shown, as far as it is in sight", () => {
  assert.deepEqual(
    middleOf(
      [
        { x: 20, y: 40 },
        { x: 120, y: 280 },
      ],
      SIZE,
    ),
    { x: 70, y: 160 },
  );
  assert.deepEqual(middleOf([{ x: 900, y: -50 }], SIZE), { x: 500, y: 0 });
  assert.deepEqual(middleOf([], SIZE), { x: 250, y: 150 });
});

test("a tip covers no node and no edge of the way that it explains", () => {
  const box = { width: 180, height: 50 };
  let state = 7;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  for (let round = 0; round < 200; round++) {
    const way = Array.from({ length: 2 + (round % 5) }, (_, i) => ({ x: 20 + 60 * i, y: 20 + 260 * random() }));
    const spot = spotBeside(box, way, SIZE);
    assert.ok(spot.x >= 0 && spot.y >= 0 && spot.x + box.width <= SIZE.width && spot.y + box.height <= SIZE.height);
    for (const { x, y } of way)
      assert.ok(x < spot.x || x > spot.x + box.width || y < spot.y || y > spot.y + box.height, `${JSON.stringify({ way, spot })}`);
  }
});

test("a larger screen never has smaller words", () => {
  const scales = [
    [390, 844],
    [1024, 768],
    [1280, 800],
    [1920, 1080],
    [3840, 2160],
  ].map((screen) => scaleFor(...screen));
  assert.deepEqual(
    scales,
    [...scales].sort((a, b) => a - b),
  );
  assert.ok(scales[1] > 1.2 && scales[3] > 1.7 && scales[0] === 1 && scales[4] === 1.8);
});
