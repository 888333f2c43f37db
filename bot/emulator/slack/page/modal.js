// The modals of a person: the last one of the stack is shown.

import { drawBlocks } from "./blocks.js";
import { el, fill, icon } from "./dom.js";
import { me } from "./me.js";
import { act, state } from "./store.js";
import { plain } from "./text.js";

const forms = new Map();
let shown = "";

export function showModal(notice = "") {
  const dialog = document.getElementById("modal");
  const stack = state.views[me.user] || [];
  const view = stack[stack.length - 1];
  if (!view) {
    if (dialog.open) dialog.close();
    forms.clear();
    shown = "";
    return;
  }
  if (!forms.has(view.id)) forms.set(view.id, new Map());
  draw(dialog, view, stack, notice, view.errors || {});
  if (!dialog.open) dialog.showModal();
}

function draw(dialog, view, stack, notice, errors) {
  const kept = dialog.querySelector(".modal-body");
  const scroll = shown === view.id && kept ? kept.scrollTop : 0;
  const form = forms.get(view.id);
  const where = {
    user: me.user, key: view.id, form, errors, surface: "modal",
    act: async (part, value) => said(await act("click_view", value === undefined ? { view_id: view.id, action_id: part.action_id, user: me.user } : { view_id: view.id, action_id: part.action_id, user: me.user, value })),
  };
  dialog.dataset.viewId = view.id;
  dialog.dataset.callbackId = view.callback_id || "";
  fill(
    dialog,
    el(
      "header", { class: "modal-head" },
      stack.length > 1 ? el("button", { type: "button", class: "icon-button", "aria-label": "Back", onclick: () => close(view) }, icon("back")) : null,
      el("h2", { id: "modal-title" }, plain(view.title)),
      el("button", { type: "button", class: "icon-button modal-x", "aria-label": "Close", onclick: () => close(stack[0]) }, icon("close")),
    ),
    notice ? el("div", { class: "modal-notice", role: "alert" }, notice) : null,
    el("div", { class: "modal-body", tabindex: "-1" }, drawBlocks(view.blocks, where)),
    foot(view, dialog, stack),
  );
  dialog.oncancel = (event) => {
    event.preventDefault();
    close(view);
  };
  const body = dialog.querySelector(".modal-body");
  if (Object.keys(errors).length) (body.querySelector(".wrong") || body).scrollIntoView({ block: "nearest" });
  else body.scrollTop = scroll;
  shown = view.id;
}

function foot(view, dialog, stack) {
  if (!view.submit && !view.close) return null;
  return el(
    "footer", { class: "dialog-foot" },
    view.close ? el("button", { type: "button", class: "button plain", "data-modal": "close", onclick: () => close(view) }, plain(view.close)) : null,
    view.submit ? el("button", { type: "button", class: "button primary", "data-modal": "submit", onclick: (event) => submit(view, dialog, stack, event.currentTarget) }, plain(view.submit)) : null,
  );
}

const close = async (view) => said(await act("close", { view_id: view.id, user: me.user }));

// What the person did is told again by an event; only a refusal is shown here.
function said(answer) {
  if (!answer.ok) showModal(answer.error);
}

async function submit(view, dialog, stack, pressed) {
  const form = forms.get(view.id);
  const errors = missing(view, form);
  if (Object.keys(errors).length) {
    draw(dialog, view, stack, "", errors);
    return;
  }
  pressed.disabled = true;
  pressed.classList.add("waiting");
  const values = {};
  for (const { part, value, block, input } of form.values()) {
    if (view.blocks.some((each) => each.block_id === block)) values[input ? block : part.action_id] = value;
  }
  said(await act("submit", { view_id: view.id, user: me.user, values }));
}

function missing(view, form) {
  const errors = {};
  for (const block of view.blocks) {
    if (block.type !== "input" || block.optional) continue;
    const kept = form.get(`${block.block_id}/${block.element.action_id}`);
    const value = kept ? kept.value : started(block.element);
    if (value === undefined || value === null || value === "" || value.length === 0) errors[block.block_id] = "Please complete this required field.";
  }
  return errors;
}

const started = (part) => Object.entries(part).find(([name]) => name.startsWith("initial_"))?.[1];
