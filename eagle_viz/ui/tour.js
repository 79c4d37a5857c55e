// Brings the picture of a stop into sight, once for each stop: the card goes to the top of the page, the trees come right below.

const PATIENCE = 30_000;
const HANDS = ["wheel", "touchstart", "pointerdown", "keydown"];
let shown = null;

// The page is still growing when a stop begins, so keep the place until it stands or somebody scrolls.
function hold(card, page, growing) {
  const watch = new ResizeObserver(() => {
    const picture = page.querySelector(".st-key-lab");
    if (!picture) return;
    const gap = parseFloat(getComputedStyle(card.parentElement.parentElement).rowGap) || 0;
    const top = picture.getBoundingClientRect().top - page.getBoundingClientRect().top;
    page.scrollTop += top - card.getBoundingClientRect().height - gap;
  });
  const stop = () => {
    watch.disconnect();
    for (const hand of HANDS) window.removeEventListener(hand, stop, true);
  };
  for (const hand of HANDS) window.addEventListener(hand, stop, true);
  watch.observe(growing);
  setTimeout(stop, PATIENCE);
}

export default function ({ data, parentElement }) {
  const host = parentElement.getRootNode().host ?? parentElement;
  const [card, page] = [host.closest(".st-key-tour"), host.closest("[data-testid=stMain]")];
  const growing = page?.querySelector("[data-testid=stMainBlockContainer]");
  if (data.stop !== shown && card && growing) hold(card, page, growing);
  shown = data.stop;
  return () => (shown = null);
}
