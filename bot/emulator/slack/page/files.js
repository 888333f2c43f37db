// A file under a message: a text shows its first lines, a picture itself.

import { el, icon } from "./dom.js";
import { remembered } from "./memory.js";
import { fileText } from "./store.js";

const FIRST_LINES = 6;

export function file(given) {
  const frame = el(
    "div", { class: "file boxed", "data-file": given.id },
    el("a", { class: "file-head", href: `/page/file/${given.id}`, target: "_blank" }, icon("file"), el("span", { class: "file-name" }, given.title || given.name), el("span", { class: "file-size" }, size(given.size))),
  );
  if ((given.mimetype || "").startsWith("image/")) {
    frame.append(el("a", { href: `/page/file/${given.id}`, target: "_blank" }, el("img", { class: "file-picture", src: `/page/file/${given.id}`, alt: given.title || given.name })));
    return frame;
  }
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
