// The numbers and the two charts below the trees: they follow every step and every drag in the frame that draws it.

import { html, setAttribute, setText, svg } from "./10-dom.js";
import { expectedAt, factsOf, passesAt, revealAt, SIDES, sideNames, twoDecimals } from "./20-trace.js";
import { inLayers } from "./35-state.js";
import {
  barAt,
  budgetAtPrice,
  budgetTicks,
  budgetUnder,
  curvePath,
  frameOf,
  PRICE_TICKS,
  priceHeight,
  pricesOf,
  priceUnder,
  roundTicks,
  valueAt,
} from "./46-chart.js";

const FACTS = ["wasted", "branch", "deepest", "draft"];

function makeFact(name) {
  return html("div", { "data-testid": `readout-${name}` }, [
    html("strong"),
    html("p", {}, [html("b", { class: "static" }), " ", html("span")]),
    html("small"),
  ]);
}

function makeChart(name, title, remark) {
  const plot = svg("svg", { class: "plot", role: "group", "data-testid": `stage-${name}` }, [
    svg("g", { class: "axes", "aria-hidden": "true" }),
    svg("g", { class: "shapes" }),
    svg("g", { class: "here" }),
  ]);
  const key = SIDES.map((side) => html("span", { class: side }, [html("i"), html("span", { class: "name" }), html("b")]));
  return html("figure", { class: `card ${name}` }, [
    html("figcaption", {}, [html("strong", {}, [title]), ` ${remark}`]),
    html("p", { class: "key" }, [...key, ...(name === "curve" ? [makePriceKey()] : []), html("span", { class: "when" })]),
    plot,
  ]);
}

const PRICE_WORDS =
  "The smallest path product kept (right-hand scale): what one more node must be worth to be in the tree. " +
  "Drag its mark at the right: every price is a budget. Dashed outlines mark nodes of the other tree that are worth less.";

function makePriceKey() {
  return html("span", { class: "price", title: PRICE_WORDS, "data-testid": "stage-price-key" }, [
    html("i"),
    html("span", {}, ["Price of a node"]),
    html("strong"),
  ]);
}

export function makeNumbers() {
  return html("section", { class: "numbers", "aria-label": "Numbers of both trees" }, [
    html("p", { class: "when", "data-testid": "stage-when" }),
    html("div", { class: "facts" }, FACTS.map(makeFact)),
    html("div", { class: "cards" }, [
      makeChart("curve", "Expected accepted against budget", "tokens per pass, bonus not counted; click to set the budget"),
      makeChart("depth", "By depth", "expected tokens of each level"),
    ]),
  ]);
}

export function numberParts(root) {
  const cells = FACTS.map((name) => {
    const cell = root.querySelector(`[data-testid="readout-${name}"]`);
    const [title, first, second, remark] = ["strong", "b", "p span", "small"].map((one) => cell.querySelector(one));
    return [name, { title, first, second, remark }];
  });
  const charts = ["curve", "depth"].map((name) => {
    const card = root.querySelector(`.card.${name}`);
    const [plot, axes, shapes, here] = [".plot", ".axes", ".shapes", ".here"].map((one) => card.querySelector(one));
    const price = card.querySelector(".key .price");
    const names = [...card.querySelectorAll(".key .name")];
    const values = [...card.querySelectorAll(".key b")];
    return [
      name,
      { card, plot, axes, shapes, here, price, names, values, when: card.querySelector(".when"), size: null, drawn: "" },
    ];
  });
  return {
    section: root.querySelector(".numbers"),
    when: root.querySelector(".numbers > .when"),
    ...Object.fromEntries([...cells, ...charts]),
  };
}

// Read once a resize, so that no step asks the page for its layout.
export function measureCharts({ curve, depth }) {
  for (const chart of [curve, depth]) {
    chart.size = { width: chart.card.clientWidth, height: 190 };
    setAttribute(chart.plot, "viewBox", `0 0 ${chart.size.width} ${chart.size.height}`);
    setAttribute(chart.plot, "height", chart.size.height);
  }
}

export function paintNumbers(stage, count, wasted) {
  const { numbers } = stage.parts;
  if (stage.options.charts === false || !numbers.curve.size?.width) return;
  const facts = SIDES.map((side) => factsOf(stage.trace, stage.reveals[side], count));
  const when = whenText(stage, count);
  setText(numbers.when, `Numbers ${when}`);
  paintFacts(stage, facts, count, wasted);
  paintCurve(stage, count, when);
  paintDepth(stage, facts, when);
}

function whenText(stage, count) {
  if (inLayers(stage)) return "before anything is kept";
  return count === stage.budget ? `at the full budget of ${count}` : `at step ${count} of ${stage.budget}`;
}

function paintFacts(stage, [fixed, free], count, wasted) {
  const { wasted: lost, branch, deepest, draft } = stage.parts.numbers;
  const [nameFixed, nameFree] = sideNames(stage.trace);
  const passes = SIDES.map((side) => passesAt(stage.reveals[side], stage.budget));
  const shown = Math.min(count, stage.reveals.static.order.length);
  writeFact(lost, `Wasted nodes of ${nameFixed}`, [wasted, `of ${shown}`], `each is less likely than every node of ${nameFree}`);
  const chances = [fixed, free].map((facts) => twoDecimals(facts.branch));
  writeFact(branch, "Chance that a whole branch is accepted", chances, "not what we maximise");
  writeFact(deepest, "Deepest guess", [fixed.depth, free.depth], "levels below the root");
  writeFact(draft, "Draft passes", passes, `for the budget of ${stage.budget}; each costs time before the verify pass`);
  lost.second.className = "of";
}

function writeFact(cell, title, [first, second], remark) {
  setText(cell.title, title);
  setText(cell.first, `${first}`);
  setText(cell.second, `${second}`);
  setText(cell.remark, remark);
}

// Writes the key of a chart: each side's name and number, and of what they are.
function writeKey(stage, chart, numbers, when) {
  for (const [i, name] of sideNames(stage.trace).entries()) {
    setText(chart.names[i], name);
    setText(chart.values[i], numbers[i]);
  }
  setText(chart.when, when);
}

// -- expected accepted against budget

function curveFrame(stage) {
  const { size } = stage.parts.numbers.curve;
  const curves = SIDES.map((side) => stage.trace.sides[side].curve);
  const top = Math.max(1, ...curves.flat().filter((value) => value !== null)) * 1.06;
  const prices = stage.trace.sides.dynamic.priced ? pricesOf(curves[1]) : null;
  return { curves, top, prices, most: stage.trace.curve_to, frame: frameOf(size, [0, stage.trace.curve_to], [0, top]) };
}

function paintCurve(stage, count, when) {
  const chart = stage.parts.numbers.curve;
  const key = `${stage.trace.id} ${chart.size.width}`;
  if (chart.drawn !== key) drawCurve(stage, chart);
  chart.drawn = key;
  const { frame, most } = chart.scale;
  const x = frame.x(stage.budget).toFixed(1);
  setAttribute(chart.line, "d", `M${x} ${frame.top}V${frame.bottom}`);
  setAttribute(chart.budget, "x", x);
  setText(chart.budget, `${stage.budget}`);
  for (const [tick, text] of chart.ticks)
    setAttribute(text, "display", budgetTicks(most, stage.budget).includes(tick) ? null : "none");
  for (const [i, side] of SIDES.entries()) {
    const reveal = stage.reveals[side];
    setAttribute(chart.dots[i], "cx", frame.x(Math.min(count, reveal.order.length)).toFixed(1));
    setAttribute(chart.dots[i], "cy", frame.y(expectedAt(reveal, count).number).toFixed(1));
  }
  const texts = SIDES.map((side) => expectedAt(stage.reveals[side], count).text);
  const [fixed, free] = sideNames(stage.trace);
  writeKey(stage, chart, texts, when);
  paintPrice(stage, chart, count);
  setAttribute(
    chart.plot,
    "aria-label",
    `Expected accepted tokens against the budget; ${when}: ${fixed} ${texts[0]}, ${free} ${texts[1]}. The budget slider moves it.`,
  );
}

function drawCurve(stage, chart) {
  const scale = curveFrame(stage);
  const { frame, curves, most } = scale;
  const ticks = budgetTicks(most, -most).map((tick) => [tick, tickText(frame.x(tick), frame.bottom + 16, tick)]);
  const line = svg("path", { class: "hair" });
  const budget = tickText(0, frame.bottom + 16, "");
  budget.classList.add("strong");
  const dots = SIDES.map((side) => svg("circle", { class: `spot ${side}`, r: 4.5 }));
  chart.axes.replaceChildren(...axesOf(frame, roundTicks(scale.top)), ...ticks.map(([, text]) => text));
  chart.shapes.replaceChildren(...SIDES.map((side, i) => svg("path", { class: `line ${side}`, d: curvePath(curves[i], frame) })));
  chart.here.replaceChildren(line, budget, ...dots);
  Object.assign(chart, { scale, ticks, line, budget, dots, mark: null });
  chart.price.hidden = !scale.prices;
  if (scale.prices) drawPrice(chart);
}

// -- the price of a node: the smallest product kept; its mark at the right edge is a slider of its own

function drawPrice(chart) {
  const { frame, prices, most } = chart.scale;
  const y = (price) => priceHeight(price, frame);
  chart.shapes.prepend(svg("path", { class: "prices", d: curvePath(prices, { x: frame.x, y }) }));
  chart.axes.append(...PRICE_TICKS.map((price) => tickText(frame.right + 8, y(price) + 4, price, "start")));
  const mark = svg("g", {
    class: "mark",
    role: "slider",
    tabindex: 0,
    "data-testid": "stage-price",
    "aria-label": "Price of a node",
    "aria-orientation": "vertical",
    "aria-valuemin": prices[Math.min(most, prices.length - 1)].toPrecision(2),
    "aria-valuemax": prices[1].toPrecision(2),
  });
  mark.append(
    svg("rect", { class: "grip", x: frame.right - 12, y: -14, width: 46, height: 28 }),
    svg("path", { class: "level" }),
    svg("path", { class: "knob", d: `M${frame.right - 7} -6L${frame.right + 2} 0L${frame.right - 7} 6Z` }),
  );
  chart.here.append(mark);
  chart.mark = mark;
}

function paintPrice(stage, chart, count) {
  if (!chart.mark) return;
  const { frame, prices } = chart.scale;
  const price = prices[Math.min(count, prices.length - 1)];
  const text = priceText(stage, count);
  setAttribute(chart.mark, "transform", `translate(0 ${priceHeight(price, frame).toFixed(1)})`);
  setAttribute(chart.mark.querySelector(".level"), "d", `M${frame.x(count).toFixed(1)} 0H${frame.right - 7}`);
  setAttribute(chart.mark, "aria-valuenow", price.toPrecision(2));
  setAttribute(chart.mark, "aria-valuetext", `${text}: every node kept is worth at least that, which gives ${count} nodes`);
  setText(chart.price.lastChild, text);
}

// As the stage writes it on the node, where that node is in the trace.
function priceText(stage, count) {
  const last = stage.reveals.dynamic.order[count - 1];
  return last === undefined ? "–" : stage.trace.nodes[last].shown;
}

// The budget whose smallest product is the price under the pointer.
export function priceBudgetUnder(stage, event) {
  const { plot, scale } = stage.parts.numbers.curve;
  return budgetAtPrice(scale.prices, priceUnder(event.clientY - plot.getBoundingClientRect().top, scale.frame));
}

export function onPriceMark(stage, event) {
  return Boolean(stage.parts.numbers.curve.mark?.contains(event.target));
}

function axesOf(frame, ticks) {
  const rules = ticks.map((tick) => svg("path", { class: "rule", d: `M${frame.left} ${frame.y(tick).toFixed(1)}H${frame.right}` }));
  const texts = ticks.map((tick) => tickText(frame.left - 6, frame.y(tick) + 4, tick, "end"));
  return [...rules, ...texts];
}

function tickText(x, y, text, anchor = "middle") {
  return svg("text", { class: "tick", x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor }, [`${text}`]);
}

// The budget under the pointer, and what its key says while the pointer is there.
export function curveUnder(stage, event) {
  const chart = stage.parts.numbers.curve;
  return budgetUnder(event.clientX - chart.plot.getBoundingClientRect().left, chart.size.width, chart.scale.most);
}

export function pointAtCurve(stage, budget) {
  const chart = stage.parts.numbers.curve;
  const numbers = chart.scale.curves.map((curve) => valueAt(curve, budget));
  writeKey(
    stage,
    chart,
    numbers.map((value) => (value === null ? "–" : twoDecimals(value))),
    `at budget ${budget}`,
  );
  if (chart.mark) setText(chart.price.lastChild, priceText(stage, budget));
}

// -- by depth

function paintDepth(stage, facts, when) {
  const chart = stage.parts.numbers.depth;
  const levels = Math.max(
    1,
    ...SIDES.map((side) => factsOf(stage.trace, revealAt(stage.trace, side, stage.budget), stage.budget).depth),
  );
  const key = `${levels} ${chart.size.width}`;
  if (chart.drawn !== key) drawDepth(chart, levels);
  chart.drawn = key;
  for (const [i, { levels: values }] of facts.entries())
    for (const [row, bar] of chart.bars[i].entries())
      for (const [name, value] of Object.entries(barAt(row + 1, i === 1, values[row] ?? 0, chart.frame)))
        setAttribute(bar, name, value.toFixed(1));
  const [fixed, free] = sideNames(stage.trace);
  chart.facts = facts;
  writeKey(
    stage,
    chart,
    facts.map(({ levels: values }) => twoDecimals(values.reduce((sum, value) => sum + value, 0))),
    when,
  );
  const spoken = facts.map(({ levels: values }) => values.map(twoDecimals).join(", ") || "none");
  setAttribute(chart.plot, "aria-label", `Expected tokens by level, ${when}: ${fixed} ${spoken[0]}; ${free} ${spoken[1]}`);
}

// A level's expected tokens are the chance that the pass gets so far: never more than 1.
function drawDepth(chart, levels) {
  const frame = frameOf(chart.size, [0.5, Math.max(levels, 4) + 0.5], [0, 1]);
  const every = levels > 12 ? 2 : 1;
  const ticks = Array.from({ length: levels }, (_, i) => i + 1).filter((level) => (level - 1) % every === 0);
  const bars = SIDES.map((side) => Array.from({ length: levels }, () => svg("rect", { class: `bar ${side}`, rx: 1 })));
  chart.axes.replaceChildren(
    ...axesOf(frame, [0, 0.5, 1]),
    ...ticks.map((level) => tickText(frame.x(level), frame.bottom + 16, level)),
  );
  chart.shapes.replaceChildren(...bars.flat());
  Object.assign(chart, { frame, bars });
}

export function pointAtDepth(stage, event) {
  const chart = stage.parts.numbers.depth;
  const px = event.clientX - chart.plot.getBoundingClientRect().left;
  const { x } = chart.frame;
  const level = Math.round(1 + (px - x(1)) / (x(2) - x(1)));
  if (level < 1 || level > chart.bars[0].length) return;
  writeKey(
    stage,
    chart,
    chart.facts.map(({ levels }) => twoDecimals(levels[level - 1] ?? 0)),
    `at level ${level}`,
  );
}
