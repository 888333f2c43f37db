// The page of the loopback Slack: puts the parts together and draws what changed, once a frame.

import { composer, decoded } from "./composer.js";
import { el, fill, icon, keep } from "./dom.js";
import { homePane, homeTabs } from "./home.js";
import { markRead, me, readAddress, visibleChannels, writeAddress } from "./me.js";
import { showModal } from "./modal.js";
import { drawSidebar } from "./sidebar.js";
import { statusLine, suggestedPrompts } from "./status.js";
import { act, follow, listen, messagesOf, rootsOf, state, threadOf } from "./store.js";
import { timeline } from "./timeline.js";
import { refused, toast } from "./toasts.js";

const byId = (id) => document.getElementById(id);
const app = byId("app");
const channelLog = timeline("Messages");
const threadLog = timeline("Thread");
const channelBox = composer(() => ({ channel: me.channel, thread: "" }), posted);
const threadBox = composer(() => ({ channel: me.channel, thread: me.thread }), () => {});
const placeHead = el("header", { class: "place-head" });
const homeBody = el("div", { class: "home-frame" });
const hint = el("div", { class: "place-hint" });
const prompts = el("div", { class: "prompts" });
const threadHead = el("header", { class: "place-head" });

const go = {
  to(channel, thread = "", marked = "") {
    Object.assign(me, { channel, thread, home: false, marked });
    pane(thread ? "thread" : "place");
    draw();
  },
  as(user) {
    me.user = user;
    if (me.home) go.home(me.tab);
    else if (!visibleChannels().some((channel) => channel.id === me.channel)) go.to(visibleChannels()[0].id);
    else draw();
    showModal();
  },
  async home(tab) {
    const direct = await act("open_dm", { user: me.user });
    if (refused(direct)) return;
    const isHome = tab !== "messages";
    Object.assign(me, { home: isHome, tab, thread: "", channel: direct.channel, marked: "" });
    pane("place");
    draw();
    refused(await act("open_home", { user: me.user, tab: isHome ? "home" : "messages" }));
  },
  thread(channel, ts) {
    Object.assign(me, { channel, thread: ts, marked: "" });
    pane("thread");
    draw();
    threadBox.focus();
  },
};

const pane = (name) => (app.dataset.pane = name);

// The answer to what was just asked comes in its thread: open it where there is room beside the channel. It may have
// begun before we hear that the question was posted.
let awaited = "";
function posted(channel, ts, isRoot) {
  if (!isRoot || !window.matchMedia("(min-width: 900px)").matches) return;
  awaited = `${channel}/${ts}`;
  const answered = threadOf(channel, ts, me.user).find((message) => message.user !== me.user);
  if (answered) follows(channel, answered);
}

function follows(channel, message) {
  if (awaited !== `${channel}/${message.thread_ts}` || message.user === me.user) return;
  awaited = "";
  if (!me.home && me.channel === channel) {
    me.thread = message.thread_ts;
    pane("thread");
  }
  draw();
}

// ---------------------------------------------------------------- drawing

let due = false;
function draw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    drawNow();
  });
}

function drawNow() {
  if (!state.users.size) return;
  writeAddress();
  const channel = state.channels.get(me.channel);
  if (!me.home) markRead(me.channel);
  drawSidebar(byId("side"), go);
  drawPlace(channel);
  drawThread(channel);
  document.title = `${me.home ? state.bot.name : channel ? `#${channel.name}` : ""} · Loopback Slack`;
}

function drawPlace(channel) {
  const direct = channel && channel.kind === "im";
  keep(placeHead, JSON.stringify([me.home, me.user, channel, state.bot.name]), () => [
    el("button", { type: "button", class: "icon-button only-phone", "aria-label": "Back to the channels", onclick: () => pane("list") }, icon("back")),
    el("h1", {}, direct || me.home ? state.bot.name : [icon(channel && channel.kind === "channel" ? "hash" : "lock"), channel ? channel.name : ""]),
    direct || me.home ? homeTabs(go.home) : el("span", { class: "topic" }, channel ? channel.topic : ""),
  ]);
  homeBody.hidden = !me.home;
  for (const part of [channelLog.frame, channelBox.frame, hint, prompts]) part.hidden = me.home;
  if (me.home) {
    keep(homeBody, JSON.stringify([me.user, state.homes[me.user] || null]), homePane);
    return;
  }
  const options = { openThread: go.thread, edit: channelBox.edit, marked: me.thread ? "" : me.marked };
  channelLog.show(rootsOf(me.channel, me.user), me.channel, options, statusLine(me.channel, ""));
  if (!me.thread) me.marked = "";
  keep(prompts, JSON.stringify([me.user, me.channel, state.prompts.get(`${me.channel}/`) || null]), () => suggestedPrompts(me.channel, ""));
  channelBox.draw();
  const note = !channel ? "" : channel.is_archived ? "This channel is archived." : channel.bot_is_member ? "" : `${state.bot.name} is not in this channel.`;
  hint.hidden = !note;
  keep(hint, note, () => note);
}

function drawThread(channel) {
  const frame = byId("thread");
  frame.hidden = !me.thread || me.home;
  app.classList.toggle("with-thread", !frame.hidden);
  if (frame.hidden) return;
  const shut = () => (Object.assign(me, { thread: "", marked: "" }), pane("place"), draw());
  keep(threadHead, JSON.stringify([channel, state.bot.name]), () => [
    el("button", { type: "button", class: "icon-button only-phone", "aria-label": "Back to the channel", onclick: shut }, icon("back")),
    el("h1", {}, "Thread"), el("span", { class: "topic" }, channel && channel.kind !== "im" ? `#${channel.name}` : state.bot.name),
    el("button", { type: "button", class: "icon-button not-phone", "aria-label": "Close the thread", onclick: shut }, icon("close")),
  ]);
  const options = { thread: me.thread, inThread: true, openThread: go.thread, edit: threadBox.edit, marked: me.marked };
  threadLog.show(threadOf(me.channel, me.thread, me.user), me.channel, options, statusLine(me.channel, me.thread));
  threadBox.draw();
  me.marked = "";
}

// ---------------------------------------------------------------- what happens

listen((change) => {
  if (change.kind === "all") {
    settle();
    channelLog.forget();
    threadLog.forget();
    showModal();
  }
  if (change.kind === "views" && change.user === me.user) showModal();
  if (change.kind === "notice" && change.user === me.user) {
    toast(state.team.name, change.text);
    if (byId("modal").open) showModal(change.text);
  }
  if (change.kind === "message") heard(change);
  draw();
});

let first = true;
// A first look: who, where, and what the address asked for.
function settle() {
  const people = [...state.users.values()].filter((user) => !user.is_bot);
  if (!state.users.has(me.user)) me.user = (people.find((user) => user.name === me.user) || people[0]).id;
  if (me.home && !state.homes[me.user]) go.home(me.tab);
  const named = state.channels.has(me.channel);
  if (!named) me.channel = visibleChannels()[0].id;
  const marked = messagesOf(me.channel).get(me.marked);
  if (marked && !me.thread && (marked.reply_count || (marked.thread_ts && marked.thread_ts !== marked.ts))) me.thread = marked.thread_ts || marked.ts;
  if (first && named) pane(me.thread ? "thread" : "place");
  if (first && !named && !me.home) lastThread();
  first = false;
}

// Where the address names no place, the last question is what there is to look at.
function lastThread() {
  const last = rootsOf(me.channel, me.user).pop();
  if (last) posted(me.channel, last.ts, true);
}

function heard({ channel, message, isNew }) {
  follows(channel, message);
  const where = state.channels.get(channel);
  const direct = where && where.kind === "im" && where.user === me.user;
  const calls = (message.text || "").includes(`<@${me.user}>`) || direct;
  if (!isNew || !calls || !message.text || message.user === me.user || message.ephemeral_to || seen(channel, message)) return;
  toast(`${state.bot.name}${direct ? "" : ` in #${where ? where.name : ""}`}`, decoded(message.text || ""), () => go.to(channel, message.thread_ts && message.thread_ts !== message.ts ? message.thread_ts : "", message.ts));
}

// Nobody is told of what stands before their eyes.
function seen(channel, message) {
  const root = message.thread_ts || message.ts;
  return !me.home && me.channel === channel && (root === message.ts || root === me.thread);
}

// A link to a message of this workspace opens here; a click elsewhere shuts open menus.
document.addEventListener("click", (event) => {
  document.querySelectorAll("details.popup[open], details.overflow[open]").forEach((each) => each.contains(event.target) || (each.open = false));
  const found = event.target.closest("a[href]");
  if (!found || event.ctrlKey || event.metaKey) return;
  const [, channel, digits] = /^\/archives\/([^/]+)(?:\/p(\d{11,}))?/.exec(found.pathname) || [];
  if (found.origin !== location.origin || !channel) return;
  event.preventDefault();
  if (!digits) return go.to(channel);
  const ts = `${digits.slice(0, -6)}.${digits.slice(-6)}`;
  const asked = new URLSearchParams(found.search).get("thread_ts");
  const message = messagesOf(channel).get(ts) || {};
  return go.to(channel, asked || message.thread_ts || "", ts);
});

readAddress();
fill(byId("place"), placeHead, homeBody, channelLog.frame, hint, prompts, channelBox.frame);
fill(byId("thread"), threadHead, threadLog.frame, threadBox.frame);
follow((online) => (byId("offline").hidden = online));
