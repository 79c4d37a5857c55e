// The rows of one verify pass, and the tree mask beside them: pointing at a row lights what it attends to in both.

const SVG = "http://www.w3.org/2000/svg";
const COLUMNS = ["row", "token", "parent", "position", "value", "after the pass"];

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function shape(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function tableOf(data) {
  const table = make("table");
  const head = table.createTHead().insertRow();
  head.append(...COLUMNS.map((title) => make("th", "", title)));
  const body = table.createTBody();
  data.rows.forEach((row, index) => {
    const line = body.insertRow();
    line.dataset.row = index;
    line.tabIndex = index ? -1 : 0;
    line.className = row.fate;
    const cells = [index, row.text, row.parent, row.position, row.value, row.said];
    line.append(...cells.map((cell, column) => make("td", column === 1 ? "word" : "", cell)));
  });
  return table;
}

function maskOf(data) {
  const size = data.rows.length;
  const band = Math.max(2, size / 12);
  const svg = shape("svg", { viewBox: `${-band - 1} 0 ${size + band + 1} ${size}`, role: "img", "aria-label": data.summary });
  svg.append(shape("rect", { class: "ground", x: 0, y: 0, width: size, height: size }));
  svg.append(shape("rect", { class: "prefix", x: -band - 1, y: 0, width: band, height: size }));
  data.rows.forEach((row, index) => {
    const group = shape("g", { class: `mask ${row.fate}`, "data-row": index });
    group.append(shape("rect", { class: "hit", x: 0, y: index, width: size, height: 1 }));
    group.append(...row.attends.map((column) => shape("rect", { x: column + 0.06, y: index + 0.06, width: 0.88, height: 0.88 })));
    svg.append(group);
  });
  return svg;
}

function light(root, data, index) {
  const lit = new Set(index === null ? [] : data.rows[index].attends);
  root.classList.toggle("pointing", index !== null);
  for (const element of root.querySelectorAll("[data-row]")) {
    const row = Number(element.dataset.row);
    element.classList.toggle("here", row === index);
    element.classList.toggle("lit", lit.has(row));
  }
  root.querySelector(".way").textContent = index === null ? data.invitation : data.rows[index].way;
}

function listen(root, data) {
  const rowOf = (event) => event.target.closest?.("[data-row]");
  root.onpointerover = (event) => light(root, data, rowOf(event) ? Number(rowOf(event).dataset.row) : null);
  root.onpointerleave = () => light(root, data, null);
  root.onfocusin = (event) => rowOf(event) && light(root, data, Number(rowOf(event).dataset.row));
  root.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const line = event.target.closest("tr[data-row]");
    const next = step && line && root.querySelector(`tr[data-row="${Number(line.dataset.row) + step}"]`);
    if (!next) return;
    event.preventDefault();
    line.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  };
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".rows");
  const list = make("div", "list");
  list.append(tableOf(data));
  const mask = make("div", "square");
  mask.append(maskOf(data), make("p", "way", data.invitation));
  root.replaceChildren(list, mask);
  listen(root, data);
}
