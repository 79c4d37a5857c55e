// A button above the fold that presses the stage's own Play.

function stagePlay(page) {
  for (const host of page.querySelectorAll(".st-key-stage *")) {
    const play = host.shadowRoot?.querySelector("[data-testid=stage-play]");
    if (play) return play;
  }
  return null;
}

export default function ({ parentElement }) {
  const page = (parentElement.getRootNode().host ?? parentElement).ownerDocument;
  parentElement.querySelector("button").onclick = () => stagePlay(page)?.click();
}
