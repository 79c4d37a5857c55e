import assert from "node:assert/strict";
import { before, test } from "node:test";
import { radiusOf } from "../../../eagle_viz/stage/js/30-geometry.js";
import { cut, placeLabels, ruler } from "../../../eagle_viz/stage/js/40-labels.js";

const WIDE = 6;
before(() => {
  ruler.measure = (text) => WIDE * [...text].length;
});

// A forest of random nodes in a panel, by a fixed generator: how labels are placed must not depend on trees being tidy.
function scatter(seed, count, named) {
  let state = seed;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const nodes = [{ path: "", parent: -1, value: 1, shown: "1.00" }];
  const places = new Map([[0, { x: 20, y: 200 }]]);
  for (let node = 1; node <= count; node++) {
    const value = random() ** 3;
    nodes.push({
      path: `${node}`,
      parent: 0,
      value,
      shown: value.toFixed(2),
      ...(named ? { text: "word".repeat(1 + (node % 4)) } : {}),
    });
    places.set(node, { x: 40 + 440 * random(), y: 20 + 360 * random() });
  }
  return { trace: { nodes }, picture: { places, across: 50, down: 20, width: 500 } };
}

// Boxes of what was placed, as a reader sees them: a line is about 9 px high above its baseline.
function boxes(labels, picture) {
  return [...labels].flatMap(([node, { value, token }]) =>
    [value, token].filter(Boolean).map((spot) => {
      const width = WIDE * [...spot.text].length;
      const x = picture.places.get(node).x + spot.dx - (spot.anchor === "middle" ? width / 2 : 0);
      const y = picture.places.get(node).y + spot.dy;
      return { node, x0: x, x1: x + width, y0: y - 9, y1: y };
    }),
  );
}

const hit = (a, b) => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;

for (const named of [false, true])
  for (const seed of [1, 2, 3, 4, 5])
    test(`no label lies on another or on another node's mark (${named ? "tokens" : "values"}, ${seed})`, () => {
      const { trace, picture } = scatter(seed, 120, named);
      const order = trace.nodes.map((_, node) => node).slice(1);
      const placed = boxes(
        placeLabels(trace, order, picture, () => true),
        picture,
      );
      assert.ok(placed.length > 40);
      for (const [i, one] of placed.entries()) {
        for (const two of placed.slice(i + 1)) assert.ok(!hit(one, two), `${one.node} on ${two.node}`);
        for (const node of order.filter((other) => other !== one.node)) {
          const { x, y } = picture.places.get(node);
          const r = radiusOf(trace.nodes[node].value, picture.down);
          assert.ok(!hit(one, { x0: x - r, x1: x + r, y0: y - r, y1: y + r }), `${one.node} on the mark of ${node}`);
        }
        assert.ok(one.x1 <= picture.width + 1);
      }
    });

test("a later node never takes the place of an earlier one, so that no label goes while stepping forward", () => {
  const { trace, picture } = scatter(9, 90, false);
  const order = trace.nodes.map((_, node) => node).slice(1);
  const before = placeLabels(trace, order, picture, () => true);
  for (const node of order.slice(50)) trace.nodes[node].shown = "a far longer text";
  const after = placeLabels(trace, order, picture, () => true);
  for (const node of order.slice(0, 50)) assert.deepEqual(after.get(node), before.get(node));
});

test("a long text is cut by signs, not by half of one", () => {
  assert.equal(cut("abcdef", 6), "abcdef");
  assert.equal(cut("abcdefg", 6), "abcde…");
  assert.equal(cut("🙂🙂🙂", 2), "🙂…");
});
