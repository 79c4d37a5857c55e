// Making and finding elements; nothing here knows what a tree is.

export const SVG = "http://www.w3.org/2000/svg";

export function html(tag, attributes = {}, children = []) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, children = []) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Text always goes in as a text node, so markup inside a token stays inert.
export function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...[children].flat().filter((child) => child !== null));
  return element;
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

export function reducedMotion() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// The element that really has the focus, inside whichever shadow root.
export function focused() {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
}
