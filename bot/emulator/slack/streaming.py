"""One streamed message: what chunks add to it, and the blocks it shows at any moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.emulator.slack.refusals import Finding, Refused, refused_for
from bot.emulator.slack.state import Json

ADDED_TO = ("details", "output")
STATUSES = ("pending", "in_progress", "complete", "error")


@dataclass
class Stream:
    """`parts` keep the order of text, tasks and blocks. A task's title and status replace, its details and output add up."""

    channel: str
    thread_ts: str | None
    mode: str
    started_at: float
    state: Literal["in_progress", "completed", "errored"] = "in_progress"
    stopped_by_user: bool = False
    plan_title: str = ""
    parts: list[tuple[str, Any]] = field(default_factory=list)
    tasks: dict[str, Json] = field(default_factory=dict)

    def add(self, chunks: Sequence[Json]) -> None:
        for index, chunk in enumerate(chunks):
            kind = chunk.get("type") if isinstance(chunk, dict) else None
            if kind == "markdown_text":
                self._add_text(str(chunk.get("text", "")))
            elif kind == "plan_update":
                self.plan_title = str(chunk.get("title", ""))
            elif kind == "task_update":
                self._add_task(chunk, index)
            elif kind == "blocks":
                self.parts.append(("blocks", list(chunk.get("blocks", []))))
            else:
                raise refused_for("invalid_chunks", [Finding(f"/chunks/{index}/type", f"unknown chunk type {kind!r}")])

    def _add_text(self, text: str) -> None:
        if self.parts and self.parts[-1][0] == "text":
            self.parts[-1] = ("text", self.parts[-1][1] + text)
        elif text:
            self.parts.append(("text", text))

    def _add_task(self, chunk: Json, index: int) -> None:
        key, status = str(chunk.get("id", "")), chunk.get("status")
        if not key or status not in STATUSES or "title" not in chunk:
            raise refused_for(
                "invalid_chunks", [Finding(f"/chunks/{index}", "a task needs id, title and a known status")]
            )
        if key not in self.tasks:
            self.tasks[key] = {"details": "", "output": "", "sources": []}
            self.parts.append(("task", key))
        task = self.tasks[key]
        task |= {"title": str(chunk["title"]), "status": status}
        for name in ADDED_TO:
            task[name] += str(chunk.get(name) or "")
        task["sources"] = task["sources"] + list(chunk.get("sources") or [])

    def refuse_too_long(self, text_limit: int, total_limit: int) -> None:
        """Slack counts the text of the message and everything that its tasks have gathered."""
        text = len(self.text)
        total = text + sum(len(task[name]) for task in self.tasks.values() for name in (*ADDED_TO, "title"))
        if text > text_limit or total > total_limit:
            raise Refused("msg_too_long")

    @property
    def text(self) -> str:
        return "".join(value for kind, value in self.parts if kind == "text")

    def blocks(self) -> list[Json]:
        """What the message shows: with mode `plan` the tasks together in front, else each where it came."""
        shown: list[Json] = []
        if self.mode == "plan" and (self.tasks or self.plan_title):
            shown.append({"type": "plan", "title": self.plan_title, "tasks": [self._card(key) for key in self.tasks]})
        for kind, value in self.parts:
            if kind == "text":
                shown.append({"type": "markdown", "text": value})
            elif kind == "blocks":
                shown += value
            elif self.mode != "plan":
                shown.append(self._card(value))
        return shown

    def _card(self, key: str) -> Json:
        task = self.tasks[key]
        card: Json = {"type": "task_card", "task_id": key, "title": task["title"], "status": task["status"]}
        for name in ADDED_TO:
            if task[name]:
                card[name] = rich_text(task[name])
        if task["sources"]:
            card["sources"] = task["sources"]
        return card


def rich_text(text: str) -> Json:
    """A plain string as the rich_text block that a task card holds."""
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "elements": [section]}
