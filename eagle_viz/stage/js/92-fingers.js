// Two fingers on a tree zoom and pan it, as on a map; one finger scrolls the page. Only touches are kept: they are captured by the
// node they came down on, so that they are seen to go up.

import { panned, zoomed } from "./30-geometry.js";
import { moveView } from "./78-sizes.js";

export function wireFingers(stage, side, at) {
  const { canvas } = stage.scenes[side];
  const touching = (event) => event.pointerType === "touch";
  canvas.addEventListener("pointerdown", (event) => {
    if (event.isPrimary) stage.fingers.clear(); // the first finger: one whose node was redrawn away may never have been seen to go
    if (touching(event)) stage.fingers.set(event.pointerId, { side, point: at(event) });
    if (stage.fingers.size > 1) stage.grip = null;
  });
  canvas.addEventListener("pointermove", (event) => stage.fingers.size > 1 && pinch(stage, event.pointerId, at(event)));
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => stage.fingers.delete(event.pointerId));
  for (const touch of ["touchstart", "touchmove"])
    canvas.addEventListener(touch, (event) => event.touches.length > 1 && event.cancelable && event.preventDefault(), {
      passive: false,
    });
}

export function pinch(stage, id, point) {
  const [one, two] = [...stage.fingers.keys()];
  const finger = stage.fingers.get(id);
  const other = stage.fingers.get(id === one ? two : one);
  if (!finger || (id !== one && id !== two) || finger.side !== other.side) return;
  const [was, now] = [between(finger.point, other.point), between(point, other.point)];
  finger.point = point;
  const { size } = stage.scenes[finger.side];
  moveView(stage, zoomed(panned(stage.view, now.x - was.x, now.y - was.y, size), now.span / was.span, now, size));
}

function between(a, b) {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, span: Math.max(Math.hypot(a.x - b.x, a.y - b.y), 1) };
}
