// Share: a link, a vector, a picture, the numbers. All made here in the browser.

import { html, SVG, setText, svg } from "./10-dom.js";
import { SIDES } from "./20-trace.js";
import { keptCount } from "./35-state.js";
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

// A standing copy of both trees with every style written out, readouts above.
function pictureOf(stage) {
  const look = getComputedStyle(stage.root);
  const top = 64;
  const sizes = SIDES.map((side) => stage.scenes[side].size);
  const beside = !stage.root.classList.contains("stacked");
  const width = beside ? sizes[0].width + sizes[1].width + 24 : sizes[0].width;
  const height = beside ? top + sizes[0].height : 2 * (top + sizes[0].height);
  const page = svg("svg", {
    xmlns: SVG,
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": stage.parts.live.textContent,
  });
  page.append(svg("rect", { width, height, fill: look.getPropertyValue("--paper").trim() }));
  SIDES.forEach((side, i) => {
    const at = beside ? [i * (sizes[0].width + 24), 0] : [0, i * (top + sizes[0].height)];
    page.append(
      svg("g", { transform: `translate(${at[0]} ${at[1]})` }, [
        titleOf(stage, side, look),
        svg("g", { transform: `translate(0 ${top})` }, bakedTree(stage.scenes[side])),
      ]),
    );
  });
  return page;
}

function titleOf(stage, side, look) {
  const ink = look.getPropertyValue(side === "static" ? "--gray" : "--blue").trim();
  const text = (y, size, weight, words) =>
    svg("text", { x: 12, y, fill: ink, "font-family": look.fontFamily, "font-size": size, "font-weight": weight }, [words]);
  const gain = side === "dynamic" ? `  (${stage.parts.gain.textContent})` : "";
  return svg("g", {}, [
    text(22, 13, 600, `${stage.trace.sides[side].name} · ${keptCount(stage)} nodes`),
    text(50, 24, 700, `${stage.parts[side].textContent} expected tokens accepted per pass${gain}`),
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
    command: { serial: 1, budget: stage.budget, step: stage.step, mode: stage.mode },
    options: {
      ...stage.options,
      sharpness: null,
      offline: true,
      acknowledge: null,
      max_budget: Math.min(stage.options.max_budget, stage.trace.tier),
    },
  };
  const inert = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
  const parts = {
    TITLE: stage.trace.label.replace(/[<>&]/g, " ") || "Draft trees",
    STYLE: styleOf(stage),
    SOURCE: source,
    DATA: inert(data),
  };
  return PLAYER.replace(/%%(\w+)%%/g, (_, name) => parts[name]);
}

function styleOf(stage) {
  return [...stage.root.getRootNode().querySelectorAll("style")].map((style) => style.textContent).join("\n");
}
