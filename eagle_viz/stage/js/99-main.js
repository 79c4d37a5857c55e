// Mounting: one stage per parent element; later calls bring new data to it.

const stages = new WeakMap();
let latest = null;
const DEFAULTS = { max_budget: 128, height: 440, sharpness: null, sharpness_range: [0.1, 4], offline: false, acknowledge: null };

function partsOf(root) {
  const find = (testid) => root.querySelector(`[data-testid="${testid}"]`);
  const slide = (testid) => ({
    input: find(testid),
    output: find(testid).closest("label").querySelector("output"),
    label: find(testid).closest("label"),
  });
  const perSide = (selector) =>
    Object.fromEntries(SIDES.map((side) => [side, root.querySelector(`.panel.${side} ${selector}`)]));
  return {
    static: find("stage-static-expected"),
    dynamic: find("stage-dynamic-expected"),
    gain: find("stage-gain"),
    phase: find("stage-phase"),
    main: root.querySelector(".sentence .main"),
    who: root.querySelector(".sentence b"),
    aside: root.querySelector(".sentence .aside"),
    captions: perSide(".caption"),
    idle: root.querySelector(".panel.static .idle"),
    play: find("stage-play"),
    speed: find("stage-speed"),
    step: slide("stage-step"),
    budget: slide("stage-budget"),
    sharpness: slide("stage-sharpness"),
    stepName: slide("stage-step").label.querySelector(".name").firstChild,
    modes: [...root.querySelectorAll("[data-mode]")],
    tips: perSide(".tip"),
    titles: perSide(".title"),
    counts: perSide(".counts"),
    running: perSide(".running"),
    notice: root.querySelector(".notice"),
    kept: root.querySelector(".legend .kept"),
    expanding: root.querySelector(".legend .expanding"),
    wasted: root.querySelector(".wasted"),
    live: find("stage-live"),
    table: find("stage-table"),
    keys: find("stage-keys"),
    sharing: find("stage-share-menu"),
  };
}

function makeStage(host, trace) {
  const scenes = Object.fromEntries(SIDES.map((side) => [side, makeScene(side)]));
  const root = makeSkeleton(scenes, trace);
  host.replaceChildren(root);
  const stage = {
    root,
    scenes,
    parts: partsOf(root),
    view: HOME,
    budget: 1,
    step: 0,
    layer: 0,
    turn: 0,
    mode: "nodes",
    look: null,
    fingers: new Map(),
    candidates: false,
    playing: null,
    wanted: null,
    means: {},
    command: null,
    serial: 0,
    sharpness: null,
    dragging: false,
    asking: null,
    behind: false,
    options: DEFAULTS,
    send: () => {},
    tell: () => {},
    acknowledged: null,
  };
  wire(stage);
  stage.onkey = (event) => pressKey(stage, event);
  document.addEventListener("keydown", stage.onkey);
  stage.observer = new ResizeObserver(() => resize(stage));
  stage.observer.observe(root);
  stage.scheme = window.matchMedia("(prefers-color-scheme: dark)");
  stage.onscheme = () => dressTheme(stage);
  stage.scheme.addEventListener("change", stage.onscheme);
  document.fonts?.ready.then(() => remeasure(stage));
  return stage;
}

// Labels were placed by the widths of another font until the page's own has come.
function remeasure(stage) {
  rulers.clear();
  if (!stage.scenes.static.picture) return;
  arrangeStage(stage, false);
  paint(stage);
}

function unmount(stage, parent) {
  stop(stage);
  for (const timer of [stage.reporting, stage.patience, stage.telling]) clearTimeout(timer);
  stage.observer.disconnect();
  document.removeEventListener("keydown", stage.onkey);
  stage.scheme.removeEventListener("change", stage.onscheme);
  stages.delete(parent);
}

// The page mounts the stage anew when something before it comes or goes; under the same command it is where it was.
function goOn(stage, command) {
  if (latest?.command !== command) return stage;
  const { budget, step, layer, turn, mode, view, serial } = latest;
  return Object.assign(stage, { command, budget, step, layer, turn, mode, view, serial });
}

function mount({ data, parentElement, setStateValue, setTriggerValue }) {
  const host = parentElement.querySelector(".eagle-viz-stage");
  const told = data instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(data)) : data;
  if (!stages.has(parentElement)) stages.set(parentElement, goOn(makeStage(host, told.trace), told.command.serial));
  const stage = (latest = stages.get(parentElement));
  stage.send = (state) => setStateValue("report", state);
  stage.tell = (token) => setTriggerValue("drawn", token);
  receive(stage, told);
  return () => unmount(stage, parentElement);
}

// -- the offline player: the same stage, its data in the page -------------------------------------------------------------------

async function playerDocument(stage) {
  const source = await (await fetch(import.meta.url)).text();
  const data = {
    trace: stage.book.trace,
    command: { serial: 1, budget: stage.budget, step: stage.step, mode: stage.mode },
    options: {
      ...stage.options,
      sharpness: null,
      offline: true,
      acknowledge: null,
      max_budget: Math.min(stage.options.max_budget, stage.book.trace.tier),
    },
  };
  const inert = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
  const parts = {
    TITLE: stage.book.trace.label.replace(/[<>&]/g, " ") || "Draft trees",
    STYLE: styleOf(stage),
    SOURCE: source,
    DATA: inert(data),
  };
  return PLAYER.replace(/%%(\w+)%%/g, (_, name) => parts[name]);
}

function styleOf(stage) {
  return [...stage.root.getRootNode().querySelectorAll("style")].map((style) => style.textContent).join("\n");
}

const seed = document.getElementById("eagle-viz-player");
if (seed) mount({ data: JSON.parse(seed.textContent), parentElement: document.body, setStateValue: () => {} });

export default mount;
