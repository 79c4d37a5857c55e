// Where the lines, bars and ticks of the two charts stand, in pixels; nothing here touches the page.

import { clamp } from "./10-dom.js";

export const MARGIN = { left: 30, right: 34, top: 10, bottom: 24 };
const BUDGET_TICKS = [0, 16, 32, 64, 96, 128, 192, 256, 384, 512];

// A number of `domain` as a pixel of `range`.
export function linear([low, high], [start, end]) {
  return (value) => start + ((value - low) / (high - low || 1)) * (end - start);
}

export function frameOf({ width, height }, across, up) {
  return {
    x: linear(across, [MARGIN.left, width - MARGIN.right]),
    y: linear(up, [height - MARGIN.bottom, MARGIN.top]),
    left: MARGIN.left,
    right: width - MARGIN.right,
    top: MARGIN.top,
    bottom: height - MARGIN.bottom,
  };
}

// Round numbers from 0 to the top, at most five steps of 1, 2 or 5 times a power of ten.
export function roundTicks(top) {
  const rough = top / 5;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9));
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

// Ticks that leave room for the current budget, which is written among them.
export function budgetTicks(most, budget) {
  return BUDGET_TICKS.filter((tick) => tick <= most && Math.abs(tick - budget) > most / 16);
}

// A line through the values that are known (entry i at i), and a dot where both neighbours are unknown.
export function curvePath(values, { x, y }) {
  let path = "";
  for (const [i, value] of values.entries()) {
    if (value === null) continue;
    const at = `${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    path += i > 0 && values[i - 1] !== null ? `L${at}` : `M${at}`;
    if ((values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null) path += "h0.01";
  }
  return path;
}

export function budgetUnder(px, width, most) {
  return clamp(Math.round(linear([MARGIN.left, width - MARGIN.right], [0, most])(px)), 1, most);
}

// The expected tokens at a budget: beyond what a policy scores its last number holds; null where Python has not traced it.
export function valueAt(curve, budget) {
  return curve[Math.min(budget, curve.length - 1)];
}

// The price at each budget of a policy that keeps the largest products: the smallest product kept, which is how much the curve
// rises there; 1 where nothing is kept.
export function pricesOf(curve) {
  return curve.map((value, budget) => (budget ? value - curve[budget - 1] : 1));
}

// The largest budget at which every node kept is worth the price.
export function budgetAtPrice(prices, price) {
  const cheaper = prices.findIndex((one) => one < price * (1 - 1e-9));
  return Math.max(1, (cheaper < 0 ? prices.length : cheaper) - 1);
}

// Prices stand on a scale of powers of ten, 1 at the top.
export const PRICE_TICKS = [1, 0.1, 0.01];
const CHEAPEST = -3;

export function priceHeight(price, { top, bottom }) {
  return linear([CHEAPEST, 0], [bottom, top])(clamp(Math.log10(Math.max(price, 1e-9)), CHEAPEST, 0));
}

export function priceUnder(px, { top, bottom }) {
  return 10 ** linear([bottom, top], [CHEAPEST, 0])(clamp(px, top, bottom));
}

// One bar of a group of two a level: level 1 first; the group is centred on its level.
export function barAt(level, second, value, { x, y, bottom }) {
  const wide = clamp((x(2) - x(1)) * 0.36, 1, 26);
  return { x: x(level) + (second ? 1 : -wide - 1), y: y(value), width: wide, height: Math.max(bottom - y(value), 0) };
}
