// What pops up in a corner: what a phone would show, and what Slack tells a person.

import { el } from "./dom.js";

const SECONDS = 8;

export function toast(title, text, open = null) {
  const frame = document.getElementById("toasts");
  const made = el("div", { class: "toast" }, title ? el("div", { class: "toast-title" }, title) : null, el("div", { class: "toast-text", dir: "auto" }, text));
  if (open) {
    made.classList.add("openable");
    made.addEventListener("click", () => (open(), made.remove()));
  }
  frame.append(made);
  while (frame.children.length > 4) frame.firstChild.remove();
  setTimeout(() => made.remove(), SECONDS * 1000);
}

// Shows why an act was refused; true when it was.
export function refused(answer) {
  if (!answer.ok) toast("", answer.error || "refused");
  return !answer.ok;
}
