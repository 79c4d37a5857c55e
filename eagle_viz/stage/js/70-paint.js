// Paint: bring the picture in line with the state. Everything shown is looked up; nothing about a tree is worked out here.

import { setAttribute, setText } from "./10-dom.js";
import { expectedAt, gainText, leastOf, OTHER, revealAt, SIDES, sideNames } from "./20-trace.js";
import { cursorName, cursorOf, cursorRange, inLayers, keptCount } from "./35-state.js";
import { codeOf, moveRing, showGhost, showNode } from "./50-scene.js";
import { paintNumbers } from "./58-numbers.js";
import { measuredTexts, paintVerdict, verdictWords } from "./64-verdict.js";
import { paintLink } from "./66-link.js";
import { paintTable } from "./68-table.js";

export function paint(stage) {
  const count = keptCount(stage);
  const reveals = Object.fromEntries(SIDES.map((side) => [side, revealAt(stage.trace, side, stage.budget)]));
  stage.reveals = reveals;
  const tallies = Object.fromEntries(SIDES.map((side) => [side, paintTree(stage, side, reveals, count)]));
  paintGhosts(stage, count);
  paintReadouts(stage, reveals, count);
  paintWords(stage, reveals, count);
  paintCounts(stage, tallies);
  paintNumbers(stage, count, tallies.static.wasted);
  paintNotice(stage);
  paintControls(stage);
  paintVerdict(stage);
  paintLink(stage);
  if (!stage.parts.table.hidden) paintTable(stage);
}

// Returns how many nodes are shown: shared, only in this one, wasted.
function paintTree(stage, side, reveals, count) {
  const scene = stage.scenes[side];
  const here = reveals[side].at;
  const there = reveals[OTHER[side]].at;
  const least = side === "static" ? leastOf(reveals.dynamic, count) : -1;
  const tally = { shared: 0, only: 0, wasted: 0 };
  for (const node of scene.byNode.keys()) {
    const code = codeOf(node, here, there, count, least, stage.trace.nodes[node].value);
    showNode(scene, node, code);
    if (!code) continue;
    tally[code.startsWith("shared") ? "shared" : "only"] += 1;
    if (code.endsWith("wasted")) tally.wasted += 1;
  }
  paintRing(scene, stage.mode === "verify" ? undefined : reveals[side].order[count - 1]);
  return tally;
}

function paintRing(scene, node) {
  const item = scene.byNode.get(node);
  setAttribute(scene.ring, "display", item?.place ? null : "none");
  scene.ringed = item ?? null;
  if (item?.place) moveRing(scene);
}

function paintReadouts(stage, reveals, count) {
  const [fixed, free] = SIDES.map((side) => expectedAt(reveals[side], count));
  setText(stage.parts.static, fixed.text);
  setText(stage.parts.dynamic, free.text);
  setText(stage.parts.gain, gainText(fixed.number, free.number));
  paintMeasured(stage);
  setAttribute(stage.parts.static, "data-exact", fixed.number);
  setAttribute(stage.parts.dynamic, "data-exact", free.number);
}

// Beside an outcome both numbers stand, each with its label.
function paintMeasured(stage) {
  const texts = stage.mode === "verify" ? measuredTexts(stage) : {};
  for (const [name, part] of Object.entries(stage.parts.measured)) {
    part.hidden = !texts[name];
    setText(part, texts[name] ?? "");
  }
}

function paintWords(stage, reveals, count) {
  const [phase, main, aside, beside] = wordsFor(stage, reveals, count);
  const named = main.indexOf(" is kept: ");
  setText(stage.parts.phase, phase);
  setText(stage.parts.who, named < 0 ? "" : main.slice(0, named));
  setText(stage.parts.main, named < 0 ? main : main.slice(named));
  setText(stage.parts.aside, aside ? ` ${aside}` : "");
  setText(stage.parts.captions.static, beside ?? "");
  setAttribute(stage.parts.captions.static, "title", beside ?? null);
}

function wordsFor(stage, reveals, count) {
  if (stage.mode === "verify") return verdictWords(stage);
  if (inLayers(stage)) return layerWords(stage);
  const { dynamic, static: fixed } = reveals;
  const keeping = stage.trace.sides.dynamic.keeping;
  const phase = `${keeping} · step ${count} of ${stage.budget}`;
  if (count === 0)
    return [phase, "Nothing kept yet: only the root, the last committed token.", "Every step keeps one more node in both trees."];
  const main = dynamic.why[count - 1] ?? `${stage.trace.sides.dynamic.name} has no candidate left.`;
  const missed = count === stage.budget ? (dynamic.missed[count] ?? "") : "";
  const beside = fixed.why[count - 1] ?? `${stage.trace.sides.static.name} has no candidate left.`;
  return [phase, main, missed, beside];
}

function layerWords(stage) {
  const { phases } = stage.trace;
  const row = phases.length + stage.layer;
  return [`Expand · layer ${row + 1} of ${phases.length}`, phases[row].sentence, "Nothing is kept yet, so both trees count 0."];
}

function paintCounts(stage, tallies) {
  for (const side of SIDES)
    setText(stage.parts.counts[side], `${tallies[side].shared} in both trees, ${tallies[side].only} only in this one`);
  const { wasted } = tallies.static;
  const [fixed, free] = sideNames(stage.trace);
  setText(stage.parts.wasted, `${wasted} ${wasted === 1 ? "node" : "nodes"} of ${fixed} wasted`);
  setAttribute(stage.parts.wasted, "title", `Each is less likely than every node of ${free}. Show them`);
  stage.parts.wasted.hidden = wasted === 0;
}

// Where a pool is smaller than the budget Python's sentence says so.
function paintNotice(stage) {
  const short = SIDES.map((side) => stage.trace.sides[side]).filter((one) => one.notice && stage.budget > one.available);
  setText(stage.parts.notice, [...new Set(short.map((one) => one.notice.replace("{budget}", stage.budget)))].join(" "));
}

export function paintControls(stage) {
  const [low, high] = cursorRange(stage);
  const [name, shown] = cursorName(stage);
  setRange(stage.parts.step, low, high, cursorOf(stage), shown);
  setText(stage.parts.stepName, name);
  setRange(stage.parts.budget, 1, stage.options.max_budget, stage.budget, `${stage.budget}`);
  for (const key of stage.parts.modes) setAttribute(key, "aria-pressed", key.dataset.mode === stage.mode);
  stage.parts.expanding.hidden = !inLayers(stage);
  stage.parts.kept.hidden = inLayers(stage);
  paintIdle(stage);
  setAttribute(stage.parts.play, "aria-pressed", Boolean(stage.playing));
  stage.parts.play.classList.toggle("playing", Boolean(stage.playing));
}

function paintIdle(stage) {
  for (const side of SIDES) {
    const words = idleWords(stage, side);
    setText(stage.parts.idles[side], words);
    stage.parts.idles[side].hidden = !words;
  }
}

// What an empty picture says: who waits while the other side expands, and before the first node what Play will do.
function idleWords(stage, side) {
  const { fixed, idle } = stage.trace.sides[side];
  if (inLayers(stage)) return side === "static" ? idle : "";
  if (keptCount(stage) > 0 || stage.playing || stage.candidates) return "";
  const order = fixed ? "always in the same order" : "chosen for this context";
  return `Step 0 of ${stage.budget}: press Play.\nEach step adds one node, ${order}.`;
}

function setRange(slider, low, high, value, text) {
  const { input, output } = slider;
  if (Number(input.min) !== low) input.min = low;
  if (Number(input.max) !== high) input.max = high;
  if (Number(input.value) !== value) input.value = value;
  setText(output, text);
  input.style.setProperty("--part", `${(100 * (value - low)) / Math.max(high - low, 1e-9)}%`);
}

function paintGhosts(stage, count) {
  const scene = stage.scenes.dynamic;
  if (!scene.stubs.size) return;
  const { at } = stage.reveals.dynamic;
  const looks = ghostLooks(stage);
  for (const node of scene.stubs.keys()) showGhost(scene, node, at[node] < count ? "" : looks(node));
}

// In an expand layer: what was scored so far, who is being expanded, who goes on. Later: everything scored.
function ghostLooks(stage) {
  const { phases } = stage.trace;
  const row = inLayers(stage) ? phases.length + stage.layer : null;
  if (row === null) return () => "scored";
  const seen = new Set(phases.slice(0, row + 1).flatMap((layer) => layer.scored));
  const [frontier, chosen] = [new Set(phases[row].frontier), new Set(phases[row].chosen)];
  return (node) => (frontier.has(node) ? "frontier" : chosen.has(node) ? "chosen" : seen.has(node) ? "scored" : "");
}
