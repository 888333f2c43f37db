// Slack's mrkdwn and plain_text objects as elements.

import { el } from "./dom.js";
import { withEmoji } from "./emoji.js";
import { state } from "./store.js";

// {type: "mrkdwn"|"plain_text", text} of Block Kit.
export function textObject(object) {
  if (!object) return [];
  if (typeof object === "string") return [object];
  return object.type === "mrkdwn" ? mrkdwn(object.text) : [plain(object)];
}

export const plain = (object) => (object ? (object.emoji === false ? object.text : withEmoji(object.text || "")) : "");

export const unescape = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

// A list of nodes. Code fences and quotes are blocks; everything else runs in lines.
export function mrkdwn(text) {
  const nodes = [];
  for (const [index, part] of (text || "").split("```").entries()) {
    const closed = index % 2 === 1;
    if (closed) nodes.push(el("pre", {}, unescape(bare(part.replace(/^\n|\n$/g, "")))));
    else nodes.push(...quoted(index > 0 ? part.replace(/^\n/, "") : part));
  }
  return nodes;
}

function quoted(text) {
  const nodes = [];
  let quote = [];
  const lines = text.split("\n");
  const end = () => {
    if (quote.length) nodes.push(el("blockquote", {}, inLines(quote)));
    quote = [];
  };
  let plainLines = [];
  const flush = () => {
    if (plainLines.length) nodes.push(...inLines(plainLines));
    plainLines = [];
  };
  for (const line of lines) {
    const marked = /^(?:&gt;|>) ?(.*)$/.exec(line);
    if (marked) {
      flush();
      quote.push(marked[1]);
    } else {
      end();
      plainLines.push(line);
    }
  }
  flush();
  end();
  return nodes;
}

const inLines = (lines) => lines.flatMap((line, index) => (index ? [el("br"), ...inline(line)] : inline(line)));

const INLINE = [
  [/`([^`\n]+)`/, (match) => el("code", {}, unescape(bare(match[1])))],
  [/<([^<>\n]+)>/, (match) => angle(match[1])],
  [/(?<![\p{L}\p{N}*])\*(?=\S)([^*\n]*[^*\s\n])\*(?![\p{L}\p{N}*])/u, (match) => el("strong", {}, inline(match[1]))],
  [/(?<![\p{L}\p{N}_])_(?=\S)([^_\n]*[^_\s\n])_(?![\p{L}\p{N}_])/u, (match) => el("em", {}, inline(match[1]))],
  [/(?<![\p{L}\p{N}~])~(?=\S)([^~\n]*[^~\s\n])~(?![\p{L}\p{N}~])/u, (match) => el("s", {}, inline(match[1]))],
];

// The earliest mark wins; what stands in front of it has none.
export function inline(text) {
  let first = null;
  for (const [pattern, draw] of INLINE) {
    const match = pattern.exec(text);
    if (match && (first === null || match.index < first.match.index)) first = { match, draw };
  }
  if (first === null) return text ? [withEmoji(unescape(text))] : [];
  const { match, draw } = first;
  return [...inline(text.slice(0, match.index)), draw(match), ...inline(text.slice(match.index + match[0].length))];
}

// What Slack puts into angle brackets: links, people, channels, broadcasts, dates.
function angle(inside) {
  const [target, ...rest] = inside.split("|");
  const label = rest.join("|");
  if (target.startsWith("@")) return person(target.slice(1), label);
  if (target.startsWith("#")) return channelLink(target.slice(1), label);
  if (target.startsWith("!date^")) return date(target, label);
  if (target.startsWith("!subteam^")) return el("span", { class: "mention" }, label || `@${target.slice(9)}`);
  if (target.startsWith("!")) return el("span", { class: "mention broadcast" }, `@${label || target.slice(1)}`);
  return link(unescape(target), label ? [withEmoji(unescape(label))] : null);
}

// What stands inside code keeps its words, not its link.
const bare = (text) => text.replace(/<([^<>|\n]+)(?:\|([^<>\n]+))?>/g, (_, target, label) => label || target);

export function link(url, label) {
  const safe = /^(https?:|mailto:)/i.test(url);
  if (!safe) return el("span", {}, label || url);
  return el("a", { href: url, target: "_blank", rel: "noopener noreferrer", title: url }, label || url);
}

export function person(id, fallback = "") {
  const user = state.users.get(id);
  const name = user ? user.real_name || user.name : fallback || id;
  return el("span", { class: "mention", "data-user": id }, `@${name}`);
}

export function channelLink(id, fallback = "") {
  const channel = state.channels.get(id);
  return el("a", { class: "mention", href: `/archives/${id}`, "data-channel-link": id }, `#${channel ? channel.name : fallback || id}`);
}

function date(target, fallback) {
  const [, seconds] = target.split("^");
  const at = new Date(Number(seconds) * 1000);
  return el("time", {}, Number.isNaN(at.getTime()) ? fallback : at.toLocaleString());
}
