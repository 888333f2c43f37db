// One message: who, when, what it says, what people made of it.

import { drawBlocks } from "./blocks.js";
import { el, icon } from "./dom.js";
import { QUICK, nameOf, sign } from "./emoji.js";
import { files } from "./files.js";
import { attachments } from "./attachments.js";
import { clock, exact, me } from "./me.js";
import { act, state } from "./store.js";
import { mrkdwn } from "./text.js";
import { refused } from "./toasts.js";

// `options`: compact (no name again), inThread, openThread(channel, ts), edit(message).
export function drawMessage(message, channel, options) {
  const author = authorOf(message);
  const gone = message.subtype === "tombstone";
  const made = el(
    "article",
    { class: `message${options.compact ? " compact" : ""}${gone ? " gone" : ""}${message.ephemeral_to ? " whisper" : ""}`, "data-ts": message.ts, "data-channel": channel, "data-author": author.id, tabindex: "-1" },
    el("div", { class: "gutter" }, options.compact ? el("time", { class: "gutter-time", title: exact(message.ts) }, clock(message.ts)) : avatar(author)),
    el(
      "div", { class: "body" },
      message.ephemeral_to ? el("div", { class: "whisper-label" }, icon("lock"), " Only visible to you") : null,
      options.compact ? null : head(message, author),
      el("div", { class: "content" }, content(message, channel)),
      gone ? null : reactions(message, channel),
      options.inThread ? null : threadLink(message, channel, options),
    ),
    gone || message.ephemeral_to ? null : toolbar(message, channel, options),
  );
  return made;
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

function content(message, channel) {
  const typed = !message.bot_id && message.text;
  const streaming = message.streaming_state === "in_progress";
  const where = { user: me.user, key: `${channel}/${message.ts}`, streaming, act: (part, value, block) => click(message, channel, part, value, block) };
  const parts = [];
  if (message.blocks && message.blocks.length && !typed) parts.push(...drawBlocks(message.blocks, where));
  else if (message.text) parts.push(el("div", { class: "text", dir: "auto" }, mrkdwn(message.text)));
  parts.push(...attachments(message, where), ...files(message));
  if (streaming) parts.push(el("span", { class: "streaming", role: "status", "aria-label": "still writing" }));
  if (message.streaming_state === "errored") parts.push(el("div", { class: "stream-lost" }, "Slack closed this stream."));
  if (message.edited) parts.push(el("span", { class: "edited", title: exact(message.edited.ts) }, "(edited)"));
  return parts.length ? parts : el("span", { class: "edited" }, streaming ? "" : "(nothing to show)");
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

function reactions(message, channel) {
  const given = message.reactions || [];
  if (!given.length) return null;
  return el("div", { class: "reactions" }, given.map((each) => {
    const mine = each.users.includes(me.user);
    const who = each.users.map((id) => (state.users.get(id) || {}).real_name || id).join(", ");
    return el(
      "button",
      { type: "button", class: "reaction", "data-reaction": each.name, "aria-pressed": String(mine), title: `${who} · :${each.name}:`, onclick: () => react(channel, message, each.name) },
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

function toolbar(message, channel, options) {
  const tool = (label, content, onclick, more = {}) => el("button", { type: "button", class: "tool", title: label, "aria-label": label, onclick, ...more }, content);
  return el(
    "div", { class: "toolbar", role: "toolbar", "aria-label": "Message actions" },
    QUICK.slice(0, 2).map((name) => tool(`React with ${name}`, sign(name), () => react(channel, message, name), { "data-react": name })),
    picker(message, channel),
    options.inThread ? null : tool("Reply in thread", icon("reply"), () => options.openThread(channel, message.ts)),
    menu(message, channel, options),
  );
}

function picker(message, channel) {
  const choose = (name) => (event) => {
    shut(event);
    react(channel, message, name);
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

function menu(message, channel, options) {
  const entry = (label, done, more = {}) => el("button", { type: "button", ...more, onclick: (event) => (shut(event), done()) }, label);
  const ask = async (name, fields) => refused(await act(name, { channel, ts: message.ts, user: me.user, ...fields }));
  const mine = message.user === me.user;
  return el(
    "details", { class: "popup" },
    el("summary", { class: "tool", title: "More", "aria-label": "More" }, icon("more")),
    el(
      "div", { class: "menu" },
      state.shortcuts.map((each) => entry(each.name || each.callback_id, () => ask("shortcut", { callback_id: each.callback_id }), { "data-shortcut": each.callback_id })),
      entry("Copy link", () => navigator.clipboard.writeText(`${location.origin}/archives/${channel}/p${message.ts.replace(".", "")}`)),
      mine ? entry("Edit", () => options.edit(message)) : null,
      entry("Delete", () => ask("delete", {}), { class: "dangerous" }),
    ),
  );
}
