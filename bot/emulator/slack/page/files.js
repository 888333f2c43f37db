// A file under a message: a text shows its first lines.

import { el, icon } from "./dom.js";
import { remembered } from "./memory.js";
import { fileText } from "./store.js";

const FIRST_LINES = 6;

export function file(given) {
  const frame = el(
    "div", { class: "file boxed", "data-file": given.id },
    el("a", { class: "file-head", href: `/page/file/${given.id}`, target: "_blank" }, icon("file"), el("span", { class: "file-name" }, given.title || given.name), el("span", { class: "file-size" }, size(given.size))),
  );
  fileText(given.id).then((text) => text && frame.append(preview(text, given.id)));
  return frame;
}

const size = (bytes) => (bytes < 1024 ? `${bytes} B` : bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`);

function preview(text, id) {
  const lines = text.split("\n");
  if (lines.length <= FIRST_LINES) return el("pre", { dir: "auto" }, text);
  const folded = el("details", {}, el("summary", {}, el("pre", { dir: "auto" }, lines.slice(0, FIRST_LINES).join("\n")), el("span", { class: "file-more" }, `${lines.length - FIRST_LINES} more lines`)), el("pre", { dir: "auto" }, lines.slice(FIRST_LINES).join("\n")));
  return remembered(folded, `file/${id}`, false);
}
