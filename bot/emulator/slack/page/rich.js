// rich_text blocks.

import { el } from "./dom.js";
import { sign } from "./emoji.js";
import { channelLink, link, person } from "./text.js";

export function richText(block) {
  return (block.elements || []).map(element);
}

function element(part) {
  if (part.type === "rich_text_list") return list(part);
  if (part.type === "rich_text_quote") return el("blockquote", {}, spans(part.elements));
  if (part.type === "rich_text_preformatted") return el("pre", {}, spans(part.elements));
  return el("div", { class: "rich-section" }, spans(part.elements));
}

const BULLETS = ["disc", "circle", "square"];
const NUMBERS = ["decimal", "lower-alpha", "lower-roman"];

function list(part) {
  const indent = part.indent || 0;
  const ordered = part.style === "ordered";
  const made = el(ordered ? "ol" : "ul", ordered ? { start: (part.offset || 0) + 1 } : {}, part.elements.map((item) => el("li", {}, spans(item.elements))));
  made.style.marginInlineStart = `${indent * 1.75}em`;
  made.style.listStyleType = (ordered ? NUMBERS : BULLETS)[indent % 3];
  if (part.border) made.classList.add("bordered");
  return made;
}

const spans = (elements) => (elements || []).map((span) => styled(span, drawn(span)));

function drawn(span) {
  switch (span.type) {
    case "text": return lines(span.text);
    case "link": return link(span.url, span.text ? [span.text] : null);
    case "user": return person(span.user_id);
    case "usergroup": return el("span", { class: "mention" }, `@${span.usergroup_id}`);
    case "team": return el("span", { class: "mention" }, `@${span.team_id}`);
    case "channel": return channelLink(span.channel_id);
    case "broadcast": return el("span", { class: "mention broadcast" }, `@${span.range}`);
    case "emoji": return el("span", { title: `:${span.name}:` }, span.unicode ? unicode(span.unicode) : sign(span.name + (span.skin_tone ? `::skin-tone-${span.skin_tone}` : "")));
    case "date": return el("time", {}, new Date(span.timestamp * 1000).toLocaleString());
    case "color": return el("code", {}, span.value);
    default: return el("span", { class: "unknown" }, `[${span.type}]`);
  }
}

const unicode = (codes) => codes.split("-").map((code) => String.fromCodePoint(parseInt(code, 16))).join("");

const lines = (text) => text.split("\n").flatMap((line, index) => (index ? [el("br"), line] : [line]));

const FACES = { bold: "strong", italic: "em", strike: "s", underline: "u", highlight: "mark", client_highlight: "mark" };

function styled(span, content) {
  let made = content;
  const style = span.style || {};
  if (style.code) made = el("code", {}, made);
  for (const [face, tag] of Object.entries(FACES)) {
    if (style[face]) made = el(tag, {}, made);
  }
  return made;
}
