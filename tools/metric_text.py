"""How answers about metrics are written: names, lines, scopes, and the result around them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tools.contracts import EvidenceRef, EvidenceStatus, ToolResult


def series_name(query: str, labels: dict[str, str]) -> str:
    """`name{a="b"}`; where the series lost its name (a rate, a sum) the query stands for it."""
    inner = ",".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in labels.items() if key != "__name__"
    )
    if "__name__" in labels:
        return f"{labels['__name__']}{{{inner}}}"
    return f"{query} {{{inner}}}" if inner else query


def line(fields: dict[str, Any]) -> str:
    return " ".join(f"{key}={_plain(value)}" for key, value in fields.items() if value not in ("", None))


def supported(payload: dict[str, Any], refs: list[EvidenceRef], warnings: Iterable[str], truncation: str) -> ToolResult:
    details = noted(warnings)
    if truncation:
        details["truncation"] = truncation
    return ToolResult(
        payload=payload,
        evidence_status=EvidenceStatus.SUPPORTED,
        evidence_refs=tuple(refs),
        retrieval_details=details,
        truncated=bool(details),
    )


def noted(warnings: Iterable[str]) -> dict[str, Any]:
    said = list(warnings)
    return {"warnings": said} if said else {}


def series_scope(labels: dict[str, str], query: str, scope: dict[str, str]) -> dict[str, str]:
    named = {("metric" if key == "__name__" else key): value for key, value in labels.items()}
    return {**named, "query": query, **scope}


def _plain(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if not any(c.isspace() or c in '"=' for c in text) else json.dumps(text, ensure_ascii=False)
