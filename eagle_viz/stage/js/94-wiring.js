// Wiring: which event leads to which move.

import { clamp, focused, setText } from "./10-dom.js";
import { SIDES } from "./20-trace.js";
import { HOME, middleOf, panned, zoomed } from "./30-geometry.js";
import { isShown, update } from "./35-state.js";
import { moveRing } from "./50-scene.js";
import { curveUnder, onPriceMark, pointAtCurve, pointAtDepth, priceBudgetUnder } from "./58-numbers.js";
import { lookAt, nearest, neighbour, shownPlaces } from "./66-link.js";
import { paintTable } from "./68-table.js";
import { paint } from "./70-paint.js";
import { arrangeStage, moveView } from "./78-sizes.js";
import { leaveFull, toggleFull } from "./82-full.js";
import { moveSharpness, report } from "./85-report.js";
import { changePace, dragBudget, jump, moveMode, nudge, scrub, togglePlay } from "./90-moves.js";
import { wireFingers } from "./92-fingers.js";

export function wire(stage) {
  const on = (testid, event, move) => stage.root.querySelector(`[data-testid="${testid}"]`).addEventListener(event, move);
  on("stage-first", "click", () => jump(stage, 0));
  on("stage-last", "click", () => jump(stage, 1));
  on("stage-back", "click", () => nudge(stage, -1));
  on("stage-next", "click", () => nudge(stage, 1));
  on("stage-play", "click", () => togglePlay(stage));
  on("stage-speed", "change", () => changePace(stage));
  on("stage-step", "input", (event) => scrub(stage, Number(event.target.value)));
  on("stage-step", "change", () => report(stage, 0));
  on("stage-budget", "input", (event) => dragBudget(stage, Number(event.target.value)));
  on("stage-budget", "change", () => report(stage, 0));
  on("stage-sharpness", "input", (event) => moveSharpness(stage, Number(event.target.value), true));
  on("stage-sharpness", "change", (event) => moveSharpness(stage, Number(event.target.value), false));
  for (const key of stage.parts.modes) key.addEventListener("click", () => usable(stage, key) && moveMode(stage, key.dataset.mode));
  wireZoom(stage, on);
  wireDrawers(stage, on);
  wireCharts(stage);
  for (const side of SIDES) wireTree(stage, side);
}

// A click or a drag on the curve sets the budget, on the price's mark the price and with it the budget; the pointer over a chart
// reads it off.
function wireCharts(stage) {
  const { curve, depth } = stage.parts.numbers;
  let held = curveUnder;
  const take = (event) => dragBudget(stage, held(stage, event));
  curve.plot.addEventListener("pointerdown", (event) => {
    curve.plot.setPointerCapture(event.pointerId);
    held = onPriceMark(stage, event) ? priceBudgetUnder : curveUnder;
    if (held === curveUnder) take(event);
    else curve.mark.focus();
  });
  curve.plot.addEventListener("pointermove", (event) =>
    event.buttons ? take(event) : pointAtCurve(stage, curveUnder(stage, event)),
  );
  curve.plot.addEventListener("pointerup", () => report(stage, 0));
  curve.plot.addEventListener("keydown", (event) => onPriceMark(stage, event) && turnPrice(stage, event));
  depth.plot.addEventListener("pointermove", (event) => pointAtDepth(stage, event));
  for (const { plot } of [curve, depth]) plot.addEventListener("pointerleave", () => paint(stage));
}

// Up is dearer: fewer nodes.
const DEARER = { ArrowUp: -1, ArrowRight: -1, PageUp: -10, ArrowDown: 1, ArrowLeft: 1, PageDown: 10 };

function turnPrice(stage, event) {
  if (!DEARER[event.key]) return;
  event.preventDefault();
  dragBudget(stage, stage.budget + DEARER[event.key]);
  report(stage);
}

function wireZoom(stage, on) {
  const zoom = (factor) => () =>
    moveView(stage, zoomed(stage.view, factor, middleOf(shownPlaces(stage), stage.scenes.static.size), stage.scenes.static.size));
  on("stage-zoom-in", "click", zoom(1.4));
  on("stage-zoom-out", "click", zoom(1 / 1.4));
  on("stage-fit", "click", () => moveView(stage, HOME));
}

const DRAWERS = { "stage-table-toggle": "table", "stage-keys-toggle": "keys", "stage-share": "sharing" };

function wireDrawers(stage, on) {
  for (const [button, part] of Object.entries(DRAWERS)) on(button, "click", () => toggleDrawer(stage, button, part));
  on("stage-full", "click", () => toggleFull(stage));
  on("stage-wasted", "click", (event) => {
    const shown = stage.scenes.static.canvas.classList.toggle("blaming");
    event.currentTarget.setAttribute("aria-pressed", String(shown));
  });
  on("stage-candidates", "click", (event) => {
    if (!usable(stage, event.currentTarget)) return;
    update(stage, { candidates: !stage.candidates });
    event.currentTarget.setAttribute("aria-pressed", String(stage.candidates));
    report(stage, 0);
    arrangeStage(stage, true);
    paint(stage);
  });
}

// A button that cannot be used now says why, where others would be silent.
function usable(stage, button) {
  if (button.getAttribute("aria-disabled") !== "true") return true;
  setText(stage.parts.notice, button.title);
  return false;
}

function toggleDrawer(stage, button, part) {
  const drawer = stage.parts[part];
  drawer.hidden = !drawer.hidden;
  stage.root.querySelector(`[data-testid="${button}"]`).setAttribute("aria-pressed", String(!drawer.hidden));
  if (drawer.hidden) return;
  if (part === "table") paintTable(stage);
  drawer.scrollIntoView({ block: "nearest" });
}

// Escape shuts the drawer one is in, or the last one open, and gives the focus back to its button.
function shutDrawer(stage, event) {
  const open = Object.entries(DRAWERS).filter(([, part]) => !stage.parts[part].hidden);
  const [button, part] = open.find(([, name]) => stage.parts[name].contains(focused())) ?? open.at(-1) ?? [];
  if (!part) return leaveFull(stage);
  event.preventDefault();
  toggleDrawer(stage, button, part);
  stage.root.querySelector(`[data-testid="${button}"]`).focus();
}

function wireTree(stage, side) {
  const { canvas } = stage.scenes[side];
  const at = (event) => {
    const frame = canvas.getBoundingClientRect();
    return { x: (event.clientX - frame.left) / stage.scale, y: (event.clientY - frame.top) / stage.scale };
  };
  canvas.addEventListener("wheel", (event) => turnWheel(stage, event, at(event)), { passive: false });
  canvas.addEventListener("pointerdown", (event) => (stage.grip = { last: at(event), start: at(event), moved: false }));
  canvas.addEventListener("pointermove", (event) => {
    if (stage.grip && event.buttons) drag(stage, side, event, at(event));
    else if (event.pointerType !== "touch") hover(stage, side, at(event));
  });
  canvas.addEventListener("pointerup", (event) => letGo(stage, side, at(event)));
  canvas.addEventListener("pointercancel", () => (stage.grip = null));
  canvas.addEventListener("pointerleave", () => stage.look?.pinned || lookAt(stage, null));
  canvas.addEventListener("focus", () => canvas.matches(":focus-visible") && lookAt(stage, stage.look?.node ?? 0, side, true));
  canvas.addEventListener("blur", () => lookAt(stage, null));
  canvas.addEventListener("keydown", (event) => walk(stage, side, event));
  canvas.addEventListener("moved", () => moveRing(stage.scenes[side]));
  wireFingers(stage, side, at);
}

// The wheel scrolls the page; with Ctrl, Meta, Alt or Shift it zooms (a pinch on a touchpad arrives as Ctrl + wheel).
function turnWheel(stage, event, point) {
  if (!(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey)) return;
  event.preventDefault();
  const turn = event.deltaY || event.deltaX;
  moveView(stage, zoomed(stage.view, Math.exp(-clamp(turn, -120, 120) / 300), point, stage.scenes.static.size));
}

export function drag(stage, side, event, point) {
  const { grip } = stage;
  const [across, down] = [Math.abs(point.x - grip.start.x), Math.abs(point.y - grip.start.y)];
  if (!grip.moved && Math.hypot(across, down) < 4) return;
  if (!grip.moved && event.pointerType === "touch" && down >= across) return void (stage.grip = null); // the page scrolls
  if (!grip.moved) stage.scenes[side].canvas.setPointerCapture(event.pointerId);
  grip.moved = true;
  moveView(stage, panned(stage.view, point.x - grip.last.x, point.y - grip.last.y, stage.scenes[side].size));
  grip.last = point;
}

function hover(stage, side, point) {
  if (stage.look?.pinned) return;
  const node = nearest(stage, side, point, 16);
  if (node !== (stage.look?.node ?? null)) lookAt(stage, node, side, false);
}

function letGo(stage, side, point) {
  const { grip } = stage;
  stage.grip = null;
  if (!grip || grip.moved) return;
  const node = nearest(stage, side, point, 20);
  const again = node === null || (stage.look?.pinned && stage.look.node === node);
  lookAt(stage, again ? null : node, side, true);
}

export function walk(stage, side, event) {
  if (event.key === "Escape" && stage.look) {
    event.preventDefault();
    return lookAt(stage, null);
  }
  if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home"].includes(event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  const here = stage.look && isShown(stage, side, stage.look.node) ? stage.look.node : 0;
  lookAt(stage, stage.look ? neighbour(stage, side, here, event.key) : 0, side, true);
}

export function pressKey(stage, event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !stage.root.isConnected) return;
  const moves = {
    ArrowLeft: () => nudge(stage, -1),
    ArrowRight: () => nudge(stage, 1),
    Home: () => jump(stage, 0),
    End: () => jump(stage, 1),
    " ": () => togglePlay(stage),
    f: () => toggleFull(stage),
    F: () => toggleFull(stage),
    Escape: () => shutDrawer(stage, event),
  };
  const move = moves[event.key];
  if (!move || isBusy(stage, focused(), event.key)) return;
  if (event.key !== "Escape") event.preventDefault();
  move();
}

// A scrolling frame around the stage takes the focus of any click beside a control, and is none itself.
function isBusy(stage, element, key) {
  const frame = stage.root.getRootNode().host ?? stage.root;
  if (!element || element.contains(frame)) return false;
  if (!stage.root.contains(element)) return true;
  if (key === "Escape") return false;
  if (element.tagName === "BUTTON") return key === " ";
  if (element.tagName === "DFN") return false;
  return element !== stage.root;
}
