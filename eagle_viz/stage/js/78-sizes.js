// Sizes: lay out both panels for the state as it is, alike in scale and view.

import { setAttribute } from "./10-dom.js";
import { keptBy, layoutOf, revealAt, SIDES } from "./20-trace.js";
import { placeAll, scaleFor } from "./30-geometry.js";
import { hasPool, update } from "./35-state.js";
import { placeLabels } from "./40-labels.js";
import { arrange, arrangeGhosts, syncGhosts } from "./50-scene.js";
import { measureCharts } from "./58-numbers.js";
import { paint } from "./70-paint.js";

const ROOM_BELOW = 12;

export function moveView(stage, view) {
  update(stage, { view });
  arrangeStage(stage, false);
  paint(stage);
}

// The trees are laid out in pixels of their own: `scale` of the screen's each, so that marks and labels grow with it.
export function resize(stage) {
  if (!stage.trace || !stage.root.isConnected) return;
  const stacked = stage.root.clientWidth < 640;
  stage.root.classList.toggle("stacked", stacked);
  stage.scale = stage.full && !stacked ? scaleFor(window.innerWidth, window.innerHeight) : 1;
  stage.root.style.setProperty("--scale", stage.scale);
  stage.parts.numbers.section.hidden = !stage.options.charts;
  measureCharts(stage.parts.numbers);
  const height = heightOf(stage, stacked);
  const across = stage.scenes.static.canvas.parentElement.clientWidth;
  const size = { width: across / stage.scale, height: height / stage.scale };
  const same = SIDES.every((side) => Object.entries(size).every(([name, value]) => stage.scenes[side].size[name] === value));
  if (same) return;
  for (const side of SIDES) {
    stage.scenes[side].size = size;
    setAttribute(stage.scenes[side].canvas, "height", height);
    setAttribute(stage.scenes[side].canvas, "viewBox", `0 0 ${size.width} ${size.height}`);
  }
  arrangeStage(stage, false);
  paint(stage);
}

// On a full screen the trees take what the words and controls around them leave.
function heightOf(stage, stacked) {
  if (stacked) return Math.round(stage.options.height * 0.72);
  if (!stage.full) return stage.options.height;
  const [top, bottom] = [stage.root.getBoundingClientRect().top, stage.parts.board.getBoundingClientRect().bottom];
  const trees = stage.scenes.static.canvas.getBoundingClientRect().height;
  return Math.max(Math.floor(window.innerHeight - (bottom - top - trees) - stage.root.scrollTop - ROOM_BELOW), 200);
}

// Lay out both panels for the state as it is: same scale, same view.
export function arrangeStage(stage, glide) {
  const withPool = stage.candidates || (stage.mode === "phases" && stage.trace.phases.length > 0);
  for (const side of SIDES) {
    const scene = stage.scenes[side];
    const layout = layoutOf(stage.trace, stage.budget, withPool && side === "dynamic");
    const picture = placeAll(stage.trace, layout, scene.size, stage.view);
    arrange(scene, stage.trace, picture, labelsFor(stage, side, picture), glide);
  }
  const dynamic = stage.scenes.dynamic;
  syncGhosts(
    dynamic,
    stage.trace,
    withPool && hasPool(stage) ? [...dynamic.picture.places.keys()].filter((node) => node !== 0) : [],
  );
  arrangeGhosts(dynamic, stage.trace);
}

// One placement serves every budget of the tier: in reveal order, or by value where each budget reveals nodes of its own.
function labelsFor(stage, side, picture) {
  const { trace } = stage;
  const { nodes } = trace;
  const byValue = () => keptBy(stage.trace, side).sort((a, b) => nodes[b].value - nodes[a].value);
  const order = trace.sides[side].nested ? revealAt(stage.trace, side, stage.budget).order : byValue();
  const parents = new Set(order.filter((node) => picture.places.has(node)).map((node) => nodes[node].parent));
  return placeLabels(stage.trace, order, picture, (node) => !parents.has(node));
}
