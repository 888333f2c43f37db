// The question before a button with `confirm` does anything.

import { el, fill } from "./dom.js";
import { plain, textObject } from "./text.js";

export function confirmed(question) {
  const dialog = document.getElementById("ask");
  return new Promise((resolve) => {
    const end = (answer) => () => {
      resolve(answer);
      dialog.close();
    };
    const sure = el("button", { type: "button", class: `button ${question.style === "danger" ? "danger" : "primary"}`, onclick: end(true) }, plain(question.confirm) || "Yes");
    fill(
      dialog,
      el("h2", {}, plain(question.title) || "Are you sure?"),
      el("div", { class: "ask-text" }, textObject(question.text)),
      el("div", { class: "dialog-foot" }, el("button", { type: "button", class: "button plain", onclick: end(false) }, plain(question.deny) || "Cancel"), sure),
    );
    dialog.oncancel = end(false);
    dialog.showModal();
  });
}
