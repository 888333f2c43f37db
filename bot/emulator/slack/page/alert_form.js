// What an alert sender posts: a title, a text and a colour, or any recorded message as JSON.

import { el } from "./dom.js";
import { toast } from "./toasts.js";

const LEVELS = [["danger", "critical"], ["warning", "warning"], ["good", "resolved"]];

export function alertForm() {
  const field = (name, label, value, more = {}) => el("label", {}, el("span", {}, label), el("input", { class: "text-input", name, value, ...more }));
  return [
    el(
      "div", { class: "alert-fields" },
      field("username", "Sender", "Alertmanager"),
      el("label", {}, el("span", {}, "Level"), el("select", { class: "select", name: "color" }, LEVELS.map(([colour, level]) => el("option", { value: colour }, level)))),
      field("title", "Title", "[FIRING:1] CheckoutSlow"),
      el("label", { class: "wide" }, el("span", {}, "Text"), el("textarea", { class: "text-input", name: "text", rows: "2" }, "checkout-service: p95 latency above 2 s for 5 minutes")),
    ),
    el("details", {}, el("summary", {}, "Or a recorded message as JSON"), el("textarea", { class: "text-input", name: "json", rows: "4", spellcheck: "false", "aria-label": "A message as JSON" })),
  ];
}

// The fields of the message, null (and a word why) when they cannot be read.
export function alertFields(form) {
  const value = (name) => form.querySelector(`[name="${name}"]`).value.trim();
  if (value("json")) {
    try {
      const given = JSON.parse(value("json"));
      return given.event || given;
    } catch (error) {
      toast("", `This is not JSON: ${error.message}`);
      return null;
    }
  }
  if (!value("title") && !value("text")) return null;
  const title = value("title");
  return { username: value("username"), bot_id: "B0SENDER01", text: "", attachments: [{ color: value("color"), title, text: value("text"), fallback: `${title} ${value("text")}`.trim() }] };
}
