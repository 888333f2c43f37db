// The workspace, who looks at it, and where to go.

import { el, icon, keep } from "./dom.js";
import { me, unread, visibleChannels } from "./me.js";
import { state } from "./store.js";

export function drawSidebar(frame, go) {
  const people = [...state.users.values()].filter((user) => !user.is_bot);
  const channels = visibleChannels().filter((channel) => channel.kind !== "im");
  const seen = visibleChannels().map((channel) => [channel, unread(channel.id)]);
  keep(frame, JSON.stringify([me.user, me.home, me.channel, state.users.size, state.team, state.bot, seen]), () => [
    el("div", { class: "workspace" }, el("div", { class: "workspace-name" }, state.team.name || "Loopback"), el("div", { class: "workspace-note" }, "A stand-in for Slack on this machine")),
    el(
      "label", { class: "who" }, el("span", {}, "You are"),
      el("select", { id: "who", onchange: (event) => go.as(event.target.value) }, people.map((user) => el("option", { value: user.id, selected: user.id === me.user }, name(user)))),
    ),
    el("h2", {}, "Channels"),
    el("ul", {}, channels.map((channel) => row(channel, go))),
    el("h2", {}, "Apps"),
    el("ul", {}, app(go)),
  ]);
}

const name = (user) => `${user.real_name || user.name}${user.is_stranger ? " (other organisation)" : user.is_guest ? " (guest)" : ""}`;

function row(channel, go) {
  const { count, mentions } = unread(channel.id);
  const here = !me.home && me.channel === channel.id;
  return el(
    "li", {},
    el(
      "button",
      { type: "button", class: `row${count && !here ? " new" : ""}${channel.is_archived ? " archived" : ""}`, "aria-current": here ? "page" : null, "data-channel": channel.id, onclick: () => go.to(channel.id) },
      icon(channel.kind === "channel" ? "hash" : "lock"), el("span", { class: "row-name" }, channel.name),
      mentions && !here ? el("span", { class: "count" }, String(mentions)) : null,
    ),
  );
}

function app(go) {
  const direct = [...state.channels.values()].find((channel) => channel.kind === "im" && channel.user === me.user);
  const here = me.home || (direct && me.channel === direct.id);
  const count = direct && !here ? unread(direct.id).count : 0;
  return el(
    "li", {},
    el(
      "button", { type: "button", class: `row${count ? " new" : ""}`, "aria-current": here ? "page" : null, "data-app": "home", onclick: () => go.home("home") },
      el("span", { class: "avatar ours small", "aria-hidden": "true" }, icon("check")), el("span", { class: "row-name" }, state.bot.name || "App"),
      count ? el("span", { class: "count" }, String(count)) : null,
    ),
  );
}
