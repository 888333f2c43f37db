// A list of messages that is brought up to date in place: what did not change is not drawn again.

import { el, settle } from "./dom.js";
import { day, me } from "./me.js";
import { messageView } from "./messages.js";

const TOGETHER_SECONDS = 300;
const NEAR_BOTTOM = 80;

export function timeline(label) {
  const frame = el("div", { class: "timeline", role: "log", "aria-label": label, tabindex: "0" });
  let drawn = new Map();
  let place = "";

  // `foot`: [key, draw] of what stands below the last message, or null.
  function show(messages, channel, options, foot) {
    const here = `${me.user}/${channel}/${options.thread || ""}`;
    const stick = here !== place || frame.scrollHeight - frame.scrollTop - frame.clientHeight < NEAR_BOTTOM;
    if (here !== place) drawn = new Map();
    place = here;
    const next = new Map();
    const line = (key, draw) => once(drawn, next, key, draw);
    const nodes = [];
    const replies = messages.slice(1).filter((message) => !message.ephemeral_to).length;
    messages.forEach((message, index) => {
      const before = messages[index - 1];
      const newDay = !before || day(before.ts) !== day(message.ts);
      if (newDay && !options.thread) nodes.push(line(`day ${day(message.ts)}`, () => ruled(day(message.ts))));
      const compact = !newDay && !(options.thread && index === 1) && together(before, message);
      nodes.push(messageNode(drawn, next, message, channel, { ...options, compact }));
      if (options.thread && index === 0 && replies) nodes.push(line(`replies ${replies}`, () => ruled(replies === 1 ? "1 reply" : `${replies} replies`)));
    });
    if (foot) nodes.push(line(...foot));
    drawn = next;
    settle(frame, nodes);
    if (options.marked) mark(frame, options.marked);
    else if (stick) toEnd(frame, messages[messages.length - 1]);
  }

  return { frame, show, forget: () => (drawn = new Map()) };
}

// The end of the list; of a finished message that is longer than the frame, its beginning.
function toEnd(frame, last) {
  frame.scrollTop = frame.scrollHeight;
  const node = last && last.streaming_state !== "in_progress" && frame.querySelector(`[data-ts="${CSS.escape(last.ts)}"]`);
  if (node && node.offsetHeight > frame.clientHeight && last.bot_id) frame.scrollTop = node.offsetTop - frame.offsetTop;
}

const ruled = (text) => el("div", { class: "day" }, el("span", {}, text));

function once(drawn, next, key, draw) {
  const entry = drawn.get(key) || { node: draw() };
  next.set(key, entry);
  return entry.node;
}

function messageNode(drawn, next, message, channel, options) {
  const known = drawn.get(message.ts);
  const entry = known && known.compact === options.compact ? known : { ...messageView(message, channel, options), message, compact: options.compact };
  if (entry.message !== message) entry.update(message);
  entry.message = message;
  next.set(message.ts, entry);
  return entry.node;
}

function together(before, message) {
  const same = before && (before.user || before.bot_id) === (message.user || message.bot_id) && before.username === message.username;
  return Boolean(same) && !message.ephemeral_to && !before.ephemeral_to && before.subtype !== "tombstone" && Number(message.ts) - Number(before.ts) < TOGETHER_SECONDS;
}

function mark(frame, ts) {
  const found = frame.querySelector(`[data-ts="${CSS.escape(ts)}"]`);
  if (!found) return;
  found.classList.add("marked");
  found.scrollIntoView({ block: "nearest" });
}
