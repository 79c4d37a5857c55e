// The whole screen for a class: larger words, the trees as high as there is room for. Where the browser refuses (a frame without that
// right), the stage fills its page instead.

import { setAttribute } from "./10-dom.js";
import { update } from "./35-state.js";
import { resize } from "./78-sizes.js";

export function toggleFull(stage) {
  if (stage.full) return leaveFull(stage);
  showFull(stage, true);
  stage.root.requestFullscreen?.().catch(() => {});
}

export function leaveFull(stage) {
  if (!stage.full) return;
  showFull(stage, false);
  if (document.fullscreenElement) document.exitFullscreen();
}

// The browser's own way out (Escape, or a swipe) ends it too.
export function watchFull(stage) {
  stage.root.addEventListener("fullscreenchange", () => (document.fullscreenElement ? resize(stage) : leaveFull(stage)));
}

function showFull(stage, full) {
  update(stage, { full });
  stage.root.classList.toggle("full", full);
  setAttribute(stage.parts.full, "aria-pressed", full);
  setAttribute(stage.parts.full, "title", full ? "Leave the full screen (F or Esc)" : "Full screen, larger words (F)");
  resize(stage);
}
