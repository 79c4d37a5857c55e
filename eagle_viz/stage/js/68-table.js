// The same nodes as a table, and as files.

import { html } from "./10-dom.js";
import { SIDES, sideNames } from "./20-trace.js";
import { keptCount } from "./35-state.js";

function tableRows(stage) {
  const { trace, reveals } = stage;
  const count = keptCount(stage);
  const shown = trace.nodes
    .map((_, i) => i)
    .slice(1)
    .filter((i) => SIDES.some((side) => reveals[side].at[i] < count));
  return shown.map((i) => ({
    node: i,
    row: trace.nodes[i],
    static: reveals.static.at[i] < count,
    dynamic: reveals.dynamic.at[i] < count,
  }));
}

export function paintTable(stage) {
  const named = stage.trace.real;
  const head = ["Path", ...(named ? ["Token"] : []), "Depth", "Confidence", "Value", ...sideNames(stage.trace)];
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
  const reveal = stage.reveals[side];
  const count = Math.min(keptCount(stage), reveal.order.length);
  const { nodes } = stage.trace;
  const kept = reveal.order.slice(0, count).map((i) => nodes[i]);
  return {
    policy: stage.trace.sides[side].policy,
    budget: count,
    expected_accepted: reveal.expected[count],
    depth: Math.max(0, ...kept.map((node) => node.depth)),
    nodes: kept.map(({ path, confidence, value, token, text }) => ({
      path,
      confidence,
      value,
      ...(text === undefined ? {} : { token, text }),
    })),
  };
}

export function jsonDocument(stage) {
  const [fixed, free] = SIDES.map((side) => sideDocument(stage, side));
  const gain =
    fixed.expected_accepted > 0 ? free.expected_accepted / fixed.expected_accepted - 1 : free.expected_accepted > 0 ? null : 0;
  return `${JSON.stringify({ version: 1, label: stage.trace.label, static: fixed, dynamic: free, gain }, null, 1)}\n`;
}

export function csvDocument(stage) {
  const quote = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const head = ["version", "tree", "step", "path", "depth", "text", "confidence", "value"].join(",");
  const lines = SIDES.flatMap((side) =>
    sideDocument(stage, side).nodes.map((node, i) =>
      [1, side, i + 1, node.path, node.path.split(".").length, quote(node.text ?? ""), node.confidence, node.value].join(","),
    ),
  );
  return `${[head, ...lines].join("\n")}\n`;
}
