// Mounting: one stage per parent element; later calls bring new data to it.

import { SIDES } from "./20-trace.js";
import { START } from "./35-state.js";
import { ruler } from "./40-labels.js";
import { makeScene } from "./50-scene.js";
import { numberParts } from "./58-numbers.js";
import { makeSkeleton } from "./60-skeleton.js";
import { paint } from "./70-paint.js";
import { arrangeStage, resize } from "./78-sizes.js";
import { watchFull } from "./82-full.js";
import { stop } from "./90-moves.js";
import { pressKey, wire } from "./94-wiring.js";
import { applyTheme, receive } from "./96-receive.js";

const stages = new WeakMap();
let latest = null;

function partsOf(root) {
  const find = (testid) => root.querySelector(`[data-testid="${testid}"]`);
  const slide = (testid) => ({
    input: find(testid),
    output: find(testid).closest("label").querySelector("output"),
    label: find(testid).closest("label"),
  });
  const perSide = (selector) => Object.fromEntries(SIDES.map((side) => [side, root.querySelector(`.panel.${side} ${selector}`)]));
  return {
    static: find("stage-static-expected"),
    dynamic: find("stage-dynamic-expected"),
    gain: find("stage-gain"),
    phase: find("stage-phase"),
    main: root.querySelector(".sentence .main"),
    who: root.querySelector(".sentence b"),
    aside: root.querySelector(".sentence .aside"),
    captions: perSide(".caption"),
    idles: perSide(".idle"),
    play: find("stage-play"),
    speed: find("stage-speed"),
    step: slide("stage-step"),
    budget: slide("stage-budget"),
    sharpness: slide("stage-sharpness"),
    stepName: slide("stage-step").label.querySelector(".name").firstChild,
    modes: [...root.querySelectorAll("[data-mode]")],
    tips: perSide(".tip"),
    titles: perSide(".title"),
    kinds: perSide(".kind"),
    labels: ["static", "dynamic", "gain"].map((name) => root.querySelector(`.readout.${name} .of`)),
    measured: Object.fromEntries([...SIDES, "gain"].map((name) => [name, find(`stage-${name}-measured`)])),
    board: root.querySelector(".board"),
    full: find("stage-full"),
    candidates: find("stage-candidates"),
    counts: perSide(".counts"),
    running: perSide(".running"),
    notice: root.querySelector(".notice"),
    kept: root.querySelector(".legend .kept"),
    expanding: root.querySelector(".legend .expanding"),
    wasted: root.querySelector("button.wasted"),
    numbers: numberParts(root),
    live: find("stage-live"),
    table: find("stage-table"),
    keys: find("stage-keys"),
    sharing: find("stage-share-menu"),
  };
}

function makeStage(host, state) {
  const scenes = Object.fromEntries(SIDES.map((side) => [side, makeScene(side)]));
  const root = makeSkeleton(scenes);
  host.replaceChildren(root);
  const stage = {
    root,
    scenes,
    parts: partsOf(root),
    ...state,
    fingers: new Map(),
    playing: null,
    means: {},
    scale: 1,
    send: () => {},
    answer: () => {},
    painting: null,
  };
  wire(stage);
  watchFull(stage);
  stage.onkey = (event) => pressKey(stage, event);
  document.addEventListener("keydown", stage.onkey);
  stage.observer = new ResizeObserver(() => resize(stage));
  stage.observer.observe(root);
  stage.scheme = window.matchMedia("(prefers-color-scheme: dark)");
  stage.onscheme = () => applyTheme(stage);
  stage.scheme.addEventListener("change", stage.onscheme);
  document.fonts?.ready.then(() => remeasure(stage));
  return stage;
}

// Labels were placed by the widths of another font until the page's own has come.
function remeasure(stage) {
  ruler.widths.clear();
  if (!stage.scenes.static.picture) return;
  arrangeStage(stage, false);
  paint(stage);
}

function unmount(stage, parent) {
  stop(stage);
  for (const timer of [stage.reporting, stage.patience, stage.resting]) clearTimeout(timer);
  stage.observer.disconnect();
  document.removeEventListener("keydown", stage.onkey);
  stage.scheme.removeEventListener("change", stage.onscheme);
  stages.delete(parent);
}

// The page mounts the stage anew when something before it comes or goes; under the same command it is where it was.
function carriedOver(told) {
  if (latest?.told !== told) return START;
  const { budget, step, layer, turn, mode, view, serial } = latest;
  return { ...START, told, budget, step, layer, turn, mode, view, serial };
}

function mount({ data, parentElement, setStateValue }) {
  const host = parentElement.querySelector(".eagle-viz-stage");
  const sent = data instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(data)) : data;
  if (!stages.has(parentElement)) stages.set(parentElement, makeStage(host, carriedOver(sent.command.told)));
  const stage = (latest = stages.get(parentElement));
  stage.send = (state) => setStateValue("report", state);
  stage.answer = (revision) => setStateValue("painted", revision);
  receive(stage, sent);
  return () => unmount(stage, parentElement);
}

const seed = document.getElementById("eagle-viz-player");
if (seed) mount({ data: JSON.parse(seed.textContent), parentElement: document.body, setStateValue: () => {} });

export default mount;
