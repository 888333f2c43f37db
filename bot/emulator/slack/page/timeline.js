// A list of messages that is brought up to date in place: what did not change is not drawn again.

import { el } from "./dom.js";
import { day, me } from "./me.js";
import { drawMessage } from "./messages.js";

const TOGETHER_SECONDS = 300;
const NEAR_BOTTOM = 80;

export function timeline(label) {
  const frame = el("div", { class: "timeline", role: "log", "aria-label": label, tabindex: "0" });
  let drawn = new Map();
  let place = "";

  function show(messages, channel, options, foot = []) {
    const here = `${me.user}/${channel}/${options.thread || ""}`;
    const stick = here !== place || frame.scrollHeight - frame.scrollTop - frame.clientHeight < NEAR_BOTTOM;
    if (here !== place) drawn = new Map();
    place = here;
    const next = new Map();
    const nodes = [];
    messages.forEach((message, index) => {
      const before = messages[index - 1];
      const newDay = !before || day(before.ts) !== day(message.ts);
      if (newDay && !options.thread) nodes.push(reused(drawn, next, `day ${day(message.ts)}`, "", () => el("div", { class: "day" }, el("span", {}, day(message.ts)))));
      const compact = !newDay && !(options.thread && index === 1) && together(before, message);
      nodes.push(reused(drawn, next, message.ts, message, () => drawMessage(message, channel, { ...options, compact }), compact));
      if (options.thread && index === 0 && messages.length > 1) nodes.push(reused(drawn, next, "replies", messages.length, () => el("div", { class: "day" }, el("span", {}, messages.length === 2 ? "1 reply" : `${messages.length - 1} replies`))));
    });
    drawn = next;
    settle(frame, [...nodes, ...foot]);
    if (options.marked) mark(frame, options.marked);
    else if (stick) frame.scrollTop = frame.scrollHeight;
  }

  return { frame, show, forget: () => (drawn = new Map()) };
}

function reused(drawn, next, key, source, draw, flag = false) {
  const known = drawn.get(key);
  const entry = known && known.source === source && known.flag === flag ? known : { source, flag, node: draw() };
  next.set(key, entry);
  return entry.node;
}

function together(before, message) {
  const same = before && (before.user || before.bot_id) === (message.user || message.bot_id) && before.username === message.username;
  return Boolean(same) && !message.ephemeral_to && !before.ephemeral_to && before.subtype !== "tombstone" && Number(message.ts) - Number(before.ts) < TOGETHER_SECONDS;
}

function settle(frame, nodes) {
  const wanted = new Set(nodes);
  [...frame.children].forEach((child) => wanted.has(child) || child.remove());
  nodes.forEach((node, index) => {
    if (frame.children[index] !== node) frame.insertBefore(node, frame.children[index] || null);
  });
}

function mark(frame, ts) {
  const found = frame.querySelector(`[data-ts="${CSS.escape(ts)}"]`);
  if (!found) return;
  found.classList.add("marked");
  found.scrollIntoView({ block: "nearest" });
}
