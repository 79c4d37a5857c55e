// Sizes: lay out both panels for the state as it is, alike in scale and view.

function resize(stage) {
  if (!stage.book || !stage.root.isConnected) return;
  const width = stage.root.clientWidth;
  const stacked = width < 640;
  stage.root.classList.toggle("stacked", stacked);
  const height = stacked ? Math.round(stage.options.height * 0.72) : stage.options.height;
  for (const side of SIDES) setAttribute(stage.scenes[side].canvas, "height", height);
  const across = stage.scenes.static.canvas.parentElement.clientWidth;
  if (SIDES.every((side) => stage.scenes[side].size.width === across && stage.scenes[side].size.height === height))
    return;
  for (const side of SIDES) stage.scenes[side].size = { width: across, height };
  arrangeStage(stage, false);
  paint(stage);
}

// Lay out both panels for the state as it is: same scale, same view.
function arrangeStage(stage, glide) {
  const withPool = stage.candidates || (stage.mode === "phases" && stage.book.trace.phases.length > 0);
  for (const side of SIDES) {
    const scene = stage.scenes[side];
    const layout = layoutOf(stage.book, stage.budget, withPool && side === "dynamic");
    const picture = placeAll(stage.book, layout, scene.size, stage.view);
    arrange(scene, stage.book, picture, labelsFor(stage, side, picture), glide);
  }
  const dynamic = stage.scenes.dynamic;
  stockGhosts(
    dynamic,
    stage.book,
    withPool && hasPool(stage) ? [...dynamic.picture.places.keys()].filter((node) => node !== 0) : [],
  );
  arrangeGhosts(dynamic, stage.book);
}

function hasPool(stage) {
  return Boolean(layoutOf(stage.book, stage.budget, false).pool);
}

// One placement serves every budget of the tier: in reveal order, or by value where each budget reveals nodes of its own.
function labelsFor(stage, side, picture) {
  const { nodes, trace } = stage.book;
  const byValue = () => keptBy(stage.book, side).sort((a, b) => nodes[b].value - nodes[a].value);
  const order = trace.sides[side].nested ? pageOf(stage.book, side, stage.budget).order : byValue();
  const parents = new Set(order.filter((node) => picture.places.has(node)).map((node) => nodes[node].parent));
  return placeLabels(stage.book, order, picture, (node) => !parents.has(node));
}
