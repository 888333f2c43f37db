// Names after an @, while a person types.

import { el, fill } from "./dom.js";
import { state } from "./store.js";

const MOST = 6;

export function suggestions(box) {
  const frame = el("ul", { class: "suggestions", role: "listbox", "aria-label": "Names", hidden: true });
  let found = [];
  let chosen = 0;

  function look() {
    const before = box.value.slice(0, box.selectionStart);
    const typed = /(?:^|\s)@([\p{L}\p{N} ._-]{0,20})$/u.exec(before);
    const wanted = typed ? typed[1].toLowerCase() : null;
    const all = [...state.users.values()].sort((one, other) => Number(other.is_bot) - Number(one.is_bot)).map((user) => user.real_name || user.name);
    found = wanted === null || all.some((name) => name.toLowerCase() === wanted.trim()) ? [] : all.filter((name) => name.toLowerCase().startsWith(wanted)).slice(0, MOST);
    chosen = 0;
    draw();
  }

  function draw() {
    frame.hidden = !found.length;
    fill(frame, found.map((name, index) => el("li", { role: "option", "aria-selected": String(index === chosen), onmousedown: (event) => (event.preventDefault(), take(name)) }, name)));
  }

  function take(name) {
    const at = box.selectionStart;
    const from = box.value.slice(0, at).lastIndexOf("@");
    put(from, at, `@${name} `);
  }

  function put(from, to, text) {
    box.setRangeText(text, from, to, "end");
    box.dispatchEvent(new Event("input"));
    box.focus();
  }

  // True when the key was for the list.
  function key(event) {
    if (!found.length) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) chosen = (chosen + step + found.length) % found.length;
    else if (event.key === "Enter" || event.key === "Tab") take(found[chosen]);
    else if (event.key === "Escape") found = [];
    else return false;
    event.preventDefault();
    draw();
    return true;
  }

  box.addEventListener("input", look);
  box.addEventListener("blur", () => {
    found = [];
    draw();
  });
  return { frame, key, insert: (text) => put(box.selectionStart, box.selectionEnd, text) };
}
