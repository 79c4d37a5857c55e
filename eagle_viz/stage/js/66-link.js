// Linked looking: a node under the pointer, the focus or a tap lights the same rank path in the other tree and the way to the root.

import { clamp, html, setAttribute, setText, svg } from "./10-dom.js";
import { nameOf, SIDES, spelled, wayTo } from "./20-trace.js";
import { spotBeside } from "./30-geometry.js";
import { isShown, update } from "./35-state.js";

export function lookAt(stage, node, side, pinned) {
  if (stage.look && stage.look.node === node && stage.look.side === side && stage.look.pinned === pinned) return;
  update(stage, { look: node === null ? null : { node, side, pinned } });
  paintLink(stage);
  if (node !== null) announce(stage, describe(stage, node));
}

function describe(stage, node) {
  const shown = SIDES.filter((side) => isShown(stage, side, node));
  const where =
    shown.length === 2
      ? "in both trees"
      : shown.length === 1
        ? `only in the tree of ${stage.trace.sides[shown[0]].name}`
        : "kept by neither tree";
  return `${nameOf(stage.trace, node)}: ${spelled(stage.trace, node)}, ${where}`;
}

export function paintLink(stage) {
  const look =
    stage.look && (isShown(stage, "static", stage.look.node) || isShown(stage, "dynamic", stage.look.node)) ? stage.look : null;
  const way = look ? new Set(wayTo(stage.trace, look.node)) : null;
  for (const side of SIDES) {
    lightWay(stage.scenes[side], way, look?.node);
    placeTip(stage, side, look);
    setAttribute(
      stage.scenes[side].canvas,
      "aria-activedescendant",
      look && isShown(stage, side, look.node) ? idOf(stage, side, look.node) : null,
    );
  }
}

function idOf(stage, side, node) {
  return `${side}-${node === 0 ? "root" : stage.trace.nodes[node].path}`;
}

function lightWay(scene, way, node) {
  if (!way && !scene.lit) return;
  scene.lit = Boolean(way);
  scene.canvas.classList.toggle("looking", scene.lit);
  for (const item of scene.byNode.values()) {
    const on = Boolean(way?.has(item.node));
    item.edge.classList.toggle("lit", on);
    item.group.classList.toggle("lit", on);
    item.group.classList.toggle("looked", item.node === node);
  }
  scene.root.classList.toggle("looked", node === 0);
}

function placeTip(stage, side, look) {
  const tip = stage.parts.tips[side];
  const scene = stage.scenes[side];
  const place = look && placeIn(scene, look.node);
  tip.hidden = !place;
  paintAbsent(scene, place, look && !isShown(stage, side, look.node));
  if (!place) return;
  tip.replaceChildren(...tipLines(stage, side, look.node));
  const way = wayTo(stage.trace, look.node).map((node) => placeIn(scene, node));
  const box = { width: tip.offsetWidth / stage.scale, height: tip.offsetHeight / stage.scale };
  const { x, y } = spotBeside(box, way, scene.size);
  tip.style.transform = `translate(${(x * stage.scale).toFixed(0)}px, ${(y * stage.scale).toFixed(0)}px)`;
}

function placeIn(scene, node) {
  return scene.byNode.get(node)?.place ?? (node === 0 ? scene.place : scene.picture.places.get(node));
}

function tipLines(stage, side, node) {
  const { text, path } = stage.trace.nodes[node];
  if (!isShown(stage, side, node)) return [html("b", { class: "absent" }, ["not in this tree"])];
  const name = text === undefined ? `path ${path}` : `${text}  ·  path ${path}`;
  const wasted = stage.scenes[side].codes.get(node)?.endsWith("wasted")
    ? html("i", {}, [`wasted: less likely than every node of ${stage.trace.sides.dynamic.name}`])
    : null;
  return [html("b", {}, [name]), html("span", {}, [spelled(stage.trace, node)]), wasted].filter(Boolean);
}

function paintAbsent(scene, place, absent) {
  scene.absent ??= scene.canvas.appendChild(svg("circle", { class: "absent", r: 8 }));
  setAttribute(scene.absent, "display", place && absent ? null : "none");
  if (place && absent) setAttribute(scene.absent, "transform", `translate(${place.x.toFixed(1)} ${place.y.toFixed(1)})`);
}

// Where the nodes that are shown stand, in either tree: the panels share one view.
export function shownPlaces(stage) {
  return SIDES.flatMap((side) => {
    const { place, byNode } = stage.scenes[side];
    return [place, ...[...byNode.values()].filter((item) => item.code).map((item) => item.place)].filter(Boolean);
  });
}

// The visible node nearest to a point, within a finger's width.
export function nearest(stage, side, point, reach) {
  const scene = stage.scenes[side];
  let [best, found] = [reach * reach, null];
  const consider = (node, place) => {
    const distance = (place.x - point.x) ** 2 + (place.y - point.y) ** 2;
    if (distance < best) [best, found] = [distance, node];
  };
  if (scene.place) consider(0, scene.place);
  for (const [node, item] of scene.byNode) if (item.code && item.place) consider(node, item.place);
  return found;
}

// Walking the tree: which visible node an arrow key leads to.
export function neighbour(stage, side, node, key) {
  const shown = (list) => list.filter((i) => isShown(stage, side, i));
  const { parent } = stage.trace.nodes[node];
  if (key === "Home") return 0;
  if (key === "ArrowLeft") return Math.max(parent, 0);
  if (key === "ArrowRight") return shown(stage.trace.children[node])[0] ?? node;
  if (parent < 0) return node;
  const siblings = shown(stage.trace.children[parent]);
  return siblings[clamp(siblings.indexOf(node) + (key === "ArrowDown" ? 1 : -1), 0, siblings.length - 1)];
}

let announcing;
export function announce(stage, text) {
  clearTimeout(announcing);
  announcing = setTimeout(() => setText(stage.parts.live, text), 120);
}
