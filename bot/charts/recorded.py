"""Series and changes that a run's look-ups recorded, read back for its chart."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from agents.contracts import Alert
from storage.trace import StoredInvocation
from tools.metric_text import series_name

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]{3,}")
_NO_WORDS = frozenset({"total", "seconds", "bytes", "ratio", "count", "sum", "bucket", "alert", "high", "low", "too", "the"})
# A series is the one that fired where this much speaks for it: a claim that quotes it, words, labels.
_LEAST = 3
_QUOTED, _MOST_WORDS = 2, 2


@dataclass(frozen=True)
class Recorded:
    """One series as a query gave it. `is_quoted`: a claim of the report rests on it."""

    query: str
    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]
    is_quoted: bool

    @cached_property
    def values(self) -> list[float]:
        return [value for _, value in self.points if math.isfinite(value)]

    @property
    def metric(self) -> str:
        return self.labels.get("__name__") or self.query.partition("{")[0].strip()

    @property
    def name(self) -> str:
        return series_name(self.query, dict(self.labels))


@dataclass(frozen=True)
class RecordedChange:
    """`key` is (call id, raw_path), `at` Unix seconds."""

    key: tuple[str, str]
    at: float
    service: str
    text: str


def series_of(calls: Iterable[StoredInvocation], quoted: frozenset[tuple[str, str]]) -> list[Recorded]:
    """Of range look-ups that answered."""
    found = []
    for call, index, row in _rows(calls, "query_metrics", "series"):
        labels = {str(name): str(value) for name, value in (row.get("labels") or {}).items()}
        points = tuple(_points(row.get("points")))
        if len(points) > 1:
            is_quoted = (str(call.id), f"$.series[{index}]") in quoted
            found.append(Recorded(str(row.get("query") or ""), labels, points, is_quoted))
    return found


def changes_of(calls: Iterable[StoredInvocation]) -> list[RecordedChange]:
    found = []
    for call, index, row in _rows(calls, "query_changes", "changes"):
        at = _seconds(str(row.get("time") or ""))
        if at is not None:
            told = [str(row[name]) for name in ("service", "kind", "version", "summary") if row.get(name)]
            text = " ".join(told) or json.dumps(row, ensure_ascii=False)
            found.append(RecordedChange((str(call.id), f"$.changes[{index}]"), at, str(row.get("service") or ""), text))
    return found


def fired_series(recorded: Sequence[Recorded], alert: Alert) -> Recorded | None:
    """The series that an alert without a known rule most likely speaks of; None where too little says so."""
    said = _words(" ".join([alert.alert_name or "", *alert.annotations.values(), *alert.labels.values()]))
    ranked = [(_weight(one, alert, said), one) for one in recorded if one.values]
    best = max(ranked, key=lambda pair: pair[0], default=None)
    return best[1] if best is not None and best[0] >= _LEAST else None


def agreement(labels: Mapping[str, str], wanted: Mapping[str, str]) -> int:
    """How many labels are the same; -1 where one is not."""
    shared = [name for name in labels if name in wanted]
    return len(shared) if all(labels[name] == wanted[name] for name in shared) else -1


def _weight(one: Recorded, alert: Alert, said: frozenset[str]) -> int:
    same = agreement(one.labels, alert.labels)
    if same < 0:
        return -1
    shared = len(_words(one.metric) & said)
    return min(same, 2) + min(shared, _MOST_WORDS) + (_QUOTED if one.is_quoted else 0) if shared or one.is_quoted else 0


def _words(text: str) -> frozenset[str]:
    """Of `CheckoutLatencyHigh` and of `http_request_latency_seconds` alike."""
    return frozenset(word.lower() for word in _WORD.findall(text)) - _NO_WORDS


def _rows(calls: Iterable[StoredInvocation], tool: str, key: str) -> Iterator[tuple[StoredInvocation, int, Mapping[str, Any]]]:
    for call in calls:
        rows = call.payload.get(key) if call.tool_name == tool and isinstance(call.payload, Mapping) else None
        for index, row in enumerate(rows if isinstance(rows, list) else []):
            if isinstance(row, Mapping):
                yield call, index, row


def _points(rows: object) -> Iterator[tuple[float, float]]:
    for row in rows if isinstance(rows, list) else []:
        try:
            at, value = row
            yield float(at), float(value)
        except (TypeError, ValueError):
            continue


def _seconds(stamp: str) -> float | None:
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo is not None else None
