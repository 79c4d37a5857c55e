// Share: a link, a vector, a picture, the numbers. All made here in the browser.

import { html, SVG, setText, svg } from "./10-dom.js";
import { FAINT, SIDES } from "./20-trace.js";
import { keptCount } from "./35-state.js";
import { cut } from "./40-labels.js";
import { csvDocument, jsonDocument } from "./68-table.js";

const BAKED = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "paint-order",
  "stroke-linecap",
];

const HEAD = 64;
const FOOT = 30;

// A standing copy of both trees with every style written out: what they are of, readouts above, the legend below.
function pictureOf(stage) {
  const look = getComputedStyle(stage.root);
  const { width: across, height: down } = stage.scenes.static.size;
  const beside = !stage.root.classList.contains("stacked");
  const titles = titlesOf(stage.trace);
  const top = 22 * titles.length;
  const width = Math.round(beside ? 2 * across + 24 : across);
  const height = Math.round(top + (beside ? HEAD + down : 2 * (HEAD + down)) + FOOT);
  const spoken = stage.parts.live.textContent;
  const page = svg("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spoken });
  page.append(svg("rect", { width, height, fill: look.getPropertyValue("--paper").trim() }));
  for (const [i, text] of titles.entries())
    page.append(writing(look, "--ink", { x: 12, y: 20 + 22 * i, size: 14, weight: 600 - 200 * i }, cut(text, width / 7)));
  SIDES.forEach((side, i) => {
    const at = beside ? [i * (across + 24), top] : [0, top + i * (HEAD + down)];
    const tree = svg("g", { transform: `translate(0 ${HEAD})` }, bakedTree(stage.scenes[side]));
    page.append(svg("g", { transform: `translate(${at[0]} ${at[1]})` }, [titleOf(stage, side, look), tree]));
  });
  page.append(svg("g", { transform: `translate(12 ${height - FOOT})` }, legendOf(look)));
  return page;
}

function titlesOf({ label, prompt }) {
  return [label, prompt].filter(Boolean);
}

function writing(look, ink, { x, y, size, weight }, words) {
  const fill = look.getPropertyValue(ink).trim();
  return svg("text", { x, y, fill, "font-family": look.fontFamily, "font-size": size, "font-weight": weight }, [words]);
}

function titleOf(stage, side, look) {
  const ink = side === "static" ? "--gray" : "--blue";
  const gain = side === "dynamic" ? `  (${stage.parts.gain.textContent})` : "";
  const number = `${stage.parts[side].textContent} expected tokens accepted per pass${gain}`;
  return svg("g", {}, [
    writing(look, ink, { x: 12, y: 22, size: 14, weight: 600 }, `${stage.trace.sides[side].name} · ${keptCount(stage)} nodes`),
    writing(look, ink, { x: 12, y: 50, size: 20, weight: 700 }, number),
  ]);
}

// What the shapes mean, as below the trees.
function legendOf(look) {
  const stroke = look.getPropertyValue("--quiet").trim();
  const marks = [
    ["in both trees", 5, null],
    ["only in this one", 2.5, null],
    [`worth under ${FAINT}`, 2.5, "2 1.6"],
  ];
  return marks.flatMap(([words, rx, dashes], i) => [
    svg("rect", {
      x: 140 * i,
      y: 6,
      width: 10,
      height: 10,
      rx,
      stroke,
      fill: stroke,
      "fill-opacity": dashes ? 0 : 0.35,
      "stroke-dasharray": dashes,
    }),
    writing(look, "--quiet", { x: 140 * i + 16, y: 15, size: 12, weight: 400 }, words),
  ]);
}

function bakedTree(scene) {
  const frame = svg("svg", { width: scene.size.width, height: scene.size.height, overflow: "hidden" });
  const walk = (from, to) => {
    for (const child of from.children) {
      const style = getComputedStyle(child);
      if (style.display === "none" || style.visibility === "hidden") continue;
      const copy = child.cloneNode(false);
      for (const name of ["class", "style", "id", "role", "aria-level", "aria-label"]) copy.removeAttribute(name);
      for (const name of BAKED) copy.setAttribute(name, style.getPropertyValue(name));
      if (child.tagName === "text") copy.textContent = child.textContent;
      else walk(child, copy);
      to.append(copy);
    }
  };
  walk(scene.canvas, frame);
  return [frame];
}

function svgText(stage) {
  return new XMLSerializer().serializeToString(pictureOf(stage));
}

async function pngBlob(stage, scale = 2) {
  const source = svgText(stage);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
  await image.decode();
  const canvas = html("canvas", { width: image.width * scale, height: image.height * scale });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export function save(name, blob) {
  const link = html("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function fileName(stage, ending) {
  const label = (stage.trace.label || "draft trees").replace(/[^\w.]+/g, "-").replace(/^-+|-+$/g, "");
  return `${label}-step-${keptCount(stage)}-of-${stage.budget}.${ending}`;
}

async function copyLink(stage, said) {
  const link = stage.options.link ?? window.location.href;
  try {
    await navigator.clipboard.writeText(link);
    setText(said, "Link copied.");
  } catch {
    setText(said, link);
  }
}

export function makeSharing(stage) {
  const said = html("span", { class: "said", role: "status" });
  const write = (ending, type, make) => async () => {
    const content = await make(stage);
    save(fileName(stage, ending), content instanceof Blob ? content : new Blob([content], { type }));
    setText(said, `Saved ${ending.toUpperCase()}.`);
  };
  const entry = (testid, text, onclick) =>
    html("button", { type: "button", class: "word", "data-testid": testid, onclick }, [text]);
  const link = stage.options.offline ? null : entry("stage-copy-link", "Copy link", () => copyLink(stage, said));
  return [
    link,
    entry("stage-save-svg", "SVG", write("svg", "image/svg+xml", svgText)),
    entry("stage-save-png", "PNG", write("png", "image/png", pngBlob)),
    entry("stage-save-json", "JSON", write("json", "application/json", jsonDocument)),
    entry("stage-save-csv", "CSV", write("csv", "text/csv", csvDocument)),
    stage.options.offline ? null : entry("stage-save-player", "Player (HTML)", write("html", "text/html", playerDocument)),
    said,
  ].filter(Boolean);
}

async function playerDocument(stage) {
  const source = await (await fetch(import.meta.url)).text();
  const data = {
    trace: stage.trace.table,
    command: { told: 1, budget: stage.budget, step: stage.step, mode: stage.mode },
    options: {
      ...stage.options,
      sharpness: null,
      offline: true,
      ask: null,
      max_budget: Math.min(stage.options.max_budget, stage.trace.tier),
    },
  };
  const inert = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
  const parts = {
    TITLE: escaped(stage.trace.label || "Draft trees"),
    PROMPT: escaped(stage.trace.prompt ?? ""),
    STYLE: styleOf(stage),
    SOURCE: source,
    DATA: inert(data),
  };
  return PLAYER.replace(/%%(\w+)%%/g, (_, name) => parts[name]);
}

function escaped(text) {
  return text.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function styleOf(stage) {
  return [...stage.root.getRootNode().querySelectorAll("style")].map((style) => style.textContent).join("\n");
}
