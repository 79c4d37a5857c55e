// What comes from Python: a trace, a command when it wants something, options. An echo changes nothing.

function receive(stage, data) {
  stage.options = { ...DEFAULTS, ...data.options };
  const isNew = stage.book?.trace.id !== data.trace.id;
  const before = { book: stage.book, tier: stage.book && tierOf(stage.book, stage.budget), mode: stage.mode };
  if (isNew) openBook(stage, makeBook(data.trace));
  if (stage.wanted !== null && serves(stage.book, stage.wanted))
    Object.assign(stage, { budget: stage.wanted, step: stage.wanted, wanted: null });
  if (data.command.serial !== stage.command) obey(stage, data.command);
  keepInside(stage);
  dressStage(stage);
  if (isNew) for (const side of SIDES) stock(stage.scenes[side], stage.book, keptBy(stage.book, side));
  const moved = isNew || before.tier !== tierOf(stage.book, stage.budget) || before.mode !== stage.mode;
  if (stage.scenes.static.size.width > 1 && moved) arrangeStage(stage, Boolean(before.book));
  else resize(stage);
  if (stage.scenes.static.picture) paint(stage);
  acknowledge(stage, isNew && Boolean(before.book));
}

// Say once that this picture is on screen: after the frame that paints it, and after its nodes have come to rest.
function acknowledge(stage, gliding) {
  const token = stage.options.acknowledge;
  if (token === stage.acknowledged) return;
  stage.acknowledged = token;
  clearTimeout(stage.telling);
  if (token === null) return;
  const rest = gliding && !reducedMotion() ? GLIDE : 0;
  requestAnimationFrame(() => {
    if (stage.acknowledged === token) stage.telling = setTimeout(() => stage.tell(token), rest);
  });
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
  Object.assign(stage, {
    command: command.serial,
    budget: command.budget,
    step: Math.min(command.step, command.budget),
    layer: command.mode === "phases" && command.step === 0 ? -stage.book.trace.phases.length : 0,
    mode: command.mode,
    wanted: null,
  });
  if (changedMode) stage.turn = 0;
}

// A new trace may serve less than the old one showed.
function keepInside(stage) {
  const most = stage.book.trace.tier;
  if (stage.budget > most) stage.budget = most;
  while (stage.budget > 1 && !serves(stage.book, stage.budget)) stage.budget -= 1;
  stage.step = Math.min(stage.step, stage.budget);
  if (!stage.book.trace.phases.length && stage.mode === "phases") stage.layer = 0;
  stage.turn = Math.min(stage.turn, verdictLength(stage));
}

function dressStage(stage) {
  const { parts, options, book } = stage;
  for (const side of SIDES) {
    setText(parts.titles[side], book.trace.sides[side].title);
    setAttribute(
      stage.scenes[side].canvas,
      "aria-label",
      `${side} draft tree, ${book.trace.sides[side].title}. Arrow keys walk it.`,
    );
  }
  parts.modes.find((key) => key.dataset.mode === "phases").disabled = book.trace.phases.length === 0;
  dressSharpness(stage, options);
  if (!parts.sharing.childElementCount) parts.sharing.append(...makeSharing(stage));
  dressTheme(stage);
}

function dressSharpness(stage, options) {
  const { input, output, label } = stage.parts.sharpness;
  label.hidden = options.sharpness === null;
  if (label.hidden) return void (stage.sharpness = null); // or the next report would set the sharpness of a landscape long gone
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
  const dark = paper ? (shades[paper] ??= luminance(paper)) < 0.4 : window.matchMedia("(prefers-color-scheme: dark)").matches;
  setAttribute(stage.root, "data-theme", dark ? "dark" : "light");
  rulers.font = getComputedStyle(stage.root).fontFamily;
}

const shades = {};

function luminance(colour) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [r, g, b] = pen.getImageData(0, 0, 1, 1).data;
  return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
}
