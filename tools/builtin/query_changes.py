"""What was deployed or configured in a window."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from pydantic import Field

from tools.changes import Change, FoundChanges
from tools.contracts import (
    CallContext,
    Contract,
    EvidenceRef,
    EvidenceStatus,
    ToolDeps,
    ToolResult,
    ToolSpec,
    nothing_found,
)
from tools.errors import ToolFailed
from tools.external import compact_text
from tools.posted_changes import SOURCE, told_once
from tools.window import Window, stamp, window_of

DEFAULT_MINUTES = 24 * 60
_NONE = "no record of changes is configured; set changes_file, or watch a channel that deploy notes are posted in"


class QueryChangesInput(Contract):
    service: str | None = Field(None, description="Only changes of this service. Default: all services.")
    kind: str | None = Field(None, description="Only this kind: deploy, config, flag, …")
    text: str | None = Field(None, description="Only changes in which this text occurs.")
    since: str | None = Field(None, description="Start: 2026-11-30T08:00 (asker's zone), 08:00, -2h.")
    until: str | None = Field(None, description="End. Default: now.")
    window_minutes: float | None = Field(None, gt=0, le=60 * 24 * 90, description="Length. Default: 24 hours.")
    limit: int = Field(30, ge=1, le=100, description="At most this many, the latest ones.")


async def run(arguments: QueryChangesInput, deps: ToolDeps, context: CallContext) -> ToolResult:
    window = _window(arguments, context)
    found = await _read(deps, window, context)
    wanted = [change for change in found.changes if _wanted(change, arguments)]
    details = _reading(found)
    scope = window.scope() | _filters(arguments)
    if not wanted:
        return nothing_found(_nothing(arguments, window, found), scope={"source": _sources(deps), **scope}, **details)
    kept = wanted[-arguments.limit :]
    left_out = len(wanted) - len(kept)
    if left_out:
        details["truncation"] = f"{left_out} earlier changes are not shown"
    return ToolResult(
        payload={"changes": [_row(change) for change in kept]},
        evidence_status=EvidenceStatus.SUPPORTED,
        evidence_refs=tuple(_ref(index, change, scope) for index, change in enumerate(kept)),
        retrieval_details=details,
        truncated=left_out > 0,
    )


async def _read(deps: ToolDeps, window: Window, context: CallContext) -> FoundChanges:
    """A file that cannot be read fails the call, unless posts tell of changes."""
    posted = await deps.posted_changes.find(window, context.audience) if deps.posted_changes else []
    try:
        found = await asyncio.to_thread(deps.changes.find, window) if deps.changes else FoundChanges()
    except ToolFailed as error:
        if not posted:
            raise
        found = FoundChanges(bad_count=1, bad_lines=[str(error)])
    return replace(found, changes=told_once(found.changes, posted))


def _sources(deps: ToolDeps) -> str:
    names = (deps.changes.path.name if deps.changes else "", SOURCE if deps.posted_changes else "")
    return ", ".join(name for name in names if name)


def compiled(arguments: QueryChangesInput, context: CallContext) -> str:
    window = _window(arguments, context)
    filters = [str(value or "").strip().lower() for value in (arguments.service, arguments.kind, arguments.text)]
    return f"{filters} {window.start:%Y-%m-%dT%H:%M} {window.end:%Y-%m-%dT%H:%M} {arguments.limit}"


def _window(arguments: QueryChangesInput, context: CallContext) -> Window:
    return window_of(arguments.since, arguments.until, arguments.window_minutes, context, DEFAULT_MINUTES)


def _wanted(change: Change, arguments: QueryChangesInput) -> bool:
    def meets(wanted: str | None, value: str) -> bool:
        return not wanted or wanted.strip().lower() in value.lower()

    whole = " ".join(change.fields.values())
    return (
        meets(arguments.service, change.service or change.fields.get("summary", ""))
        and meets(arguments.kind, change.fields.get("kind", ""))
        and meets(arguments.text, whole)
    )


def _row(change: Change) -> dict[str, str]:
    return {"time": stamp(change.at), **change.fields}


def _ref(index: int, change: Change, scope: dict[str, str]) -> EvidenceRef:
    own = {"service": change.service} if change.service else {}
    return EvidenceRef(raw_path=f"$.changes[{index}]", text=compact_text(_row(change)), scope=change.scope | scope | own)


def _filters(arguments: QueryChangesInput) -> dict[str, str]:
    pairs = (("service", arguments.service), ("kind", arguments.kind), ("text", arguments.text))
    return {name: value for name, value in pairs if value}


def _reading(found: FoundChanges) -> dict[str, object]:
    if not found.bad_count:
        return {"lines_read": found.read}
    return {"lines_read": found.read, "lines_unreadable": found.bad_count, "unreadable": found.bad_lines}


def _nothing(arguments: QueryChangesInput, window: Window, found: FoundChanges) -> str:
    filters = compact_text(_filters(arguments)) or "all services"
    unread = f" ({found.bad_count} lines of the file could not be read)" if found.bad_count else ""
    return f"No change is recorded for {filters} from {window}{unread}."


def _unavailable(deps: ToolDeps) -> str | None:
    return None if deps.changes or deps.posted_changes else _NONE


TOOL = ToolSpec(
    name="query_changes",
    description=(
        "Lists deploys, config and feature-flag changes of a window with time, service, kind, summary, author and version. "
        "A change before the first symptom is a lead, not yet a cause."
    ),
    input_model=QueryChangesInput,
    run=run,
    evidence_level="direct",
    unavailable=_unavailable,
    compiled=compiled,
)
