"""Nodes and tool calls on stderr as they happen."""

from __future__ import annotations

from rich.console import Console

from agents.events import OnEvent, RunEvent
from bot.terminal.lines import Line, show

_MARKS = {
    "node_started": "▸ ",
    "tool_started": "  → ",
    "tool_finished": "  ← ",
    "retry": "  ↻ ",
    "degraded": "  ! ",
}
_LONGEST = 200


def progress_on(console: Console) -> OnEvent:
    """The end of a node says something only where it has a detail: its start has already named it."""

    def on_event(event: RunEvent) -> None:
        if event.kind == "node_finished" and not event.detail:
            return
        lead = _MARKS.get(event.kind, "    ")
        show(console, [Line(_sentence(event), lead=lead, style="dim" if event.ok else "yellow")])

    return on_event


def _sentence(event: RunEvent) -> str:
    failed = "failed:" if not event.ok and event.kind == "tool_finished" else ""
    text = " ".join(part for part in (event.name, failed, event.detail) if part).replace("\n", " ")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
