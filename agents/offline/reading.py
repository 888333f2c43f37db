"""The answers of the built-in tools, read back into values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from agents.llm.base import CitedRef, Exchange
from agents.offline.evidence import (
    Alert,
    Change,
    Chunk,
    Evidence,
    LogKind,
    Row,
    Series,
    ServiceLines,
    number_of,
)
from tools.contracts import NO_EVIDENCE_PATH, EvidenceStatus

_PAIR = re.compile(r"(?<!\S)([A-Za-z_]\w*)=(\"(?:[^\"\\]|\\.)*\"|\S+)")
_NAME = re.compile(r"^([A-Za-z_:][\w:]*)(\{[^}]*\})?")
_CALLED = re.compile(r"^([a-z_]+)\(([A-Za-z_:][\w:]*)")
_CODE_LABELS = ("code", "status", "status_code")
_LABEL = re.compile(r"(\w+)=\"([^\"]*)\"")
_ALIKE = 0.6
_TEMPLATE = re.compile(r"\$\.templates\[(\d+)\]")
_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})")
SERVICE_LABELS = ("service", "app", "job", "workload", "deployment", "container")


def collect(exchanges: Sequence[Exchange]) -> Evidence:
    """Repeated answers (deduped) give nothing new; a ref that two calls returned counts once.

    Logs that were read without comparison only tell which kinds of line are older than the trouble.
    """
    answered = [one for one in exchanges if one.evidence_status is EvidenceStatus.SUPPORTED]
    compared = [one for one in answered if one.call.name != "query_logs" or not is_history(one)]
    refs = list(_refs(compared))
    older = [kind for one in answered if is_history(one) for kind in _kinds(one)]
    kinds = [kind for one in compared for kind in _kinds(one)]
    return Evidence(
        kinds=_best_kinds([_as_known(kind) if kind.is_new and _is_among(kind, older) else kind for kind in kinds]),
        sums=tuple(sums for one in compared for sums in _sums(one)),
        lines=tuple(cited for cited in refs if cited.ref.raw_path.startswith("$.logs[")),
        series=_distinct_series([one for cited in refs if (one := _series(cited))]),
        alerts=tuple(alert for cited in refs if (alert := _alert(cited))),
        changes=tuple(change for cited in refs if (change := _change(cited))),
        chunks=tuple(chunk for cited in refs if (chunk := _chunk(cited))),
        rows=tuple(Row(cited, cited.ref.text) for cited in refs if cited.tool_name == "query_order"),
    )


def is_history(exchange: Exchange) -> bool:
    """A look at older logs alone: which kinds of line were there before."""
    arguments = exchange.call.arguments or {}
    return exchange.call.name == "query_logs" and arguments.get("compare") is False and "text" not in arguments


def _is_among(kind: LogKind, older: Sequence[LogKind]) -> bool:
    mine = kind.words
    same = (other.words for other in older if other.service == kind.service and other.level == kind.level)
    return any(len(mine & words) >= _ALIKE * len(mine | words) for words in same)


def _as_known(kind: LogKind) -> LogKind:
    """Not new after all: it was there before the time before."""
    return replace(kind, before=max(kind.before or 0, 1), score=0.0)


def _refs(exchanges: Sequence[Exchange]) -> Iterator[CitedRef]:
    seen: set[tuple[str, str]] = set()
    for exchange in exchanges:
        for cited in exchange.refs:
            key = (cited.tool_name, cited.ref.text)
            if cited.ref.raw_path != NO_EVIDENCE_PATH and key not in seen:
                seen.add(key)
                yield cited


def pairs_of(text: str) -> dict[str, str]:
    return {key: _unquoted(value) for key, value in _PAIR.findall(text)}


def moment_in(text: str) -> datetime | None:
    found = _STAMP.search(text)
    return _moment(found.group(0)) if found else None


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        return value.strip('"')


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if text else None
    except ValueError:
        return None


def _scope_service(cited: CitedRef) -> str:
    return next((cited.ref.scope[label] for label in SERVICE_LABELS if cited.ref.scope.get(label)), "")


def _kinds(exchange: Exchange) -> Iterator[LogKind]:
    rows = exchange.payload.get("templates")
    for cited in exchange.refs:
        found = _TEMPLATE.fullmatch(cited.ref.raw_path)
        if found:
            row = rows[int(found[1])] if isinstance(rows, list) and int(found[1]) < len(rows) else {}
            yield _kind(cited, row.get("score") if isinstance(row, dict) else None)


def _kind(cited: CitedRef, score: Any) -> LogKind:
    head, _, line = cited.ref.text.partition(" line=")
    pairs = pairs_of(head)
    count, before = number_of(pairs.get("count")), number_of(pairs.get("before"))
    return LogKind(
        cited=cited,
        service=pairs.get("service") or _scope_service(cited),
        level=pairs.get("level", ""),
        count=int(count or 0),
        before=None if before is None else int(before),
        first=_moment(pairs.get("first")),
        line=line[1:-1] if line.startswith('"') and line.endswith('"') else line.removeprefix('"'),
        score=float(score) if isinstance(score, int | float) else None,
    )


def _sums(exchange: Exchange) -> Iterator[ServiceLines]:
    scale = _scale(exchange.payload)
    for cited in exchange.refs:
        pairs = pairs_of(cited.ref.text) if cited.ref.raw_path.startswith("$.services[") else {}
        numbers = [number_of(pairs.get(name)) for name in ("lines", "before", "errors", "errors_before")]
        lines, before, errors, errors_before = numbers
        if lines is not None and before is not None and errors is not None and errors_before is not None:
            service = pairs.get("service", "")
            yield ServiceLines(cited, service, int(lines), before * scale, int(errors), errors_before * scale)


def _scale(payload: dict[str, Any]) -> float:
    """How much longer the window is than the covered part of the time before."""
    window, before = payload.get("window"), payload.get("before_window")
    if not isinstance(window, dict) or not isinstance(before, dict):
        return 1.0
    start, end = _moment(window.get("window_from")), _moment(window.get("window_to"))
    covered = _moment(before.get("covered_from") or before.get("window_from"))
    if not start or not end or not covered or covered >= start:
        return 1.0
    return min(max((end - start) / (start - covered), 0.1), 10.0)


def _best_kinds(kinds: list[LogKind]) -> tuple[LogKind, ...]:
    """The same template of several calls stands once: where it is new, by its first appearance, else by the largest count."""
    best: dict[tuple[str, str, str], LogKind] = {}
    for kind in kinds:
        earlier = best.get(kind.form)
        if earlier is None or _tells_more(kind, earlier):
            best[kind.form] = kind
    return tuple(best.values())


def _tells_more(kind: LogKind, earlier: LogKind) -> bool:
    if kind.is_new and earlier.is_new and kind.first and earlier.first:
        return kind.first < earlier.first
    return kind.count + (kind.before or 0) > earlier.count + (earlier.before or 0)


def _series(cited: CitedRef) -> Series | None:
    if not cited.ref.raw_path.startswith("$.series["):
        return None
    text = cited.ref.text
    labels = dict(_LABEL.findall(text.partition(" from=")[0]))
    pairs = pairs_of(text)
    service = next((labels[label] for label in SERVICE_LABELS if labels.get(label)), "") or _scope_service(cited)
    return Series(cited, _series_name(text, labels), service, pairs, _moment(pairs.get("change_at")))


def _series_name(text: str, labels: dict[str, str]) -> str:
    """`http_requests_total`; of an expression `rate http_requests_total`; with the status code that it counts."""
    called = _CALLED.match(text)
    named = _NAME.match(text)
    name = f"{called[1]} {called[2]}" if called else named[1] if named else ""
    code = next((f" {label}={labels[label]}" for label in _CODE_LABELS if labels.get(label)), "")
    return name + code


def _distinct_series(series: list[Series]) -> tuple[Series, ...]:
    """One of each, by the first look at it: a later one over a wider window says the same less sharply."""
    first: dict[str, Series] = {}
    for one in series:
        first.setdefault(one.cited.ref.text.partition(" from=")[0], one)
    return tuple(first.values())


def _alert(cited: CitedRef) -> Alert | None:
    if not cited.ref.raw_path.startswith("$.alerts["):
        return None
    pairs = pairs_of(cited.ref.text) | dict(_LABEL.findall(cited.ref.text))
    name = pairs.get("alertname") or pairs.get("name") or cited.ref.scope.get("alertname", "")
    service = next((pairs[label] for label in SERVICE_LABELS if pairs.get(label)), "") or _scope_service(cited)
    return Alert(cited, name, service, pairs.get("state", ""), _moment(pairs.get("activeAt")) or moment_in(cited.ref.text))


def _change(cited: CitedRef) -> Change | None:
    if cited.tool_name != "query_changes":
        return None
    pairs: dict[str, Any] = pairs_of(cited.ref.text)
    text = str(pairs.get("summary") or cited.ref.text)
    return Change(cited, moment_in(cited.ref.text), str(pairs.get("service") or _scope_service(cited)), text)


def _chunk(cited: CitedRef) -> Chunk | None:
    if cited.tool_name != "lookup_knowledge":
        return None
    scope = cited.ref.scope
    return Chunk(cited, scope.get("domain", ""), scope.get("title", ""), cited.ref.text)
