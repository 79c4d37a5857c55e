// Moves: what a user can do. Each changes the state, paints within the same event, and reports to Python when the hand lets go.

const SETTLE = 250;
const SPEED_BASE = 500;

function moveCursor(stage, cursor) {
  const [low, high] = cursorRange(stage);
  const to = clamp(Math.round(cursor), low, high);
  if (stage.mode === "verify") stage.turn = to;
  else [stage.step, stage.layer] = [Math.max(to, 0), Math.min(to, 0)];
  paint(stage);
  speak(stage);
}

function speak(stage) {
  const { phase, who, main, static: fixed, dynamic, gain } = stage.parts;
  const [sentence, numbers] = [`${who.textContent}${main.textContent}`, [fixed, dynamic, gain].map((part) => part.textContent)];
  announce(stage, `${phase.textContent}. ${sentence} Static ${numbers[0]}, dynamic ${numbers[1]}, gain ${numbers[2]}.`);
}

function moveBudget(stage, budget) {
  const to = clamp(Math.round(budget), 1, stage.options.max_budget);
  if (!serves(stage.book, to)) return askBudget(stage, to);
  const tier = tierOf(stage.book, stage.budget);
  Object.assign(stage, { budget: to, step: to, layer: 0, wanted: null });
  if (tierOf(stage.book, to) !== tier) arrangeStage(stage, true);
  paint(stage);
  speak(stage);
}

// Beyond what this trace serves: hold the picture, show the number, and let Python send the next tier.
function askBudget(stage, budget) {
  stage.wanted = budget;
  setText(stage.parts.budget.output, `${budget} …`);
  report(stage, 60);
}

function moveMode(stage, mode) {
  stop(stage);
  stage.mode = mode;
  stage.turn = 0;
  if (mode === "phases")
    Object.assign(stage, stage.book.trace.phases.length ? { step: 0, layer: -stage.book.trace.phases.length } : {});
  else if (stage.step === 0) Object.assign(stage, { step: stage.budget, layer: 0 });
  arrangeStage(stage, true);
  paint(stage);
  speak(stage);
  report(stage, 0);
}

function nudge(stage, by) {
  stop(stage);
  moveCursor(stage, cursorOf(stage) + by);
  report(stage);
}

function jump(stage, end) {
  stop(stage);
  moveCursor(stage, cursorRange(stage)[end]);
  report(stage);
}

// -- playing --------------------------------------------------------------------------------------------------------------

function stop(stage) {
  if (!stage.playing) return;
  clearInterval(stage.playing);
  stage.playing = null;
  paintControls(stage);
  report(stage);
}

function togglePlay(stage) {
  if (stage.playing) return stop(stage);
  const [low, high] = cursorRange(stage);
  if (cursorOf(stage) >= high) moveCursor(stage, low);
  stage.playing = setInterval(() => playOn(stage), paceOf(stage));
  paintControls(stage);
}

function paceOf(stage) {
  const hurry = stage.mode === "verify" && stage.book.trace.verify.kind === "rolls" ? 4 : 1;
  return SPEED_BASE / Number(stage.parts.speed.value) / hurry;
}

function playOn(stage) {
  moveCursor(stage, cursorOf(stage) + 1);
  if (cursorOf(stage) >= cursorRange(stage)[1]) stop(stage);
}

function changePace(stage) {
  if (!stage.playing) return;
  clearInterval(stage.playing);
  stage.playing = setInterval(() => playOn(stage), paceOf(stage));
}

// -- reporting to Python ----------------------------------------------------------------------------------------------------

function report(stage, delay = SETTLE) {
  clearTimeout(stage.reporting);
  stage.reporting = setTimeout(() => sendReport(stage), delay);
}

function sendReport(stage, sharpness = null) {
  clearTimeout(stage.reporting);
  const { step, mode, command, dragging, candidates } = stage;
  const budget = stage.wanted ?? stage.budget;
  stage.serial += 1;
  stage.send({
    step: stage.wanted === null ? step : budget,
    budget,
    mode,
    sharpness,
    dragging,
    candidates,
    command,
    serial: stage.serial,
  });
}

// -- sharpness: the newest value wins and none piles up, because the next one waits for the answer to the last ----------------

function moveSharpness(stage, value, dragging) {
  if (value === stage.sharpness && dragging === stage.dragging) return;
  Object.assign(stage, { sharpness: value, dragging });
  setText(stage.parts.sharpness.output, value.toFixed(2));
  const { input } = stage.parts.sharpness;
  input.style.setProperty("--part", `${(100 * (value - input.min)) / (input.max - input.min)}%`);
  if (stage.asking === null) askSharpness(stage);
  else stage.behind = true;
}

function askSharpness(stage) {
  Object.assign(stage, { asking: stage.sharpness, behind: false });
  clearTimeout(stage.patience);
  stage.patience = setTimeout(() => answered(stage), 1500);
  sendReport(stage, stage.sharpness);
}

function answered(stage) {
  clearTimeout(stage.patience);
  stage.asking = null;
  if (stage.behind) askSharpness(stage);
}
