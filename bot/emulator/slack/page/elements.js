// Interactive elements. `where`:
//   user      whose page it is          act(element, value, blockId)   sends a click
//   form      Map of what was entered, by block and action (modals)    input     the input block around it
//   key       names the surface, for what is kept between drawings     label     of the input block

import { confirmed } from "./confirm.js";
import { el, icon } from "./dom.js";
import { state } from "./store.js";
import { plain } from "./text.js";

export function element(part, where) {
  if (part.visible_to_user_ids && !part.visible_to_user_ids.includes(where.user)) return el("span", { hidden: true });
  const draw = DRAW[part.type];
  const made = draw ? draw(part, where) : el("span", { class: "unknown" }, `This page does not draw ${part.type}.`);
  if (part.action_id) made.dataset.actionId = part.action_id;
  return made;
}

const typed = (type) => (part, where) => textField(part, where, type);

const DRAW = {
  button, icon_button: iconButton, workflow_button: button, feedback_buttons: feedbackButtons, overflow,
  static_select: (part, where) => select(part, where, groups(part), (part.initial_option || {}).value),
  external_select: () => el("span", { class: "unknown" }, "This page does not ask an app for options."),
  users_select: (part, where) => select(part, where, [[null, people()]], part.initial_user),
  conversations_select: (part, where) => select(part, where, [[null, places()]], part.initial_conversation),
  channels_select: (part, where) => select(part, where, [[null, places()]], part.initial_channel),
  multi_static_select: (part, where) => many(part, where, groups(part), part.initial_options),
  multi_users_select: (part, where) => many(part, where, [[null, people()]], part.initial_users),
  multi_conversations_select: (part, where) => many(part, where, [[null, places()]], part.initial_conversations),
  multi_channels_select: (part, where) => many(part, where, [[null, places()]], part.initial_channels),
  checkboxes: (part, where) => many(part, where, [[null, options(part.options)]], part.initial_options),
  radio_buttons: radios,
  plain_text_input: (part, where) => textField(part, where, part.multiline ? "multiline" : "text"),
  rich_text_input: typed("multiline"), number_input: typed("number"), email_text_input: typed("email"), url_text_input: typed("url"),
  datepicker: typed("date"), timepicker: typed("time"), datetimepicker: typed("datetime-local"),
  image: (part) => el("span", { class: "picture absent thumb", title: part.image_url }, `🖼 ${part.alt_text || ""}`),
};

// ---------------------------------------------------------------- what is sent

async function send(part, where, value, pressed = null) {
  if (part.confirm && !(await confirmed(part.confirm))) return false;
  if (pressed) {
    pressed.disabled = true;
    setTimeout(() => (pressed.disabled = false), 500);
  }
  await where.act(part, value, where.block);
  return true;
}

const slot = (part, where) => `${where.block}/${part.action_id}`;

// Keeps what a person entered; an element that is no input of a form tells the app at once.
async function entered(part, where, value) {
  if (where.form) where.form.set(slot(part, where), { part, value, block: where.block, input: where.input || null });
  if (!where.input || where.input.dispatch_action) await send(part, where, value);
}

function held(part, where, start) {
  const kept = where.form && where.form.get(slot(part, where));
  return kept ? kept.value : start;
}

// ---------------------------------------------------------------- buttons

function button(part, where) {
  const kind = `button ${part.style || "plain"}`;
  const words = { class: kind, "aria-label": part.accessibility_label };
  if (part.url) {
    return el("a", { ...words, href: part.url, target: "_blank", rel: "noopener noreferrer", onclick: () => send(part, where, part.value) }, plain(part.text));
  }
  return el("button", { ...words, type: "button", onclick: (event) => send(part, where, part.value, event.currentTarget) }, plain(part.text));
}

function iconButton(part, where) {
  const label = part.accessibility_label || plain(part.text);
  return el("button", { type: "button", class: "icon-button", title: plain(part.text), "aria-label": label, onclick: (event) => send(part, where, part.value, event.currentTarget) }, icon(part.icon === "trash" ? "trash" : "more"));
}

const voted = new Map();

function feedbackButtons(part, where) {
  const key = `${where.key}/${where.user}/${slot(part, where)}`;
  const frame = el("span", { class: "feedback", role: "group" });
  const one = (name, given, sign) => {
    const made = el("button", {
      type: "button", class: "feedback-button", title: plain(given.text), "data-vote": name,
      "aria-label": given.accessibility_label || plain(given.text), "aria-pressed": String(voted.get(key) === name),
      onclick: async () => {
        if (!(await send(part, where, given.value))) return;
        voted.set(key, name);
        frame.querySelectorAll("button").forEach((each) => each.setAttribute("aria-pressed", String(each.dataset.vote === name)));
      },
    }, icon(sign), el("span", {}, plain(given.text)));
    return made;
  };
  frame.append(one("positive", part.positive_button, "up"), one("negative", part.negative_button, "down"));
  return frame;
}

function overflow(part, where) {
  const choose = (option) => (event) => {
    event.currentTarget.closest("details").open = false;
    send(part, where, option.value);
  };
  return el(
    "details", { class: "overflow" },
    el("summary", { class: "icon-button", "aria-label": "More" }, icon("more")),
    el("div", { class: "menu" }, part.options.map((option) => el("button", { type: "button", onclick: choose(option) }, plain(option.text)))),
  );
}

// ---------------------------------------------------------------- choices

const options = (list) => (list || []).map((option) => ({ value: option.value, text: plain(option.text), more: plain(option.description) }));
const groups = (part) => (part.option_groups ? part.option_groups.map((group) => [plain(group.label), options(group.options)]) : [[null, options(part.options)]]);
const people = () => [...state.users.values()].filter((user) => !user.is_bot).map((user) => ({ value: user.id, text: user.real_name || user.name }));
const places = () => [...state.channels.values()].filter((channel) => channel.kind !== "im").map((channel) => ({ value: channel.id, text: `#${channel.name}` }));

function select(part, where, grouped, start) {
  const now = held(part, where, start);
  const entry = (option) => el("option", { value: option.value, selected: option.value === now }, option.text);
  const made = el("select", { class: "select", "aria-label": where.label || plain(part.placeholder) || "Choose", onchange: (event) => event.target.value && entered(part, where, event.target.value) });
  made.append(el("option", { value: "", selected: !now }, plain(part.placeholder) || "Choose …"));
  for (const [label, list] of grouped) made.append(...(label ? [el("optgroup", { label }, list.map(entry))] : list.map(entry)));
  return made;
}

function radios(part, where) {
  const now = held(part, where, (part.initial_option || {}).value);
  const name = `${where.key}/${slot(part, where)}`;
  const one = (option) => choice("radio", name, option, option.value === now, () => entered(part, where, option.value));
  return el("div", { class: "choices", role: "radiogroup", "aria-label": where.label }, options(part.options).map(one));
}

function many(part, where, grouped, start) {
  const now = new Set(held(part, where, (start || []).map((each) => each.value || each)));
  const change = (option) => (event) => {
    event.target.checked ? now.add(option.value) : now.delete(option.value);
    entered(part, where, [...now]);
  };
  const one = (option) => choice("checkbox", "", option, now.has(option.value), change(option));
  const all = grouped.flatMap(([label, list]) => [label ? el("div", { class: "group-label" }, label) : null, ...list.map(one)]);
  return el("div", { class: "choices", role: "group", "aria-label": where.label }, all);
}

function choice(type, name, option, checked, onchange) {
  return el("label", { class: "choice" }, el("input", { type, name: name || null, value: option.value, checked, onchange }), el("span", {}, option.text, option.more ? el("span", { class: "choice-more" }, option.more) : null));
}

// ---------------------------------------------------------------- text

function textField(part, where, type) {
  const start = part.initial_value ?? part.initial_date ?? part.initial_time ?? "";
  const attributes = {
    class: "text-input", value: held(part, where, start) || "", placeholder: plain(part.placeholder) || null, "aria-label": where.label,
    maxlength: part.max_length, minlength: part.min_length, min: part.min_value, max: part.max_value, dir: "auto",
    [type === "multiline" || type === "text" ? "oninput" : "onchange"]: (event) => keep(part, where, type, event.target),
  };
  if (type === "multiline") return el("textarea", { ...attributes, rows: "5" });
  return el("input", { ...attributes, type, step: part.type === "number_input" && part.is_decimal_allowed ? "any" : null });
}

// A form hears of text when it is sent; only dispatch_action sends it while a person types.
function keep(part, where, type, field) {
  const value = type === "datetime-local" ? Math.floor(new Date(field.value).getTime() / 1000) : field.value;
  entered(part, where, value);
}
