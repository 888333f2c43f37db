// Plans and task cards: what a run does while it does it.

import { el, icon } from "./dom.js";
import { remembered } from "./memory.js";
import { richText } from "./rich.js";
import { link, plain } from "./text.js";

export function plan(block, where) {
  const tasks = block.tasks || [];
  const ended = tasks.filter((task) => task.status === "complete" || task.status === "error").length;
  const running = ended < tasks.length || where.streaming;
  const title = typeof block.title === "string" ? block.title : plain(block.title);
  const folded = el(
    "details", {},
    el("summary", {}, icon("chevron"), el("span", { class: "plan-title" }, title || "Plan"), tasks.length ? el("span", { class: "plan-count" }, `${ended} of ${tasks.length}`) : null),
    el("div", { class: "plan-tasks" }, tasks.map((task) => taskCard(task, where))),
  );
  return remembered(folded, `${where.key}/${where.block}/plan`, running);
}

export function taskCard(task) {
  const status = task.status || "pending";
  const title = typeof task.title === "string" ? task.title : plain(task.title);
  return el(
    "div", { class: `task task-${status}`, "data-task": task.task_id, "data-status": status },
    el("span", { class: "task-mark", role: "img", "aria-label": status.replace("_", " ") }, mark(status)),
    el("div", { class: "task-text", dir: "auto" },
      el("div", { class: "task-title" }, title),
      words(task.details, "task-details"), words(task.output, "task-output"),
      task.sources && task.sources.length ? el("div", { class: "task-sources" }, task.sources.map((source) => link(source.url, source.text ? [source.text] : null))) : null),
  );
}

function mark(status) {
  if (status === "complete") return icon("check");
  if (status === "error") return icon("cross");
  if (status !== "in_progress") return null;
  const spinner = el("span", { class: "spinner" });
  // Drawn anew with each piece of the stream, it goes on turning where it was.
  spinner.style.animationDelay = `-${Math.round(performance.now() % 1000)}ms`;
  return spinner;
}

function words(value, name) {
  if (!value) return null;
  return el("div", { class: name }, typeof value === "string" ? value : richText(value));
}
