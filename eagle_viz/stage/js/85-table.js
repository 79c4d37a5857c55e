// The same nodes as a table, and as files.

function tableRows(stage) {
  const { book, pages } = stage;
  const count = keptCount(stage);
  const shown = book.nodes
    .map((_, i) => i)
    .slice(1)
    .filter((i) => SIDES.some((side) => pages[side].at[i] < count));
  return shown.map((i) => ({
    node: i,
    row: book.nodes[i],
    static: pages.static.at[i] < count,
    dynamic: pages.dynamic.at[i] < count,
  }));
}

function paintTable(stage) {
  const named = stage.book.trace.real;
  const head = ["Path", ...(named ? ["Token"] : []), "Depth", "Confidence", "Value", "Static", "Dynamic"];
  const body = tableRows(stage).map(({ row, ...here }) => {
    const cells = [row.path, ...(named ? [row.text] : []), row.depth, row.confidence.toFixed(4), row.value.toFixed(4)];
    return html(
      "tr",
      {},
      [...cells, here.static ? "kept" : "–", here.dynamic ? "kept" : "–"].map((cell) => html("td", {}, [String(cell)])),
    );
  });
  const table = html("table", {}, [
    html("caption", {}, [`Nodes kept at step ${keptCount(stage)} of budget ${stage.budget}`]),
    html("thead", {}, [
      html(
        "tr",
        {},
        head.map((name) => html("th", { scope: "col" }, [name])),
      ),
    ]),
    html("tbody", {}, body),
  ]);
  stage.parts.table.replaceChildren(table);
}

function sideDocument(stage, side) {
  const page = stage.pages[side];
  const count = Math.min(keptCount(stage), page.order.length);
  const { nodes } = stage.book;
  const kept = page.order.slice(0, count).map((i) => nodes[i]);
  return {
    policy: stage.book.trace.sides[side].policy,
    budget: count,
    expected_accepted: page.expected[count],
    depth: Math.max(0, ...kept.map((node) => node.depth)),
    nodes: kept.map(({ path, confidence, value, token, text }) => ({
      path,
      confidence,
      value,
      ...(text === undefined ? {} : { token, text }),
    })),
  };
}

function jsonDocument(stage) {
  const [fixed, free] = SIDES.map((side) => sideDocument(stage, side));
  const gain =
    fixed.expected_accepted > 0
      ? free.expected_accepted / fixed.expected_accepted - 1
      : free.expected_accepted > 0
        ? null
        : 0;
  return `${JSON.stringify({ version: 1, label: stage.book.trace.label, static: fixed, dynamic: free, gain }, null, 1)}\n`;
}

function csvDocument(stage) {
  const quote = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const head = ["version", "tree", "step", "path", "depth", "text", "confidence", "value"].join(",");
  const lines = SIDES.flatMap((side) =>
    sideDocument(stage, side).nodes.map((node, i) =>
      [
        1,
        side,
        i + 1,
        node.path,
        node.path.split(".").length,
        quote(node.text ?? ""),
        node.confidence,
        node.value,
      ].join(","),
    ),
  );
  return `${[head, ...lines].join("\n")}\n`;
}
