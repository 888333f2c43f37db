// What the app says it is doing, Slack's own Stop, and the prompts that it suggests.

import { el } from "./dom.js";
import { me } from "./me.js";
import { act, state, threadKey } from "./store.js";
import { refused } from "./toasts.js";

// [key, draw] while the app works, else null.
export function statusLine(channel, thread) {
  const status = state.statuses.get(threadKey(channel, thread));
  const session = state.sessions.get(threadKey(channel, thread));
  const works = session && session.status === "processing";
  if (!works && !(status && status.status)) return null;
  const words = (status && status.status) || "is working …";
  return [`status ${words} ${works}`, () => line(channel, thread, words, works)];
}

function line(channel, thread, words, works) {
  return el(
    "div", { class: "status", role: "status" },
    el("span", { class: "status-dots", "aria-hidden": "true" }, el("i"), el("i"), el("i")),
    el("span", { class: "status-text" }, el("b", {}, state.bot.name), ` ${words}`),
    works ? el("button", { type: "button", class: "button plain stop", onclick: async () => refused(await act("stop", { channel, thread_ts: thread, user: me.user })) }, "Stop") : null,
  );
}

export function suggestedPrompts(channel, thread) {
  const offered = state.prompts.get(threadKey(channel, thread));
  if (!offered) return [];
  const ask = (prompt) => async () => {
    const fields = { channel, user: me.user, message: prompt.message };
    refused(await act("prompt", thread ? { ...fields, thread_ts: thread } : fields));
  };
  return [offered.title ? el("div", { class: "prompts-title" }, offered.title) : null, ...offered.prompts.map((prompt) => el("button", { type: "button", class: "prompt", title: prompt.message, onclick: ask(prompt) }, prompt.title))];
}
