"""Where a quote stands, in one line: the same words in the terminal and in Slack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from agents.contracts import VerifiedEvidence
from bot.answers.times import window_text

# Of a ref's scope, in this order, what tells a reader where a quote comes from.
_SOURCE_KEYS = ("document", "metric", "file", "source", "query")


def source_parts(evidence: VerifiedEvidence, zone: ZoneInfo) -> list[str]:
    """Tool, service, source and window, as far as they are known."""
    window = window_text(evidence.scope.get("window_from", ""), evidence.scope.get("window_to", ""), zone)
    return [*source_names(evidence), *([window] if window else [])]


def source_names(evidence: VerifiedEvidence) -> list[str]:
    """Tool, service and source, each name once."""
    scope = evidence.scope
    named = (scope[key] for key in _SOURCE_KEYS if scope.get(key) and "://" not in scope[key])
    return list(dict.fromkeys(part for part in (evidence.tool_name, scope.get("service"), next(named, "")) if part))


def where(evidence: VerifiedEvidence, call: str, zone: ZoneInfo) -> str:
    """The source, the number of the call (`call` is the word for it) and the span in the tool's answer."""
    span = f"{evidence.raw_path}[{evidence.span_start}:{evidence.span_end}]"
    return " · ".join([*source_parts(evidence, zone), f"{call} {evidence.source_invocation_id}", span])


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """`level="ERROR", limit=20`."""
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
