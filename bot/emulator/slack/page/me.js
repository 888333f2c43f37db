// Who looks at the page, and where: kept for this tab, and in the address so that it can be shared and reloaded.

import { rootsOf, state, threadKey } from "./store.js";

export const me = { user: "", channel: "", thread: "", home: false, tab: "home", marked: "" };

const read = new Map();

export const kindOf = (channel) => (channel ? channel.kind : "");

// The conversations that a person sees: nobody sees another's direct messages, nor a private channel without being in it.
export function visibleChannels() {
  return [...state.channels.values()].filter((channel) => channel.kind === "channel" || channel.members.includes(me.user));
}

export function markRead(channel) {
  const roots = rootsOf(channel, me.user);
  const last = roots.length ? roots[roots.length - 1] : null;
  const seen = last ? [last.ts, last.latest_reply || ""].sort().pop() : "0";
  read.set(threadKey(me.user, channel), seen);
}

export function unread(channel) {
  const seen = read.get(threadKey(me.user, channel)) || "0";
  const found = rootsOf(channel, me.user).filter((message) => Number(message.ts) > Number(seen) && message.user !== me.user);
  return { count: found.length, mentions: found.filter((message) => (message.text || "").includes(`<@${me.user}>`)).length };
}

// /archives/C0INCIDENT/p1700000000000100?thread_ts=…&as=U0ANA00001
export function readAddress() {
  const [, channel, message] = /^\/archives\/([^/]+)(?:\/p(\d{11,}))?/.exec(location.pathname) || [];
  const asked = new URLSearchParams(location.search);
  me.user = asked.get("as") || sessionStorage.getItem("as") || "";
  me.channel = channel || "";
  me.marked = message ? `${message.slice(0, -6)}.${message.slice(-6)}` : "";
  me.thread = asked.get("thread_ts") || "";
  me.home = asked.get("home") !== null;
  me.tab = asked.get("home") || "home";
}

export function writeAddress() {
  sessionStorage.setItem("as", me.user);
  const query = new URLSearchParams();
  if (me.thread) query.set("thread_ts", me.thread);
  if (me.home) query.set("home", me.tab);
  query.set("as", me.user);
  const path = me.home || !me.channel ? "/" : `/archives/${me.channel}${me.thread ? `/p${me.thread.replace(".", "")}` : ""}`;
  history.replaceState(null, "", `${path}?${query}`);
}

// "09:41" and "Monday, 30 November" where the person is.
export const clock = (ts) => at(ts, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
export const day = (ts) => at(ts, { weekday: "long", day: "numeric", month: "long" });
export const exact = (ts) => at(ts, { dateStyle: "medium", timeStyle: "long" });

function at(ts, how) {
  const user = state.users.get(me.user) || {};
  return new Intl.DateTimeFormat(user.locale || undefined, { ...how, timeZone: user.tz || undefined }).format(new Date(Number(ts) * 1000));
}
