// The stage's furniture: every control and readout, made once. The names in data-testid are relied on by scripts.

import { html, svg } from "./10-dom.js";
import { FAINT, SIDES } from "./20-trace.js";
import { makeNumbers } from "./58-numbers.js";

const SPEEDS = [
  ["0.5", "½×"],
  ["1", "1×"],
  ["2", "2×"],
  ["4", "4×"],
];
const MODES = [
  ["nodes", "Nodes", "Keep node by node"],
  ["phases", "Phases", "Watch the drafter expand, then rerank"],
  ["verify", "Verify", "Watch the target accept or reject"],
];
const KEYS = [
  ["← →", "step"],
  ["Home End", "first, last"],
  ["Space", "play or pause"],
  ["Ctrl + wheel", "zoom"],
  ["drag", "pan"],
  ["two fingers", "zoom and pan"],
  ["Tab, then arrows", "walk a tree"],
  ["F", "full screen"],
  ["Esc", "let go of a node, shut a panel, leave the full screen"],
];
const GLYPHS = {
  first: "M4 3.5v9M12 3.5 7.5 8l4.5 4.5",
  back: "M10 3.5 5.5 8l4.5 4.5",
  next: "M6 3.5 10.5 8 6 12.5",
  last: "M12 3.5v9M4 3.5 8.5 8 4 12.5",
  play: "M5.5 3.5v9l7-4.5z",
  minus: "M3 8h10",
  plus: "M3 8h10M8 3v10",
  fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  full: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
};

function glyph(name) {
  return svg("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true", class: `glyph ${name}` }, [
    svg("path", { d: GLYPHS[name] }),
  ]);
}

export function button(name, testid, label, attributes = {}) {
  return html("button", { type: "button", "data-testid": testid, "aria-label": label, title: label, ...attributes }, [glyph(name)]);
}

// A word of the field, explained while the pointer or the focus is on it.
function term(word, what) {
  return html("dfn", { tabindex: 0 }, [word, html("span", { class: "bubble", role: "tooltip" }, [what])]);
}

const TERMS = {
  expected: [
    "expected tokens accepted per pass",
    "The sum of the path products of all nodes of the tree: how many draft tokens one verify pass accepts on average if the drafter's confidences are right. The bonus token is not counted.",
  ],
  budget: ["budget", "How many draft tokens a tree may hold, the root not counted. Each of them is checked in the verify pass."],
  product: [
    "path product",
    "The confidences from the root down to a node, multiplied: the chance that the target accepts all of them.",
  ],
  confidence: ["confidence", "The drafter's own probability of a token, given the path to it."],
  tau: [
    "tau",
    "Tokens written per verify pass: the accepted draft tokens and one bonus token of the target, so expected tokens + 1.",
  ],
};

function readout(side) {
  const gain = side === "gain";
  return html("div", { class: `readout ${side}` }, [
    html("dt", {}, [html("span", { class: "of" }), gain ? null : term(...TERMS.expected)]),
    html("dd", { "data-testid": `stage-${gain ? "gain" : `${side}-expected`}` }),
    html("dd", { class: "measured", hidden: true, "data-testid": `stage-${side}-measured` }),
  ]);
}

function makeHead() {
  return html("div", { class: "head" }, [
    html("dl", { class: "readouts" }, [readout("static"), readout("dynamic"), readout("gain")]),
    html("div", { class: "say" }, [
      html("span", { class: "pill", "data-testid": "stage-phase" }),
      html("p", { class: "sentence", "data-testid": "stage-sentence" }, [
        html("b"),
        html("span", { class: "main" }),
        html("span", { class: "aside" }),
      ]),
    ]),
  ]);
}

function makePanel(scene) {
  const heading = html("h3", {}, [
    html("span", { class: "title" }),
    html("span", { class: "kind" }),
    html("span", { class: "counts" }),
  ]);
  const tip = html("div", { class: "tip", hidden: true });
  const chart = svg("svg", { class: "running", display: "none", viewBox: "0 0 120 26", "aria-hidden": "true" }, [
    svg("path", { class: "goal" }),
    svg("path", { class: "mean" }),
  ]);
  heading.append(chart);
  const caption = html("p", { class: "caption" });
  return html("section", { class: `panel ${scene.side}` }, [
    heading,
    caption,
    html("div", { class: "field" }, [scene.canvas, html("p", { class: "idle", hidden: true }), tip]),
  ]);
}

function range(testid, label, tone) {
  return html("label", { class: `slide ${tone}` }, [
    html("span", { class: "name" }, [html("span", {}, [label]), " ", html("output", {})]),
    html("input", { type: "range", "data-testid": testid, "aria-label": label, min: 0, max: 1, step: 1, value: 0 }),
  ]);
}

function makeTransport() {
  const buttons = [
    button("first", "stage-first", "First step (Home)"),
    button("back", "stage-back", "Back one step (left arrow)"),
    button("play", "stage-play", "Play (Space)", { "aria-pressed": "false" }),
    button("next", "stage-next", "Next step (right arrow)"),
    button("last", "stage-last", "Last step (End)"),
  ];
  const speed = html(
    "select",
    { "data-testid": "stage-speed", "aria-label": "Play speed", title: "Play speed" },
    SPEEDS.map(([value, text]) => html("option", { value, selected: value === "1" }, [text])),
  );
  return html("div", { class: "transport" }, [
    html("div", { class: "buttons" }, [...buttons, speed]),
    range("stage-step", "Step", "step"),
    range("stage-budget", "Budget", "budget"),
  ]);
}

function makeTools() {
  const modes = html(
    "div",
    { class: "modes", role: "group", "aria-label": "What a step is" },
    MODES.map(([value, text, title]) =>
      html("button", { type: "button", "data-mode": value, "data-testid": `stage-mode-${value}`, title, "aria-pressed": "false" }, [
        text,
      ]),
    ),
  );
  const zoom = html("div", { class: "buttons" }, [
    button("minus", "stage-zoom-out", "Zoom out"),
    button("fit", "stage-fit", "Fit"),
    button("plus", "stage-zoom-in", "Zoom in"),
    button("full", "stage-full", "Full screen, larger words (F)", { "aria-pressed": "false" }),
  ]);
  const word = (testid, text, title) =>
    html("button", { type: "button", class: "word", "data-testid": testid, title, "aria-pressed": "false" }, [text]);
  return html("div", { class: "tools" }, [
    modes,
    range("stage-sharpness", "Sharpness", "sharpness"),
    zoom,
    html("div", { class: "buttons words" }, [
      word("stage-candidates", "Candidates", "Show what was scored but not kept"),
      word("stage-table-toggle", "Table", "The same nodes as a table"),
      word("stage-keys-toggle", "Keys", "Keyboard"),
      word("stage-share", "Share", "Copy or save this picture"),
    ]),
  ]);
}

function sample(shape, text) {
  const picture = svg("svg", { width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" }, [shape]);
  return html("span", { class: "sample" }, [picture, html("span", {}, [text])]);
}

function makeLegend() {
  const box = (look, rx) => svg("rect", { class: look, x: 2, y: 2, width: 10, height: 10, rx });
  const dot = (look, r) => svg("circle", { class: `dot ${look}`, cx: 7, cy: 7, r });
  return html("div", { class: "legend" }, [
    html("span", { class: "kept" }, [
      sample(box("shared", 5), "in both trees"),
      sample(box("only", 2.5), "only in this one"),
      sample(box("faint", 2.5), `worth under ${FAINT}`),
    ]),
    html("span", { class: "reading" }, [
      "What is a ",
      term(...TERMS.product),
      ", a ",
      term(...TERMS.confidence),
      ", the ",
      term(...TERMS.budget),
      ", ",
      term(...TERMS.tau),
      "?",
    ]),
    html("span", { class: "expanding", hidden: true }, [
      sample(dot("frontier", 4), "expanded in this pass"),
      sample(dot("chosen", 4), "goes on"),
      sample(dot("scored", 2.5), "scored"),
    ]),
    html("button", {
      type: "button",
      class: "wasted",
      "data-testid": "stage-wasted",
      "aria-pressed": "false",
      title: "Show them",
    }),
    html("span", { class: "notice", role: "status" }),
  ]);
}

export function makeSkeleton(scenes) {
  const root = html(
    "div",
    { class: "stage", "data-testid": "stage", role: "group", "aria-label": "Two draft trees on one landscape" },
    [
      makeHead(),
      html("div", { class: "board" }, [
        html(
          "div",
          { class: "panels" },
          SIDES.map((side) => makePanel(scenes[side])),
        ),
        makeLegend(),
        makeTransport(),
        makeTools(),
        html(
          "ul",
          { class: "keys", hidden: true, "data-testid": "stage-keys" },
          KEYS.map(([key, what]) => html("li", {}, [html("kbd", {}, [key]), ` ${what}`])),
        ),
        html("div", { class: "sharing", hidden: true, "data-testid": "stage-share-menu" }),
        html("div", {
          class: "table",
          hidden: true,
          tabindex: 0,
          role: "region",
          "aria-label": "Table of nodes",
          "data-testid": "stage-table",
        }),
      ]),
      makeNumbers(),
      html("div", { class: "unseen", "aria-live": "polite", "data-testid": "stage-live" }),
    ],
  );
  return root;
}
