// Mounting: one stage per parent element; later calls bring new data to it.

const stages = new WeakMap();
const DEFAULTS = { max_budget: 128, height: 440, sharpness: null, sharpness_range: [0.1, 4], offline: false };

function partsOf(root) {
  const find = (testid) => root.querySelector(`[data-testid="${testid}"]`);
  const slide = (testid) => ({ input: find(testid), output: find(testid).closest("label").querySelector("output"), label: find(testid).closest("label") });
  const perSide = (selector) => Object.fromEntries(SIDES.map((side) => [side, root.querySelector(`.panel.${side} ${selector}`)]));
  return {
    static: find("stage-static-expected"), dynamic: find("stage-dynamic-expected"), gain: find("stage-gain"), phase: find("stage-phase"),
    main: root.querySelector(".sentence .main"), who: root.querySelector(".sentence b"), aside: root.querySelector(".sentence .aside"), captions: perSide(".caption"), idle: root.querySelector(".panel.static .idle"), play: find("stage-play"), speed: find("stage-speed"),
    step: slide("stage-step"), budget: slide("stage-budget"), sharpness: slide("stage-sharpness"), stepName: slide("stage-step").label.querySelector(".name").firstChild,
    modes: [...root.querySelectorAll("[data-mode]")], tips: perSide(".tip"), titles: perSide(".title"), counts: perSide(".counts"), running: perSide(".running"),
    notice: root.querySelector(".notice"), kept: root.querySelector(".legend .kept"), expanding: root.querySelector(".legend .expanding"), wasted: root.querySelector(".wasted"), live: find("stage-live"), table: find("stage-table"), keys: find("stage-keys"), sharing: find("stage-share-menu"),
  };
}

function makeStage(host, trace) {
  const scenes = Object.fromEntries(SIDES.map((side) => [side, makeScene(side)]));
  const root = makeSkeleton(scenes, trace);
  host.replaceChildren(root);
  const stage = {
    root, scenes, parts: partsOf(root), view: HOME, budget: 1, step: 0, layer: 0, turn: 0, mode: "nodes", look: null, candidates: false, playing: null, wanted: null,
    means: {}, command: null, serial: 0, sharpness: null, dragging: false, asking: null, behind: false, options: DEFAULTS, send: () => {},
  };
  wire(stage);
  stage.onkey = (event) => pressKey(stage, event);
  document.addEventListener("keydown", stage.onkey);
  stage.observer = new ResizeObserver(() => resize(stage));
  stage.observer.observe(root);
  return stage;
}

// -- sizes ------------------------------------------------------------------------------------------------------------------

function resize(stage) {
  if (!stage.book || !stage.root.isConnected) return;
  const width = stage.root.clientWidth;
  const stacked = width < 640;
  stage.root.classList.toggle("stacked", stacked);
  const height = stacked ? Math.round(stage.options.height * 0.72) : stage.options.height;
  for (const side of SIDES) setAttribute(stage.scenes[side].canvas, "height", height);
  const across = stage.scenes.static.canvas.parentElement.clientWidth;
  if (SIDES.every((side) => stage.scenes[side].size.width === across && stage.scenes[side].size.height === height)) return;
  for (const side of SIDES) stage.scenes[side].size = { width: across, height };
  arrangeStage(stage, false);
  paint(stage);
}

// Lay out both panels for the state as it is: same scale, same view.
function arrangeStage(stage, glide) {
  const withPool = stage.candidates || (stage.mode === "phases" && stage.book.trace.phases.length > 0);
  for (const side of SIDES) {
    const scene = stage.scenes[side];
    const layout = layoutOf(stage.book, stage.budget, withPool && side === "dynamic");
    const picture = placeAll(stage.book, layout, scene.size, stage.view);
    arrange(scene, stage.book, picture, labelsFor(stage, side, picture), glide);
  }
  const dynamic = stage.scenes.dynamic;
  stockGhosts(dynamic, stage.book, withPool && hasPool(stage) ? [...dynamic.picture.places.keys()].filter((node) => node !== 0) : []);
  arrangeGhosts(dynamic, stage.book);
}

function hasPool(stage) {
  return Boolean(layoutOf(stage.book, stage.budget, false).pool);
}

function labelsFor(stage, side, picture) {
  const { order } = pageOf(stage.book, side, stage.budget);
  const parents = new Set(order.filter((node) => picture.places.has(node)).map((node) => stage.book.nodes[node].parent));
  return placeLabels(stage.book, order, picture, (node) => !parents.has(node));
}

// -- data from Python -----------------------------------------------------------------------------------------------------------

function receive(stage, data) {
  stage.options = { ...DEFAULTS, ...data.options };
  const isNew = stage.book?.trace.id !== data.trace.id;
  const before = { book: stage.book, tier: stage.book && tierOf(stage.book, stage.budget), mode: stage.mode };
  if (isNew) openBook(stage, makeBook(data.trace));
  if (stage.wanted !== null && serves(stage.book, stage.wanted)) Object.assign(stage, { budget: stage.wanted, step: stage.wanted, wanted: null });
  if (data.command.serial !== stage.command) obey(stage, data.command);
  keepInside(stage);
  dressStage(stage);
  if (isNew) for (const side of SIDES) stock(stage.scenes[side], stage.book, keptBy(stage, side));
  const moved = isNew || before.tier !== tierOf(stage.book, stage.budget) || before.mode !== stage.mode;
  if (stage.scenes.static.size.width > 1 && moved) arrangeStage(stage, Boolean(before.book));
  else resize(stage);
  if (stage.scenes.static.picture) paint(stage);
}

// Node numbers belong to one trace: what is looked at stays by its path.
function openBook(stage, book) {
  const looked = stage.look && book.index.get(stage.book.nodes[stage.look.node].path);
  stage.look = looked === undefined || looked === null ? null : { ...stage.look, node: looked };
  stage.book = book;
}

function obey(stage, command) {
  stop(stage);
  const changedMode = stage.mode !== command.mode;
  Object.assign(stage, { command: command.serial, budget: command.budget, step: Math.min(command.step, command.budget), layer: 0, mode: command.mode, wanted: null });
  if (changedMode) stage.turn = 0;
}

// A new trace may serve less than the old one showed.
function keepInside(stage) {
  const most = stage.book.trace.tier;
  if (stage.budget > most) stage.budget = most;
  if (!serves(stage.book, stage.budget)) stage.budget = Math.max(...Object.keys(stage.book.trace.sides.static.reveals).concat(Object.keys(stage.book.trace.sides.dynamic.reveals)).map(Number).filter(Number.isFinite));
  stage.step = Math.min(stage.step, stage.budget);
  if (!stage.book.trace.phases.length && stage.mode === "phases") stage.layer = 0;
  stage.turn = Math.min(stage.turn, verdictLength(stage));
}

function keptBy(stage, side) {
  return [...new Set(Object.values(stage.book.trace.sides[side].reveals).flatMap((reveal) => reveal.order))];
}

function dressStage(stage) {
  const { parts, options, book } = stage;
  for (const side of SIDES) {
    setText(parts.titles[side], book.trace.sides[side].title);
    setAttribute(stage.scenes[side].canvas, "aria-label", `${side} draft tree, ${book.trace.sides[side].title}. Arrow keys walk it.`);
  }
  parts.modes.find((key) => key.dataset.mode === "phases").disabled = book.trace.phases.length === 0;
  dressSharpness(stage, options);
  if (!parts.sharing.childElementCount) parts.sharing.append(...makeSharing(stage));
  dressTheme(stage);
}

function dressSharpness(stage, options) {
  const { input, output, label } = stage.parts.sharpness;
  label.hidden = options.sharpness === null;
  if (options.sharpness === null) return;
  const [low, high] = options.sharpness_range;
  Object.assign(input, { min: low, max: high, step: 0.05 });
  if (stage.asking !== null && Math.abs(options.sharpness - stage.asking) < 1e-9) answered(stage);
  if (stage.dragging || stage.asking !== null) return;
  stage.sharpness = options.sharpness;
  input.value = options.sharpness;
  setText(output, options.sharpness.toFixed(2));
  input.style.setProperty("--part", `${(100 * (options.sharpness - low)) / (high - low)}%`);
}

// Light or dark is read off the page's own background, so that any theme works.
function dressTheme(stage) {
  const paper = getComputedStyle(stage.root).getPropertyValue("--st-background-color").trim();
  const dark = paper ? luminance(paper) < 0.4 : window.matchMedia("(prefers-color-scheme: dark)").matches;
  setAttribute(stage.root, "data-theme", dark ? "dark" : "light");
  rulers.font = getComputedStyle(stage.root).fontFamily;
}

function luminance(colour) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [r, g, b] = pen.getImageData(0, 0, 1, 1).data;
  return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
}

function unmount(stage, parent) {
  stop(stage);
  for (const timer of [stage.reporting, stage.patience]) clearTimeout(timer);
  stage.observer.disconnect();
  document.removeEventListener("keydown", stage.onkey);
  stages.delete(parent);
}

function mount({ data, parentElement, setStateValue }) {
  const host = parentElement.querySelector(".eagle-viz-stage");
  if (!stages.has(parentElement)) stages.set(parentElement, makeStage(host, data.trace));
  const stage = stages.get(parentElement);
  stage.send = (state) => setStateValue("report", state);
  receive(stage, data);
  return () => unmount(stage, parentElement);
}

// -- the offline player: the same stage, its data in the page -------------------------------------------------------------------

async function playerDocument(stage) {
  const source = await (await fetch(import.meta.url)).text();
  const data = { trace: stage.book.trace, command: { serial: 1, budget: stage.budget, step: stage.step, mode: stage.mode }, options: { ...stage.options, sharpness: null, offline: true, max_budget: Math.min(stage.options.max_budget, stage.book.trace.tier) } };
  const inert = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
  const parts = { TITLE: stage.book.trace.label.replace(/[<>&]/g, " ") || "Draft trees", STYLE: styleOf(stage), SOURCE: source, DATA: inert(data) };
  return PLAYER.replace(/%%(\w+)%%/g, (_, name) => parts[name]);
}

function styleOf(stage) {
  return [...stage.root.getRootNode().querySelectorAll("style")].map((style) => style.textContent).join("\n");
}

const seed = document.getElementById("eagle-viz-player");
if (seed) mount({ data: JSON.parse(seed.textContent), parentElement: document.body, setStateValue: () => {} });

export default mount;
