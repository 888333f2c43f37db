"""What a run tells the outside while it works: the only upward traffic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class RunEvent:
    """`kind` node_started/node_finished: `name` is the node; tool_started/tool_finished: `name` is the tool.

    `detail` is one line for people: the arguments of a call, what it found, why a node is tried again.
    `call` is the same in both events of one tool call: calls of one tool may run side by side.
    """

    run_id: str
    kind: Literal["node_started", "node_finished", "tool_started", "tool_finished", "retry", "degraded"]
    name: str
    detail: str = ""
    ok: bool = True
    call: str = ""


OnEvent = Callable[[RunEvent], None]


def ignore_event(_: RunEvent) -> None:
    return None
