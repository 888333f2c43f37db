// Block Kit, block by block. `where` says whose eyes look and what a click does (elements.js).

import { el, icon } from "./dom.js";
import { element } from "./elements.js";
import { remembered } from "./memory.js";
import { markdown } from "./markdown.js";
import { richText } from "./rich.js";
import { plan, taskCard } from "./tasks.js";
import { plain, textObject } from "./text.js";

export function drawBlocks(blocks, where) {
  return (blocks || []).map((block, index) => drawBlock(block, { ...where, block: block.block_id || String(index) }));
}

export function drawBlock(block, where) {
  const draw = DRAW[block.type];
  const made = draw ? draw(block, where) : unknown(block);
  made.classList.add("block", `block-${block.type}`);
  if (block.block_id) made.dataset.blockId = block.block_id;
  return made;
}

const DRAW = {
  header: (block) => el("h3", { dir: "auto" }, plain(block.text)),
  divider: () => el("hr"),
  section,
  context: (block) => el("div", {}, block.elements.map((part) => (part.type === "image" ? image(part, "small") : el("span", { dir: "auto" }, textObject(part))))),
  markdown: (block) => el("div", { class: "prose", dir: "auto" }, markdown(block.text)),
  rich_text: (block) => el("div", { dir: "auto" }, richText(block)),
  plan,
  task_card: (block, where) => taskCard(block, where),
  actions: (block, where) => el("div", {}, block.elements.map((part) => element(part, where))),
  context_actions: (block, where) => el("div", {}, block.elements.map((part) => element(part, where))),
  image: (block) => el("figure", {}, block.title ? el("figcaption", {}, plain(block.title)) : null, image(block, "large")),
  table: (block) => table(block),
  data_table: (block) => table(block, block.caption),
  container,
  card,
  carousel: (block, where) => el("div", {}, drawBlocks(block.elements, where)),
  alert: (block) => el("div", { class: `level-${block.level || "default"}`, role: "note" }, el("span", { class: "alert-sign" }, ALERTS[block.level || "default"]), el("span", {}, textObject(block.text))),
  input,
  video: (block) => el("div", { class: "boxed" }, el("a", { href: block.video_url, target: "_blank", rel: "noopener noreferrer" }, plain(block.title))),
  file: (block) => el("div", { class: "boxed" }, icon("file"), ` ${block.external_id}`),
};

const ALERTS = { default: "💬", info: "ℹ️", warning: "⚠️", error: "⛔", success: "✅" };

function unknown(block) {
  return el("div", { class: "unknown" }, `This page does not draw blocks of the type ${block.type}.`);
}

function section(block, where) {
  const body = el("div", { class: "section-text", dir: "auto" }, block.text ? el("div", {}, textObject(block.text)) : null);
  if (block.fields) body.append(el("div", { class: "fields" }, block.fields.map((field) => el("div", { class: "field" }, textObject(field)))));
  if (!block.accessory) return el("div", {}, body);
  const beside = block.accessory.type === "image" ? image(block.accessory, "thumb") : element(block.accessory, where);
  return el("div", {}, body, el("div", { class: "accessory" }, beside));
}

// Only this server's own pictures are loaded; of any other the words are shown.
function image(part, size) {
  const url = part.image_url || "";
  const own = url.startsWith(location.origin) || url.startsWith("data:image/");
  const text = part.alt_text || "picture";
  if (own) return el("img", { src: url, alt: text, class: `picture ${size}` });
  return el("span", { class: `picture absent ${size}`, title: url, role: "img", "aria-label": text }, size === "small" ? "🖼" : `🖼 ${text}`);
}

function table(block, caption) {
  const [head, ...rows] = block.rows || [];
  const settings = block.column_settings || [];
  const row = (cells, tag) => el("tr", {}, cells.map((cell, index) => cellOf(cell, tag, settings[index] || {})));
  return el(
    "div", { class: "table-frame", tabindex: "0" },
    el("table", {}, caption ? el("caption", {}, caption) : null,
      head ? el("thead", {}, row(head, "th")) : null,
      el("tbody", {}, rows.map((cells) => row(cells, "td")))),
  );
}

function cellOf(cell, tag, setting) {
  const content = cell.type === "rich_text" ? richText(cell) : String(cell.text ?? cell.value ?? "");
  const made = el(tag, { dir: "auto", class: setting.is_wrapped === false ? "one-line" : null }, content);
  if (setting.align || cell.type === "raw_number") made.style.textAlign = setting.align || "right";
  return made;
}

function container(block, where) {
  const title = block.rich_text_title ? el("span", {}, richText(block.rich_text_title)) : el("span", { class: "container-title" }, plain(block.title));
  const head = [title, block.subtitle ? el("span", { class: "container-subtitle" }, textObject(block.subtitle)) : null];
  const body = el("div", { class: "container-body" }, drawBlocks(block.child_blocks, { ...where, key: `${where.key}/${where.block}` }));
  const width = `width-${block.width || "standard"}`;
  if (!block.is_collapsible) return el("div", { class: `boxed ${width}` }, el("div", { class: "container-head" }, head), body);
  const folded = el("details", { class: `boxed ${width}` }, el("summary", { class: "container-head" }, icon("chevron"), head), body);
  return remembered(folded, `${where.key}/${where.block}`, !block.default_collapsed);
}

function card(block, where) {
  const hero = block.hero_image ? image(block.hero_image, "large") : null;
  const badge = block.icon ? image(block.icon, "thumb") : null;
  const head = el("div", { class: "card-head" }, badge, el("div", {},
    block.title ? el("div", { class: "card-title" }, textObject(block.title)) : null,
    block.subtitle ? el("div", { class: "card-subtitle" }, textObject(block.subtitle)) : null));
  const body = block.body ? el("div", { class: "card-body" }, textObject(block.body)) : null;
  const buttons = block.actions ? el("div", { class: "card-actions" }, block.actions.map((part) => element(part, where))) : null;
  return el("div", { class: "boxed" }, hero, head, body, buttons);
}

function input(block, where) {
  const error = (where.errors || {})[block.block_id];
  const label = plain(block.label);
  return el(
    "div", { class: error ? "wrong" : null },
    el("div", { class: "input-label" }, label, block.optional ? el("span", { class: "optional" }, " (optional)") : null),
    element(block.element, { ...where, input: block, label }),
    error ? el("div", { class: "input-error", role: "alert" }, error) : null,
    block.hint ? el("div", { class: "input-hint" }, plain(block.hint)) : null,
  );
}
