// Standard Markdown, as the markdown block and markdown_text take it: what bots write, no HTML.

import { el } from "./dom.js";
import { withEmoji } from "./emoji.js";
import { channelLink, link, person } from "./text.js";

export function markdown(text) {
  return blocks((text || "").replace(/\r\n?/g, "\n").split("\n"));
}

const FENCE = /^\s{0,3}(```+|~~~+)\s*\S*\s*$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const QUOTE = /^\s{0,3}>\s?(.*)$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

function blocks(lines) {
  const nodes = [];
  let at = 0;
  const takeWhile = (test) => {
    const from = at;
    while (at < lines.length && test(lines[at])) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    if (!line.trim()) at += 1;
    else if (fence) {
      at += 1;
      const body = takeWhile((each) => !each.trim().startsWith(fence[1]));
      at += 1;
      nodes.push(el("pre", {}, body.join("\n")));
    } else if (heading) {
      at += 1;
      nodes.push(el(`h${Math.min(heading[1].length + 2, 6)}`, {}, inline(heading[2])));
    } else if (RULE.test(line)) {
      at += 1;
      nodes.push(el("hr"));
    } else if (QUOTE.test(line)) {
      nodes.push(el("blockquote", {}, blocks(takeWhile((each) => QUOTE.test(each)).map((each) => QUOTE.exec(each)[1]))));
    } else if (ITEM.test(line)) {
      nodes.push(list(takeWhile((each) => ITEM.test(each) || (/^\s+\S/.test(each) && !FENCE.test(each)))));
    } else if (line.includes("|") && TABLE_RULE.test(lines[at + 1] || "")) {
      nodes.push(table(takeWhile((each) => each.includes("|"))));
    } else {
      nodes.push(el("p", {}, paragraph(takeWhile((each) => each.trim() && !starts(each)))));
    }
  }
  return nodes;
}

const starts = (line) => [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(line));

const paragraph = (lines) => lines.flatMap((line, index) => (index ? [el("br"), ...inline(line)] : inline(line)));

function list(lines) {
  const first = ITEM.exec(lines[0]);
  const depth = first[1].length;
  const ordered = /\d/.test(first[2]);
  const made = el(ordered ? "ol" : "ul", ordered ? { start: parseInt(first[2], 10) } : {});
  let at = 0;
  while (at < lines.length) {
    const item = ITEM.exec(lines[at]);
    const words = [item ? item[3] : lines[at].trim()];
    const nested = [];
    at += 1;
    while (at < lines.length) {
      const next = ITEM.exec(lines[at]);
      if (next && next[1].length <= depth) break;
      (next || nested.length ? nested : words).push(next || nested.length ? lines[at] : lines[at].trim());
      at += 1;
    }
    made.append(el("li", {}, task(words), nested.length ? list(nested) : null));
  }
  return made;
}

function task(words) {
  const box = /^\[([ xX])\]\s+/.exec(words[0]);
  if (!box) return paragraph(words);
  return [el("input", { type: "checkbox", disabled: true, checked: box[1] !== " " }), " ", ...paragraph([words[0].slice(box[0].length), ...words.slice(1)])];
}

function table(lines) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((each) => each.trim().replace(/\\\|/g, "|"));
  const [head, , ...rows] = lines;
  return el(
    "div", { class: "table-frame" },
    el("table", {},
      el("thead", {}, el("tr", {}, cells(head).map((cell) => el("th", {}, inline(cell))))),
      el("tbody", {}, rows.map((row) => el("tr", {}, cells(row).map((cell) => el("td", {}, inline(cell))))))),
  );
}

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" };
const MENTION = /<([@#!])([^>|]+)(?:\|([^>]+))?>/;
const INLINE = [
  [/\\([\\`*_{}[\]()#+\-.!~|<>&:"'$%,/;=?@^])/, (match) => match[1]],
  [/(`+)([^`]|[^`].*?[^`])\1(?!`)/, (match) => el("code", {}, match[2])],
  [MENTION, mention],
  [/<(https?:\/\/[^>\s]+)>/, (match) => link(match[1])],
  [/!?\[((?:\\.|[^\]\\])*)\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)/, (match) => link(match[2], inline(match[1]))],
  [/\*\*(?=\S)(.+?)(?<=\S)\*\*/, (match) => el("strong", {}, inline(match[1]))],
  [/(?<!\w)__(?=\S)(.+?)(?<=\S)__(?!\w)/, (match) => el("strong", {}, inline(match[1]))],
  [/\*(?=[^\s*])([^*]*[^\s*])\*/, (match) => el("em", {}, inline(match[1]))],
  [/(?<!\w)_(?=[^\s_])([^_]*[^\s_])_(?!\w)/, (match) => el("em", {}, inline(match[1]))],
  [/~~(?=\S)(.+?)(?<=\S)~~/, (match) => el("s", {}, inline(match[1]))],
  [/https?:\/\/[^\s<>()|]+[^\s<>()|.,;:!?]/, (match) => link(match[0])],
  [/&(amp|lt|gt|quot|nbsp);/, (match) => ENTITIES[match[1]]],
];

function mention([, kind, name, label]) {
  if (kind === "@") return person(name, label);
  if (kind === "#") return channelLink(name, label);
  return el("span", { class: "mention broadcast" }, `@${label || name}`);
}

function inline(text) {
  const nodes = [];
  let rest = text;
  while (rest) {
    let first = null;
    for (const [pattern, draw] of INLINE) {
      const match = pattern.exec(rest);
      if (match && (first === null || match.index < first.match.index)) first = { match, draw };
    }
    if (first === null) break;
    const { match, draw } = first;
    if (match.index) nodes.push(withEmoji(rest.slice(0, match.index)));
    nodes.push(draw(match));
    rest = rest.slice(match.index + match[0].length);
  }
  if (rest) nodes.push(withEmoji(rest));
  return nodes;
}
