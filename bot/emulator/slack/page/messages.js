// One message: who, when, what it says, what people made of it.

import { drawBlock } from "./blocks.js";
import { el, fill, icon, keep, reuse, settle } from "./dom.js";
import { QUICK, nameOf, sign } from "./emoji.js";
import { attachment } from "./attachments.js";
import { file } from "./files.js";
import { clock, exact, me } from "./me.js";
import { act, messagesOf, state } from "./store.js";
import { mrkdwn } from "./text.js";
import { refused } from "./toasts.js";

// `options`: compact (no name again), inThread, openThread(channel, ts), edit(message). Returns the element and what
// brings it up to date.
export function messageView(first, channel, options) {
  const author = authorOf(first);
  const slots = { head: el("div"), content: el("div", { class: "content" }), below: el("div") };
  const parts = new Map();
  const current = () => messagesOf(channel).get(first.ts) || first;
  const node = el(
    "article", { "data-ts": first.ts, "data-channel": channel, "data-author": author.id, tabindex: "-1" },
    el("div", { class: "gutter" }, options.compact ? el("time", { class: "gutter-time", title: exact(first.ts) }, clock(first.ts)) : avatar(author)),
    el("div", { class: "body" }, slots.head, slots.content, slots.below),
    first.ephemeral_to ? null : toolbar(current, channel, options),
  );
  function update(message) {
    const gone = message.subtype === "tombstone";
    node.className = `message${options.compact ? " compact" : ""}${gone ? " gone" : ""}${message.ephemeral_to ? " whisper" : ""}`;
    keep(slots.head, message.username || "head", () => [
      message.ephemeral_to ? el("div", { class: "whisper-label" }, icon("lock"), " Only visible to you") : null,
      options.compact ? null : head(message, author),
    ]);
    settle(slots.content, reuse(parts, content(message, channel)));
    keep(slots.below, JSON.stringify([message.reactions, message.reply_count, message.latest_reply, gone]), () => [
      gone ? null : reactions(current, message, channel),
      options.inThread ? null : threadLink(message, channel, options),
    ]);
  }
  update(first);
  return { node, update };
}

function authorOf(message) {
  const user = state.users.get(message.user);
  const isApp = Boolean(message.bot_id) || (user && user.is_bot) || message.subtype === "bot_message";
  const profile = message.bot_profile || {};
  const name = message.username || (user && (user.real_name || user.name)) || profile.name || (message.bot_id === state.bot.bot_id ? state.bot.name : message.bot_id) || "Slackbot";
  return { id: message.user || message.bot_id || name, name, isApp, isOurs: message.user === state.bot.user_id || message.bot_id === state.bot.bot_id, user };
}

export function avatar(author) {
  if (author.isOurs) return el("span", { class: "avatar ours", "aria-hidden": "true" }, icon("check"));
  if (author.isApp) return el("span", { class: "avatar app", "aria-hidden": "true" }, icon("bell"));
  const letters = author.name.split(/\s+/).map((word) => [...word][0] || "").slice(0, 2).join("").toUpperCase();
  return el("span", { class: `avatar hue-${[...author.id].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % 6}`, "aria-hidden": "true" }, letters);
}

function head(message, author) {
  const stranger = author.user && (author.user.is_stranger ? "other organisation" : author.user.is_guest ? "guest" : "");
  return el(
    "div", { class: "head" },
    el("span", { class: "name" }, author.name),
    author.isApp ? el("span", { class: "badge" }, "APP") : null,
    stranger ? el("span", { class: "badge" }, stranger) : null,
    el("time", { class: "when", title: exact(message.ts) }, clock(message.ts)),
  );
}

// [key, source, draw] of everything that the message shows.
function content(message, channel) {
  const typed = !message.bot_id && message.text;
  const streaming = message.streaming_state === "in_progress";
  const where = { user: me.user, key: `${channel}/${message.ts}`, streaming, act: (part, value, block) => click(message, channel, part, value, block) };
  const parts = [];
  if (message.blocks && message.blocks.length && !typed) {
    message.blocks.forEach((block, index) => {
      const name = block.block_id || String(index);
      const alive = block.type === "plan" && streaming;
      parts.push([`block ${index} ${name}`, [block, alive], () => drawBlock(block, { ...where, block: name })]);
    });
  } else if (message.text) {
    parts.push(["text", message.text, () => el("div", { class: "text", dir: "auto" }, mrkdwn(message.text))]);
  }
  (message.attachments || []).forEach((each, index) => parts.push([`attachment ${index}`, each, () => attachment(each, { ...where, key: `${where.key}/a${index}` })]));
  (message.files || []).forEach((each) => parts.push([`file ${each.id}`, each, () => file(each)]));
  if (streaming) parts.push(["streaming", "", () => el("span", { class: "streaming", role: "status", "aria-label": "still writing" })]);
  if (message.streaming_state === "errored") parts.push(["lost", "", () => el("div", { class: "stream-lost" }, "Slack closed this stream.")]);
  if (message.edited) parts.push(["edited", message.edited, () => el("span", { class: "edited", title: exact(message.edited.ts) }, "(edited)")]);
  return parts.length ? parts : [["nothing", "", () => el("span", { class: "edited" }, "(nothing to show)")]];
}

async function click(message, channel, part, value, block) {
  const fields = { channel, ts: message.ts, action_id: part.action_id, user: me.user, block_id: block };
  refused(await act("click", value === undefined ? fields : { ...fields, value }));
}

// ---------------------------------------------------------------- reactions

export async function react(channel, message, name) {
  const mine = (message.reactions || []).some((each) => each.name === name && each.users.includes(me.user));
  refused(await act(mine ? "unreact" : "react", { channel, ts: message.ts, user: me.user, name }));
}

function reactions(current, message, channel) {
  const given = message.reactions || [];
  if (!given.length) return null;
  return el("div", { class: "reactions" }, given.map((each) => {
    const mine = each.users.includes(me.user);
    const who = each.users.map((id) => (state.users.get(id) || {}).real_name || id).join(", ");
    return el(
      "button",
      { type: "button", class: "reaction", "data-reaction": each.name, "aria-pressed": String(mine), title: `${who} · :${each.name}:`, onclick: () => react(channel, current(), each.name) },
      el("span", { class: "reaction-sign" }, sign(each.name)), el("span", { class: "reaction-count" }, String(each.users.length)),
    );
  }));
}

// ---------------------------------------------------------------- what can be done with it

function threadLink(message, channel, options) {
  const replies = message.reply_count || 0;
  if (!replies) return null;
  const people = (message.reply_users || []).slice(0, 3).map((id) => avatar(authorOf({ user: id, bot_id: state.users.has(id) ? undefined : id })));
  return el(
    "button", { type: "button", class: "thread-link", onclick: () => options.openThread(channel, message.ts) },
    people, el("span", { class: "thread-count" }, replies === 1 ? "1 reply" : `${replies} replies`),
    el("span", { class: "thread-last" }, `last at ${clock(message.latest_reply || message.ts)}`),
  );
}

function toolbar(current, channel, options) {
  const tool = (label, content, onclick, more = {}) => el("button", { type: "button", class: "tool", title: label, "aria-label": label, onclick, ...more }, content);
  return el(
    "div", { class: "toolbar", role: "toolbar", "aria-label": "Message actions" },
    QUICK.slice(0, 2).map((name) => tool(`React with ${name}`, sign(name), () => react(channel, current(), name), { "data-react": name })),
    picker(current, channel),
    options.inThread ? null : tool("Reply in thread", icon("reply"), () => options.openThread(channel, current().ts)),
    menu(current, channel, options),
  );
}

function picker(current, channel) {
  const choose = (name) => (event) => {
    shut(event);
    react(channel, current(), name);
  };
  const typed = el("input", {
    class: "text-input", placeholder: "name or emoji", "aria-label": "Another reaction",
    onkeydown: (event) => {
      const name = event.key === "Enter" && !event.isComposing ? nameOf(event.target.value) : "";
      if (name) choose(name)(event);
    },
  });
  return el(
    "details", { class: "popup" },
    el("summary", { class: "tool", title: "React", "aria-label": "React" }, icon("smile")),
    el("div", { class: "menu picker" }, el("div", { class: "signs" }, QUICK.map((name) => el("button", { type: "button", title: `:${name}:`, "data-react": name, onclick: choose(name) }, sign(name)))), typed),
  );
}

const shut = (event) => (event.currentTarget.closest("details").open = false);

// Its entries are drawn when it opens: an app may have brought shortcuts meanwhile.
function menu(current, channel, options) {
  const entries = el("div", { class: "menu" });
  return el(
    "details", { class: "popup", ontoggle: (event) => event.target.open && fill(entries, menuEntries(current(), channel, options)) },
    el("summary", { class: "tool", title: "More", "aria-label": "More" }, icon("more")), entries,
  );
}

function menuEntries(message, channel, options) {
  const entry = (label, done, more = {}) => el("button", { type: "button", ...more, onclick: (event) => (shut(event), done()) }, label);
  const ask = async (name, fields) => refused(await act(name, { channel, ts: message.ts, user: me.user, ...fields }));
  const mine = message.user === me.user;
  return [
    state.shortcuts.map((each) => entry(each.name || each.callback_id, () => ask("shortcut", { callback_id: each.callback_id }), { "data-shortcut": each.callback_id })),
    entry("Copy link", () => navigator.clipboard.writeText(`${location.origin}/archives/${channel}/p${message.ts.replace(".", "")}`)),
    mine ? entry("Edit", () => options.edit(message)) : null,
    entry("Delete", () => ask("delete", {}), { class: "dangerous" }),
  ];
}
