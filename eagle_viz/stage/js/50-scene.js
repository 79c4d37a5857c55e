// The scene: one SVG a side. Elements are made once per trace and keyed by rank path; a step only changes attributes.

import { clamp, reducedMotion, setAttribute, setText, svg } from "./10-dom.js";
import { isFaint } from "./20-trace.js";
import { edgePath, radiusOf } from "./30-geometry.js";
import { cut, LONGEST_TOKEN } from "./40-labels.js";

export const GLIDE = 260;

export function makeScene(side) {
  const edges = svg("g", { class: "edges", "aria-hidden": "true" });
  const ghosts = svg("g", { class: "ghosts", "aria-hidden": "true" });
  const marks = svg("g", { class: "marks", role: "group" });
  const ring = svg("circle", { class: "ring", r: 12, display: "none" });
  const root = svg("g", { class: "root", id: `${side}-root`, role: "treeitem", "aria-level": 1, "data-root": side }, [
    svg("circle", { class: "mark", r: 8 }),
    svg("text", { class: "token", y: -13, "text-anchor": "start", x: -8 }),
  ]);
  marks.append(root);
  const canvas = svg("svg", { class: "tree", tabindex: 0, role: "tree" }, [ghosts, edges, marks, ring]);
  return {
    side,
    canvas,
    edges,
    ghosts,
    marks,
    ring,
    root,
    items: new Map(),
    stubs: new Map(),
    codes: new Map(),
    size: { width: 1, height: 1 },
  };
}

// Keep the elements of paths that stay, add new ones, remove the gone: so nodes glide by identity when the landscape changes.
export function syncElements(scene, trace, kept) {
  const wanted = new Set(kept.map((node) => trace.nodes[node].path));
  for (const [path, item] of scene.items) if (!wanted.has(path)) discard(scene, path, item);
  for (const node of kept) {
    const { path } = trace.nodes[node];
    if (!scene.items.has(path)) scene.items.set(path, makeItem(scene, path));
    applyLook(scene.items.get(path), trace, node);
  }
  scene.codes.clear();
  scene.trace = trace;
  scene.byNode = new Map(kept.map((node) => [node, scene.items.get(trace.nodes[node].path)]));
  setText(scene.root.querySelector("text"), cut(trace.nodes[0].text ?? "", 18));
  setAttribute(scene.root, "aria-label", `root: ${trace.nodes[0].text ?? "the last committed token"}`);
}

function makeItem(scene, path) {
  const edge = svg("path", { class: "edge", display: "none" });
  const mark = svg("rect", { class: "mark" });
  const value = svg("text", { class: "value" });
  const token = svg("text", { class: "token" });
  const group = svg("g", { class: "node", id: `${scene.side}-${path}`, role: "treeitem", display: "none" }, [
    mark,
    svg("path", { class: "cross", d: "M-3-3 3 3M3-3-3 3" }),
    value,
    token,
  ]);
  scene.edges.append(edge);
  scene.marks.append(group);
  return { edge, group, mark, value, token, place: null };
}

function discard(scene, path, item) {
  item.edge.remove();
  item.group.remove();
  scene.items.delete(path);
}

function applyLook(item, trace, node) {
  const { path, value, shown, depth, text, odds } = trace.nodes[node];
  const tone = Math.sqrt(value);
  item.node = node;
  setAttribute(item.group, "aria-level", depth + 1);
  setAttribute(item.group, "aria-label", `${text === undefined ? `node ${path}` : text}, confidence ${odds}, worth ${shown}`);
  const faint = isFaint(trace.nodes[node]);
  item.group.classList.toggle("faint", faint);
  item.edge.classList.toggle("faint", faint);
  item.group.classList.toggle("heavy", value >= 0.1);
  item.group.style.setProperty("--tone", (0.14 + 0.72 * tone).toFixed(3));
  item.edge.style.setProperty("--tone", (0.28 + 0.6 * tone).toFixed(3));
  item.edge.style.setProperty("--width", (1 + 3 * value).toFixed(2));
}

// Put every element where the picture says, at once or gliding from where it is.
export function arrange(scene, trace, picture, labels, glide) {
  scene.picture = picture;
  cancelAnimationFrame(scene.gliding);
  for (const item of scene.byNode.values()) shapeItem(item, trace, picture, labels.get(item.node));
  const goals = goalsOf(scene, picture);
  if (!glide || reducedMotion() || !goals.some((goal) => goal.from)) return settle(scene, trace, goals, 1);
  const began = performance.now();
  const frame = (now) => {
    const t = clamp((now - began) / GLIDE, 0, 1);
    settle(scene, trace, goals, 1 - (1 - t) ** 3);
    if (t < 1) scene.gliding = requestAnimationFrame(frame);
  };
  settle(scene, trace, goals, 0);
  scene.gliding = requestAnimationFrame(frame);
}

function goalsOf(scene, picture) {
  const root = { item: scene, element: scene.root, from: scene.place, to: picture.places.get(0) };
  const goals = [root];
  for (const item of scene.byNode.values()) {
    const to = picture.places.get(item.node);
    if (to) goals.push({ item, element: item.group, from: item.place, to });
  }
  return goals;
}

function settle(scene, trace, goals, t) {
  for (const goal of goals) {
    const { from, to } = goal;
    goal.item.place = from ? { x: from.x + (to.x - from.x) * t, y: from.y + (to.y - from.y) * t } : to;
    goal.element.setAttribute("transform", `translate(${goal.item.place.x.toFixed(2)} ${goal.item.place.y.toFixed(2)})`);
  }
  for (const { item } of goals.slice(1))
    item.edge.setAttribute("d", edgePath(placeOf(scene, trace.nodes[item.node].parent), item.place));
  scene.canvas.dispatchEvent(new Event("moved"));
}

function placeOf(scene, node) {
  return node === 0 ? scene.place : (scene.byNode.get(node)?.place ?? scene.picture.places.get(node));
}

function shapeItem(item, trace, picture, labels) {
  const r = radiusOf(trace.nodes[item.node].value, picture.down);
  item.radius = r;
  for (const [name, value] of [
    ["x", -r],
    ["y", -r],
    ["width", 2 * r],
    ["height", 2 * r],
  ])
    setAttribute(item.mark, name, value.toFixed(2));
  if (item.code) roundOff(item, item.code);
  writeLabel(item.value, labels?.value, trace.nodes[item.node].shown, r);
  writeLabel(item.token, labels?.token, trace.nodes[item.node].text ?? "", r);
}

function writeLabel(element, spot, text, radius) {
  element.classList.toggle("crowded", !spot);
  const { dx, dy, anchor } = spot ?? { dx: 0, dy: -radius - 4, anchor: "middle" };
  setText(element, spot?.text ?? cut(text, LONGEST_TOKEN));
  setAttribute(element, "x", dx.toFixed(1));
  setAttribute(element, "y", dy.toFixed(1));
  setAttribute(element, "text-anchor", anchor);
}

function roundOff(item, code) {
  setAttribute(item.mark, "rx", code.includes("shared") ? item.radius.toFixed(2) : Math.min(2.5, item.radius / 2).toFixed(2));
}

// The code of a node says how it looks: "" hidden, else words that are its classes too.
export function codeOf(node, at, otherAt, count, least, value) {
  if (!(at[node] < count)) return "";
  const where = otherAt[node] < count ? "shared" : "only";
  const fresh = at[node] === count - 1 ? " fresh" : "";
  return where + fresh + (value < least ? " wasted" : "");
}

export function showNode(scene, node, code) {
  const item = scene.byNode.get(node);
  if (scene.codes.get(node) === code || !item) return;
  scene.codes.set(node, code);
  item.code = code;
  setAttribute(item.group, "display", code ? null : "none");
  setAttribute(item.edge, "display", code ? null : "none");
  const { path, value } = scene.trace.nodes[node];
  for (const [name, fact] of [
    ["tree", scene.side],
    ["path", path],
    ["value", value],
  ])
    setAttribute(item.group, `data-${name}`, code ? fact : null);
  for (const word of ["shared", "only", "fresh", "wasted"]) item.group.classList.toggle(word, code.split(" ").includes(word));
  if (code) roundOff(item, code);
}

export function syncGhosts(scene, trace, nodes) {
  scene.ghosts.replaceChildren();
  scene.stubs.clear();
  for (const node of nodes) {
    const stub = svg("path", { class: "stub" });
    const dot = svg("circle", { class: "dot", r: 1.8, "data-ghost": trace.nodes[node].path });
    scene.ghosts.append(stub, dot);
    scene.stubs.set(node, { stub, dot });
  }
}

export function arrangeGhosts(scene, trace) {
  for (const [node, { stub, dot }] of scene.stubs) {
    const to = scene.picture.places.get(node);
    const from = scene.picture.places.get(trace.nodes[node].parent);
    setAttribute(dot, "cx", to.x.toFixed(1));
    setAttribute(dot, "cy", to.y.toFixed(1));
    setAttribute(stub, "d", edgePath(from, to));
  }
}

export function showGhost(scene, node, look) {
  const pair = scene.stubs.get(node);
  if (pair.look === look) return;
  pair.look = look;
  for (const element of [pair.stub, pair.dot]) {
    setAttribute(element, "display", look ? null : "none");
    element.classList.toggle("frontier", look === "frontier");
    element.classList.toggle("chosen", look === "chosen");
  }
  setAttribute(pair.dot, "r", look === "scored" ? 1.8 : 3);
}

export function moveRing(scene) {
  if (!scene.ringed?.place) return;
  setAttribute(scene.ring, "r", (scene.ringed.radius + 3).toFixed(1));
  setAttribute(scene.ring, "transform", `translate(${scene.ringed.place.x.toFixed(2)} ${scene.ringed.place.y.toFixed(2)})`);
}
