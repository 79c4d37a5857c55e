import assert from "node:assert/strict";
import { test } from "node:test";
import {
  barAt,
  budgetAtPrice,
  budgetTicks,
  budgetUnder,
  curvePath,
  frameOf,
  MARGIN,
  priceHeight,
  pricesOf,
  priceUnder,
  roundTicks,
  valueAt,
} from "../../../eagle_viz/stage/js/46-chart.js";

const SIZE = { width: 500, height: 190 };

test("every budget lies under its own pixel", () => {
  const { x } = frameOf(SIZE, [0, 128], [0, 6]);
  for (let budget = 1; budget <= 128; budget++) assert.equal(budgetUnder(x(budget), SIZE.width, 128), budget);
  assert.deepEqual([budgetUnder(-50, SIZE.width, 128), budgetUnder(9999, SIZE.width, 128)], [1, 128]);
});

test("ticks are round, at most six with 0, and none is above the top", () => {
  assert.deepEqual(roundTicks(6.3), [0, 2, 4, 6]);
  assert.deepEqual(roundTicks(1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  for (const top of [0.3, 1.06, 2.2, 9, 47]) {
    const ticks = roundTicks(top);
    assert.ok(ticks.length <= 6 && ticks.at(-1) <= top && ticks.at(-1) > top / 2, `${ticks}`);
  }
});

test("the budget's own number has room among the ticks", () => {
  assert.deepEqual(budgetTicks(128, 30), [0, 16, 64, 96, 128]);
});

test("a line joins known values only; a lone one is a dot", () => {
  const frame = { x: (value) => value, y: (value) => value };
  assert.equal(curvePath([0, 1, null, 3, null], frame), "M0.0 0.0L1.0 1.0M3.0 3.0h0.01");
});

test("beyond what a policy scores its last number holds", () => {
  assert.deepEqual([valueAt([0, 0.5, 0.8], 1), valueAt([0, 0.5, 0.8], 99), valueAt([0, null, 0.8], 1)], [0.5, 0.8, null]);
});

test("a bar stands on the axis, its height in proportion, the two of a level beside each other", () => {
  const frame = frameOf(SIZE, [0.5, 4.5], [0, 1]);
  const [one, two] = [barAt(2, false, 0.5, frame), barAt(2, true, 1, frame)];
  assert.equal(one.y + one.height, frame.bottom);
  assert.ok(Math.abs(two.height - 2 * one.height) < 1e-9 && two.y === MARGIN.top);
  assert.ok(one.x + one.width < two.x && barAt(1, true, 1, frame).x + two.width < one.x);
});

test("a budget is a price and back: the smallest product kept", () => {
  const products = [0.9, 0.72, 0.5, 0.5, 0.05];
  const curve = [0];
  for (const product of products) curve.push(curve.at(-1) + product);
  const prices = pricesOf(curve);
  for (const [i, product] of products.entries()) assert.ok(Math.abs(prices[i + 1] - product) < 1e-12);
  assert.deepEqual(
    [0.95, 0.9, 0.8, 0.6, 0.5, 0.06, 0.05, 0.001].map((price) => budgetAtPrice(prices, price)),
    [1, 1, 1, 2, 4, 4, 5, 5],
  );
});

test("the price under a pixel is the one that is drawn there", () => {
  const frame = frameOf(SIZE, [0, 128], [0, 6]);
  for (const price of [1, 0.37, 0.1, 0.004]) assert.ok(Math.abs(priceUnder(priceHeight(price, frame), frame) / price - 1) < 1e-9);
  assert.deepEqual([priceHeight(0, frame), priceHeight(1, frame)], [frame.bottom, frame.top]);
});
