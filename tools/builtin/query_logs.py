"""Log lines of a window: counted as templates against the time before, with the lines that matter verbatim."""

from __future__ import annotations

import re
import warnings
from typing import Literal

from pydantic import Field, field_validator

from tools.contracts import (
    CallContext,
    Contract,
    EvidenceStatus,
    ToolDeps,
    ToolResult,
    ToolSpec,
    nothing_found,
)
from tools.errors import ToolFailed
from tools.logs.answer import Answer
from tools.logs.find import Found
from tools.logs.request import ScanRequest
from tools.window import Window, stamp, window_of

DEFAULT_MINUTES = 60


class QueryLogs(Contract):
    service: str | None = Field(
        None, max_length=200, description="Only this service (exact name; `*` stands for anything). Default: all services."
    )
    level: Literal["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] | None = Field(
        None, description="Only lines of at least this level. Default: every line, also those that name no level."
    )
    text: str | None = Field(
        None, min_length=1, max_length=500, description="Only lines with exactly this text (case matters). Fast."
    )
    regex: str | None = Field(
        None, max_length=500, description="Only lines in which this Python regular expression is found. Slower than text."
    )
    glob: str | None = Field(
        None, max_length=300, description="Only files of this name, like `payment*.log` or `**/2026-11-30/*.gz`."
    )
    since: str | None = Field(
        None, max_length=60, description="Start: 2026-11-30T08:00:00Z, 2026-11-30T08:00 (asker's zone), 08:00, -2h."
    )
    until: str | None = Field(None, max_length=60, description="End, in the same forms. Default: now.")
    window_minutes: float | None = Field(
        None, gt=0, le=60 * 24 * 31, description="Length of the window where since or until is not given. Default: 60."
    )
    compare: bool = Field(True, description="Count the equally long time before too, and say what is new, gone or shifted.")
    limit: int = Field(15, ge=1, le=50, description="At most this many templates, and this many lines.")

    @field_validator("level", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        name = value.strip().upper() if isinstance(value, str) else value
        return {"WARNING": "WARN", "CRITICAL": "FATAL", "ERR": "ERROR"}.get(name, name) if isinstance(name, str) else name

    @field_validator("regex")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                re.compile(value or "")
            except (re.error, OverflowError, RecursionError) as error:
                raise ValueError(f"does not compile ({error}); use text for a literal search") from error
        return value


async def run(arguments: QueryLogs, deps: ToolDeps, context: CallContext) -> ToolResult:
    if deps.logs is None:
        raise ToolFailed("no log folder is configured")
    window = _window(arguments, context)
    found = await deps.logs.find(arguments.glob)
    if not found.files:
        raise ToolFailed(_no_files(arguments, found))
    report = await deps.logs.scan(_request(arguments, window, found))
    answer = Answer(arguments.model_dump(exclude_none=True), window, arguments.compare, report, found)
    if not report.matched and not report.matched_before:
        if report.incomplete:
            raise ToolFailed(f"nothing was found, but not everything was read: {report.incomplete}")
        return nothing_found(answer.nothing(), scope=answer.window_scope(), **answer.details())
    return ToolResult(
        payload=answer.payload(),
        evidence_status=EvidenceStatus.SUPPORTED,
        evidence_refs=answer.refs(),
        retrieval_details=answer.details(),
        truncated=report.incomplete is not None,
    )


def compiled(arguments: QueryLogs, context: CallContext) -> str:
    window = _window(arguments, context)
    asked = arguments.model_dump(exclude={"since", "until", "window_minutes"})
    return f"{asked} {window.start:%Y-%m-%dT%H:%M} {window.end:%Y-%m-%dT%H:%M}"


def unavailable(deps: ToolDeps) -> str | None:
    return "no log folder is configured (PROOFTHREAD_LOGS_ROOTS)" if deps.logs is None else None


def _window(arguments: QueryLogs, context: CallContext) -> Window:
    window = window_of(arguments.since, arguments.until, arguments.window_minutes, context, DEFAULT_MINUTES)
    if window.start > context.now:
        raise ToolFailed(f"the window {window} lies in the future: now is {stamp(context.now)}")
    return window


def _request(arguments: QueryLogs, window: Window, found: Found) -> ScanRequest:
    return ScanRequest(
        files=tuple(found.files),
        since=window.start.timestamp(),
        until=window.end.timestamp(),
        before_from=(window.before.start if arguments.compare else window.start).timestamp(),
        service=arguments.service,
        level=arguments.level,
        text=arguments.text,
        regex=arguments.regex,
        limit=arguments.limit,
    )


def _no_files(arguments: QueryLogs, found: Found) -> str:
    asked = f" fits glob {arguments.glob!r}" if arguments.glob else " is in the configured folders"
    reasons = "; ".join(f"{name}: {reason}" for name, reason in found.skipped[:5])
    return f"no log file{asked}" + (f" ({reasons})" if reasons else "")


TOOL = ToolSpec(
    name="query_logs",
    description=(
        "Reads log files in a window. Answers with templates (kinds of line: count, count in the equally long time before, "
        "new/gone/shifted, first and last time, one verbatim line), the services that changed most, and verbatim lines. "
        "Start broad (no service, compare=true) to see what changed; then narrow by service, level or text."
    ),
    input_model=QueryLogs,
    run=run,
    evidence_level="direct",
    timeout_seconds=45.0,
    unavailable=unavailable,
    compiled=compiled,
)
