"""A tool door on a real store: opens doors of one stored run, calls in sequence, reads the trace back."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from storage.engine import Database
from storage.trace import Lease, StoredInvocation, TraceStore
from tools.caps import ToolLimits
from tools.contracts import CallContext, Contract, EvidenceRef, EvidenceStatus, ToolDeps, ToolResult, ToolSpec
from tools.invoke import CallKey, Invocation, ToolDoor
from tools.registry import ToolRegistry
from tools.skills import SkillRegistry

NOW = datetime(2026, 11, 30, 9, 10, tzinfo=UTC)


@dataclass
class DoorOfRun:
    """Opens doors of one stored run, calls in sequence, and reads the trace back."""

    db: Database
    store: TraceStore
    lease: Lease
    context: CallContext
    sequence: int = 0

    def open(
        self,
        specs: Sequence[ToolSpec] | ToolRegistry,
        deps: ToolDeps | None = None,
        context: CallContext | None = None,
        limits: ToolLimits | None = None,
        **more: Any,
    ) -> ToolDoor:
        registry = specs if isinstance(specs, ToolRegistry) else ToolRegistry(specs)
        return ToolDoor(
            registry,
            deps or ToolDeps(skills=SkillRegistry()),
            context or self.context,
            self.store,
            self.db,
            self.lease,
            "session-1",
            limits,
            self.rows(),
            **more,
        )

    async def call(self, door: ToolDoor, name: str, /, **arguments: Any) -> Invocation:
        self.sequence += 1
        return await door.call(CallKey("executor", 1, self.sequence), name, arguments)

    def rows(self) -> list[StoredInvocation]:
        return self.store.invocations("run-1")


class Ask(Contract):
    """The input of the tools that tests make."""

    text: str = "anything"
    minutes: int = 60
    since: str | None = None


def tool(run: Callable[[Ask], Awaitable[ToolResult]], name: str = "query_test", **fields: Any) -> ToolSpec:
    async def runs(arguments: Ask, _: ToolDeps, __: CallContext) -> ToolResult:
        return await run(arguments)

    whole: dict[str, Any] = {"evidence_level": "direct", "input_model": Ask, **fields}
    return ToolSpec(name=name, description="a tool of a test", run=runs, **whole)


def found(*texts: str, **fields: Any) -> ToolResult:
    """A supported answer with one line a text."""
    return ToolResult(
        payload={"lines": list(texts)},
        evidence_status=EvidenceStatus.SUPPORTED,
        evidence_refs=tuple(EvidenceRef(raw_path=f"$.lines[{i}]", text=text) for i, text in enumerate(texts)),
        **fields,
    )


def answering(*texts: str, **fields: Any) -> ToolSpec:
    """A tool that always answers the same lines."""

    async def run(_: Ask) -> ToolResult:
        return found(*texts)

    return tool(run, **fields)
