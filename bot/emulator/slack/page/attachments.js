// Attachments, the older form that most alert senders still use.

import { drawBlocks } from "./blocks.js";
import { el } from "./dom.js";
import { clock } from "./me.js";
import { link, mrkdwn, unescape } from "./text.js";

const COLOURS = { good: "#2eb886", warning: "#daa038", danger: "#a30200" };

export function attachment(each, where) {
  const bar = el("div", { class: "attachment-bar" });
  const colour = COLOURS[each.color] || (/^#?[0-9a-f]{3,8}$/i.test(each.color || "") ? `#${each.color.replace("#", "")}` : "");
  if (colour) bar.style.backgroundColor = colour;
  const framed = el("div", { class: "attachment" }, bar, el("div", { class: "attachment-body" }, body(each, where)));
  return el("div", {}, each.pretext ? el("div", { class: "text", dir: "auto" }, mrkdwn(each.pretext)) : null, framed);
}

function body(each, where) {
  const parts = [];
  if (each.author_name) parts.push(el("div", { class: "attachment-author" }, each.author_link ? link(each.author_link, [each.author_name]) : each.author_name));
  if (each.title) parts.push(el("div", { class: "attachment-title", dir: "auto" }, each.title_link ? link(each.title_link, [unescape(each.title)]) : mrkdwn(each.title)));
  if (each.text) parts.push(el("div", { class: "text", dir: "auto" }, mrkdwn(each.text)));
  if (each.fields && each.fields.length) parts.push(el("div", { class: "fields" }, each.fields.map(field)));
  if (each.blocks) parts.push(...drawBlocks(each.blocks, where));
  if (!parts.length) parts.push(el("div", { class: "text" }, mrkdwn(each.fallback || "[no preview available]")));
  const foot = [each.footer ? unescape(each.footer) : "", each.ts ? clock(each.ts) : ""].filter(Boolean).join(" · ");
  if (foot) parts.push(el("div", { class: "attachment-foot" }, foot));
  return parts;
}

function field(each) {
  return el("div", { class: `field${each.short ? "" : " long"}`, dir: "auto" }, el("div", { class: "field-title" }, mrkdwn(each.title || "")), el("div", {}, mrkdwn(String(each.value ?? ""))));
}
