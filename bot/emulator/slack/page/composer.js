// The box to post in: as the person who looks, or as an alert sender.

import { alertForm, alertFields } from "./alert_form.js";
import { el, fill, icon, keep } from "./dom.js";
import { me } from "./me.js";
import { suggestions } from "./suggest.js";
import { act, refreshed, state } from "./store.js";
import { refused, toast } from "./toasts.js";

// `where()` gives {channel, thread}. The box keeps its words while the page around it changes.
export function composer(where, posted) {
  const box = el("textarea", { rows: "1", "aria-label": "Message", dir: "auto" });
  const attached = [];
  let sender = "person";
  let editing = null;
  const chips = el("div", { class: "chips" });
  const alert = el("div", { class: "alert-form", hidden: true });
  const names = suggestions(box);

  async function send() {
    const { channel, thread } = where();
    const text = box.value.trim();
    if (sender === "alert") return sendAlert(channel, thread);
    if (editing) return sendEdit(channel, text);
    if (!text && !attached.length) return undefined;
    if (/^\/[a-z]/.test(text) && !attached.length) return sendCommand(channel, text);
    const fields = { channel, user: me.user, text: encoded(text) };
    if (thread) fields.thread_ts = thread;
    if (attached.length) fields.files = [...attached];
    const answer = await act("post", fields);
    if (refused(answer)) return undefined;
    clear();
    posted(channel, thread || answer.ts, !thread);
    return undefined;
  }

  async function sendAlert(channel, thread) {
    const event = alertFields(alert);
    if (!event) return;
    if (thread) event.thread_ts = thread;
    refused(await act("post_as_bot", { channel, event }));
  }

  async function sendEdit(channel, text) {
    if (!refused(await act("edit", { channel, ts: editing.ts, user: me.user, text: encoded(text) }))) clear();
  }

  async function sendCommand(channel, text) {
    const [command, ...words] = text.split(/\s+/);
    if (!state.commands.includes(command)) await refreshed();
    if (state.commands.length && !state.commands.includes(command)) return toast("", `No app here knows ${command}; there is ${state.commands.join(", ")}.`);
    if (!refused(await act("slash", { command, text: words.join(" "), channel, user: me.user }))) clear();
    return undefined;
  }

  function clear() {
    box.value = "";
    attached.length = 0;
    editing = null;
    frame.classList.remove("editing");
    draw();
    grow();
  }

  function grow() {
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, 220)}px`;
  }

  box.addEventListener("input", grow);
  box.addEventListener("keydown", (event) => {
    if (names.key(event)) return;
    if (event.key === "Escape" && editing) clear();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  });

  const file = el("input", {
    type: "file", multiple: true, hidden: true,
    onchange: async (event) => {
      for (const each of event.target.files) attached.push({ name: each.name, content: await each.text() });
      event.target.value = "";
      draw();
    },
  });

  const who = el("select", {
    class: "post-as", "aria-label": "Post as",
    onchange: (event) => {
      sender = event.target.value;
      if (sender === "alert" && !alert.childElementCount) fill(alert, alertForm());
      alert.hidden = sender !== "alert";
      box.hidden = sender === "alert";
    },
  });

  const frame = el(
    "form", { class: "composer", onsubmit: (event) => (event.preventDefault(), send()) },
    names.frame, alert, box, chips,
    el(
      "div", { class: "composer-foot" }, file,
      el("button", { type: "button", class: "icon-button", "aria-label": "Attach a text file", title: "Attach a text file", onclick: () => file.click() }, icon("file")),
      el("button", { type: "button", class: "mention-button", title: "Mention the app", onclick: () => names.insert(`@${state.bot.name} `) }, "@"),
      who, el("span", { class: "spring" }),
      el("button", { type: "button", class: "button plain cancel-edit", onclick: clear }, "Cancel"),
      el("button", { type: "submit", class: "button primary send", "aria-label": "Send" }, icon("send")),
    ),
  );

  function draw() {
    const { channel, thread } = where();
    const place = state.channels.get(channel) || {};
    const person = state.users.get(me.user) || {};
    const name = person.real_name || person.name || "";
    keep(who, `${name}/${sender}`, () => [el("option", { value: "person", selected: sender === "person" }, `as ${name}`), el("option", { value: "alert", selected: sender === "alert" }, "as an alert sender")]);
    fill(chips, attached.map((each) => el("span", { class: "chip" }, icon("file"), each.name)));
    box.placeholder = thread ? "Reply …" : place.kind === "im" ? `Message ${state.bot.name}` : `Message #${place.name || ""}`;
    frame.hidden = Boolean(place.is_archived);
  }

  function edit(message) {
    editing = message;
    box.value = decoded(message.text || "");
    frame.classList.add("editing");
    box.focus();
    grow();
  }

  return { frame, draw, edit, focus: () => box.focus() };
}

// ---------------------------------------------------------------- what Slack makes of typed text

const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

export function encoded(text) {
  const names = new Map();
  for (const user of state.users.values()) {
    for (const name of [user.real_name, user.name]) if (name) names.set(name.toLowerCase(), `<@${user.id}>`);
  }
  for (const word of ["here", "channel", "everyone"]) names.set(word, `<!${word}>`);
  const longest = [...names.keys()].sort((one, other) => other.length - one.length).map(quoted);
  const mention = new RegExp(`@(${longest.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  return escape(text).replace(mention, (_, name) => names.get(name.toLowerCase()));
}

export function decoded(text) {
  const names = text.replace(/<@([A-Z0-9]+)(?:\|[^>]*)?>/g, (_, id) => `@${(state.users.get(id) || {}).real_name || id}`);
  return names.replace(/<!(here|channel|everyone)(?:\|[^>]*)?>/g, "@$1").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
}
