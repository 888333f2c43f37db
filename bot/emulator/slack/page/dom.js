// Elements without innerHTML: text from messages stays text.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) set(made, name, value);
  add(made, children);
  return made;
}

export function add(parent, children) {
  for (const child of [children].flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) parent.append(child);
  }
  return parent;
}

// Replaces what stands in `parent`.
export function fill(parent, ...children) {
  parent.replaceChildren();
  return add(parent, children);
}

// Draws again only when `key` says that something differs, so that what a person is pressing stays where it is.
export function keep(frame, key, draw) {
  if (keys.get(frame) === key) return;
  keys.set(frame, key);
  fill(frame, draw());
}
const keys = new WeakMap();

// Brings the children of `frame` to `nodes`; what is there already is not moved.
export function settle(frame, nodes) {
  const wanted = new Set(nodes);
  [...frame.children].forEach((child) => wanted.has(child) || child.remove());
  nodes.forEach((node, index) => {
    if (frame.children[index] !== node) frame.insertBefore(node, frame.children[index] || null);
  });
}

// The nodes for `parts` [key, source, draw]; a part whose source is unchanged keeps its node. `drawn` is a Map.
export function reuse(drawn, parts) {
  const nodes = [];
  const now = new Map();
  for (const [key, source, draw] of parts) {
    const said = typeof source === "string" ? source : JSON.stringify(source);
    const known = drawn.get(key);
    const entry = known && known.said === said ? known : { said, node: draw() };
    now.set(key, entry);
    nodes.push(entry.node);
  }
  drawn.clear();
  now.forEach((entry, key) => drawn.set(key, entry));
  return nodes;
}

function set(made, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
  else if (name === "value" || name === "checked" || name === "disabled" || name === "selected") made[name] = value;
  else made.setAttribute(name, value === true ? "" : value);
}

const SVG = "http://www.w3.org/2000/svg";

// A line drawing of 20 × 20.
export function icon(name, label = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", `icon icon-${name}`);
  if (label) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
  } else {
    svg.setAttribute("aria-hidden", "true");
  }
  for (const d of [ICONS[name]].flat()) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

const ICONS = {
  lock: ["M5.5 9h9v7h-9z", "M7.5 9V6.5a2.5 2.5 0 0 1 5 0V9"],
  hash: ["M8 3 6.5 17", "M13.5 3 12 17", "M3.5 7.5h13.5", "M3 12.5h13.5"],
  home: ["M3.5 9.5 10 4l6.5 5.5", "M5.5 8.5V16h9V8.5"],
  close: ["M5 5l10 10", "M15 5 5 15"],
  back: ["M12 4 6 10l6 6"],
  reply: ["M4 5h12v8H9l-3.5 3v-3H4z"],
  smile: ["M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14z", "M7 11.5c1.5 2.2 4.500 2.200 6 0", "M7.500 8v.2", "M12.500 8v.2"],
  more: ["M5 10h.01", "M10 10h.01", "M15 10h.01"],
  send: ["M3.500 10 16.500 4l-3.500 12.500-3.500-5z", "M9.500 11.500 16 4.500"],
  file: ["M6 3h5.500L15 6.500V17H6z", "M11.500 3v3.500H15"],
  trash: ["M4.500 6h11", "M8 6V4h4v2", "M6 6l.7 10.500h6.600L14 6"],
  up: ["M6 9.500 9.200 3.500c1.300 0 2 .9 1.700 2.200L10.300 8h4.200c1 0 1.600.8 1.300 1.800l-1.400 5c-.2.7-.7 1.200-1.500 1.200H6z", "M3.500 9.500H6V16H3.500z"],
  down: ["M14 10.500l-3.200 6c-1.300 0-2-.9-1.700-2.200L9.700 12H5.500c-1 0-1.600-.8-1.300-1.800l1.400-5C5.800 4.500 6.300 4 7.100 4H14z", "M16.500 10.500H14V4h2.500z"],
  check: ["M4.500 10.500 8.500 14.500 15.500 6"],
  cross: ["M6 6l8 8", "M14 6l-8 8"],
  bell: ["M5.500 13.500V9a4.500 4.500 0 0 1 9 0v4.500l1.500 1h-12z", "M8.500 16.500h3"],
  chevron: ["M6 8l4 4 4-4"],
};
