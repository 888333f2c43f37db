// App Home: two tabs, Home and Messages.

import { drawBlocks } from "./blocks.js";
import { el } from "./dom.js";
import { me } from "./me.js";
import { act, state } from "./store.js";
import { refused } from "./toasts.js";

export function homeTabs(open) {
  const tab = (name, label) => el("button", { type: "button", role: "tab", class: "tab", "aria-selected": String((me.home ? "home" : "messages") === name), "data-tab": name, onclick: () => open(name) }, label);
  return el("div", { class: "tabs", role: "tablist" }, tab("home", "Home"), tab("messages", "Messages"));
}

export function homePane() {
  const view = state.homes[me.user];
  if (!view) return el("div", { class: "empty" }, "The app has published nothing here yet.");
  const where = {
    user: me.user, key: view.id, form: new Map(), surface: "home",
    act: async (part, value) => refused(await act("click_view", value === undefined ? { view_id: view.id, action_id: part.action_id, user: me.user } : { view_id: view.id, action_id: part.action_id, user: me.user, value })),
  };
  return el("div", { class: "home", "data-view-id": view.id }, drawBlocks(view.blocks, where));
}
