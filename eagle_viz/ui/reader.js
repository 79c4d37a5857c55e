// The answer with its passes, and a strip of what each pass's trees looked like. It shows and reports a click; it decides nothing.

const ROWS = [
  ["accepted", "accepted tokens"],
  ["depth", "depth of the tree"],
  ["width", "width of the tree"],
];
const EVERY = (count) => (count > 12 ? 5 : 1);

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function tokenOf(token) {
  const element = make("span", `token ${token.kind}`, token.text);
  element.title = token.hint;
  return element;
}

function cycleOf(cycle, index, selected) {
  const element = make("span", "cycle");
  element.dataset.cycle = index;
  element.setAttribute("role", "button");
  element.setAttribute("aria-pressed", index === selected);
  element.setAttribute("aria-label", cycle.label);
  element.tabIndex = index === selected ? 0 : -1;
  element.classList.toggle("selected", index === selected);
  element.classList.toggle("harvest", cycle.harvest);
  element.append(...cycle.tokens.map(tokenOf));
  if (cycle.harvest) element.append(make("sup", "count", cycle.produced));
  return element;
}

function textOf(data) {
  const text = make("div", "text");
  text.append(make("span", "token given", data.before));
  text.append(...data.cycles.map((cycle, index) => cycleOf(cycle, index, data.selected)));
  return text;
}

function barsOf(cycle, field, most) {
  const pair = make("span", "pair");
  for (const side of ["static", "dynamic"]) {
    const bar = make("i", side);
    bar.style.height = `${(100 * cycle[side][field]) / most}%`;
    pair.append(bar);
  }
  return pair;
}

// Which colour is whose, and what a column is.
function keyOf(data) {
  const key = make("div", "key");
  ["static", "dynamic"].forEach((side, i) => {
    const name = make("span");
    name.append(make("i", side), data.names[i]);
    key.append(name);
  });
  key.append(make("span", "", "one pair of bars for each pass, in the order of the text"));
  return key;
}

function axisOf(most) {
  const axis = make("span", "axis");
  axis.append(make("span", "", most), make("span", "", 0));
  return axis;
}

// The positions below the bars, every fifth written where there are many.
function ticksOf(data) {
  const row = make("div", "row");
  const ticks = make("div", "bars ticks");
  ticks.append(...data.cycles.map((_, index) => make("span", "pair", index % EVERY(data.cycles.length) ? "" : index)));
  row.append(make("b", "", "position"), make("span", "axis"), ticks);
  return row;
}

function stripOf(data) {
  const strip = make("div", "strip");
  strip.append(keyOf(data));
  for (const [field, title] of ROWS) {
    const most = Math.max(1, ...data.cycles.flatMap((cycle) => [cycle.static[field], cycle.dynamic[field]]));
    const row = make("div", "row");
    row.append(make("b", "", title), axisOf(most));
    const bars = make("div", "bars");
    data.cycles.forEach((cycle, index) => {
      const pair = barsOf(cycle, field, most);
      pair.dataset.cycle = index;
      pair.title = cycle.label;
      pair.classList.toggle("selected", index === data.selected);
      bars.append(pair);
    });
    row.append(bars);
    strip.append(row);
  }
  strip.append(ticksOf(data));
  return strip;
}

// A click, Enter or Space opens a pass: its trees come into sight. The arrow keys choose one and stay in the text.
function listen(root, data, choose, open) {
  root.onclick = (event) => {
    const hit = event.target.closest("[data-cycle]");
    if (hit) open(Number(hit.dataset.cycle));
  };
  root.onkeydown = (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return open(data.selected);
    }
    const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const target = { Home: 0, End: data.cycles.length - 1 }[event.key] ?? data.selected + (moves[event.key] ?? 0);
    if (!(event.key in moves) && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    choose(Math.min(Math.max(target, 0), data.cycles.length - 1));
  };
}

// Scrolls the text alone: a focus that scrolled by itself would pull the page back from the trees.
function keepInBox(box, element) {
  const [frame, inner] = [box, element].map((one) => one.getBoundingClientRect());
  box.scrollTop += Math.min(inner.top - frame.top, 0) + Math.max(inner.bottom - frame.bottom, 0);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".reader");
  const hadFocus = root.contains(root.getRootNode().activeElement);
  const scrolled = root.querySelector(".text")?.scrollTop ?? 0;
  root.replaceChildren(textOf(data), stripOf(data));
  const text = root.querySelector(".text");
  text.scrollTop = scrolled;
  const current = root.querySelector(".cycle.selected");
  if (current) keepInBox(text, current);
  if (hadFocus && current) current.focus({ preventScroll: true });
  listen(
    root,
    data,
    (cycle) => setTriggerValue("chosen", cycle),
    (cycle) => setTriggerValue("opened", cycle),
  );
}
