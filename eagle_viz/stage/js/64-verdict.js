// The verify phase: seeded rolls made in Python, or the recorded verdict. A tree accepts the part of the path that it shows.

import { clamp, setAttribute } from "./10-dom.js";
import { acceptedBy, expectedAt, gainText, SIDES, sideNames } from "./20-trace.js";
import { pathAt, verdictLength } from "./35-state.js";

// Mean number of accepted nodes after each roll, for a side at the current budget.
function runningMeans(stage, side) {
  const key = `${stage.trace.id} ${side} ${stage.budget}`;
  if (stage.means[side]?.key !== key) {
    let sum = 0;
    const reveal = stage.reveals[side];
    const means = stage.trace.verify.rolls.map((path, i) => (sum += acceptedBy(reveal, path, stage.budget)) / (i + 1));
    stage.means[side] = { key, means };
  }
  return stage.means[side].means;
}

export function verdictWords(stage) {
  const { verify } = stage.trace;
  const counts = SIDES.map((side) => acceptedBy(stage.reveals[side], pathAt(stage), stage.budget));
  return verify.kind === "rolls" ? rollWords(stage, verify, counts) : recordedWords(stage, verify, counts);
}

// What stands below the expected numbers in this phase: the same as measured so far, tau counting the bonus token too, and the gain.
export function measuredTexts(stage) {
  const { verify } = stage.trace;
  if (stage.turn === 0) return { static: "measured: –", dynamic: "measured: –", gain: "measured: –" };
  const rolls = verify.kind === "rolls";
  const [fixed, free] = SIDES.map((side) =>
    rolls ? runningMeans(stage, side)[stage.turn - 1] : acceptedBy(stage.reveals[side], pathAt(stage), stage.budget),
  );
  const text = (value) =>
    rolls ? `measured: ${value.toFixed(2)} (tau\u00a0${(value + 1).toFixed(2)})` : `measured: ${value} of this text`;
  return { static: text(fixed), dynamic: text(free), gain: `measured: ${gainText(fixed, free)}` };
}

function rollWords(stage, verify, [fixed, free]) {
  const phase = `Verify · roll ${stage.turn} of ${verify.rolls.length}`;
  if (stage.turn === 0)
    return [
      phase,
      "One pass of the target checks the whole tree.",
      "At each node the target accepts at most one child, with that child's probability. Step or play the seeded rolls.",
    ];
  const [meanFixed, meanFree] = SIDES.map((side) => runningMeans(stage, side)[stage.turn - 1].toFixed(2));
  const [nameFixed, nameFree] = sideNames(stage.trace);
  const [wantFixed, wantFree] = SIDES.map((side) => expectedAt(stage.reveals[side], stage.budget).text);
  return [
    phase,
    `Same simulated continuation: ${nameFixed} keeps ${fixed} tokens, ${nameFree} ${free}.`,
    `Measured mean so far ${meanFixed} against ${meanFree}; expected ${wantFixed} against ${wantFree}.`,
  ];
}

function recordedWords(stage, verify, [fixed, free]) {
  const phase = `Verify · token ${stage.turn} of ${verdictLength(stage)}`;
  if (stage.turn === 0)
    return [phase, "One pass of the target checks the whole tree.", "Step through what the target really said next."];
  const [whole, other] = SIDES.map((side) => acceptedBy(stage.reveals[side], verify.path, stage.budget));
  const done = stage.turn > Math.max(whole, other);
  const [nameFixed, nameFree] = sideNames(stage.trace);
  if (!done)
    return [
      phase,
      `The target says ${verify.said[stage.turn - 1]}:`,
      `${nameFixed} has kept ${fixed} tokens, ${nameFree} ${free} so far.`,
    ];
  return [phase, `${nameFree}: ${verify.stops[other]}`, "", `${nameFixed}: ${verify.stops[whole]}`];
}

export function paintVerdict(stage) {
  const on = stage.mode === "verify";
  const { verify } = stage.trace;
  const path = on ? pathAt(stage) : [];
  const looked = on && stage.turn > 0 ? checkedAt(stage, path) : new Set();
  for (const side of SIDES) {
    const scene = stage.scenes[side];
    scene.canvas.classList.toggle("verifying", on && stage.turn > 0);
    for (const [node, item] of scene.byNode) markVerdict(item, path.includes(node), looked.has(stage.trace.nodes[node].parent));
    paintRunning(stage, side, on && verify.kind === "rolls");
  }
}

// The nodes whose children the target has judged so far: the root, and the path down from it.
function checkedAt(stage, path) {
  const way = [0, ...path];
  return new Set(stage.trace.verify.kind === "rolls" ? way : way.slice(0, stage.turn));
}

function markVerdict(item, accepted, judged) {
  const verdict = accepted ? "accepted" : judged ? "rejected" : "";
  if ((item.verdict ?? "") === verdict) return;
  item.verdict = verdict;
  for (const element of [item.group, item.edge])
    for (const word of ["accepted", "rejected"]) element.classList.toggle(word, word === verdict);
}

function paintRunning(stage, side, on) {
  const chart = stage.parts.running[side];
  setAttribute(chart, "display", on ? null : "none");
  if (!on) return;
  const goal = expectedAt(stage.reveals[side], stage.budget).number;
  const means = runningMeans(stage, side).slice(0, Math.max(stage.turn, 1));
  const y = (value) => (13 - clamp((value - goal) / (0.4 * goal || 1), -1, 1) * 11).toFixed(1);
  const x = (i) => ((118 * i) / Math.max(means.length - 1, 1) + 1).toFixed(1);
  chart.querySelector(".goal").setAttribute("d", `M1 ${y(goal)}H119`);
  chart.querySelector(".mean").setAttribute("d", stage.turn ? `M${means.map((value, i) => `${x(i)} ${y(value)}`).join("L")}` : "");
}
