"""Questions to Prometheus and their answers as quotable lines. Numbers are worked out here, so that they can be quoted."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tools.clients.prometheus import BadQuery, NotServed, PrometheusClient, Sample
from tools.contracts import EvidenceRef, EvidenceStatus, ToolResult, nothing_found
from tools.errors import ToolFailed
from tools.metric_words import Words, fits_labels, named_metrics, queries, selector, settled_words, sorted_words
from tools.series import Summary, number, summarise, summary_text
from tools.window import Window, stamp

POINTS = 120
MAX_SERIES = 300
MAX_DISCOVERED = 2_000
MAX_NAMES = 200
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_SHOWN_POINTS = 60


@dataclass(frozen=True)
class Read:
    """What one range query gave, with the summary of each series, its baseline too where it was asked for."""

    query: str
    series: list[tuple[Sample, Summary | None, Summary | None]]
    warnings: tuple[str, ...] = ()


async def range_answer(
    client: PrometheusClient, asked: Sequence[str], window: Window, *, baseline: bool, limit: int
) -> ToolResult:
    """The series of all queries, those that changed most first."""
    reads = await asyncio.gather(*(_read(client, query, window, baseline) for query in asked))
    rows = [(read.query, *row) for read in reads for row in read.series]
    warnings = sorted({warning for read in reads for warning in read.warnings})
    scope = {"source": client.shown_url, **window.scope()}
    if not rows:
        return nothing_found(
            f"Query {_listed(asked)} returned no series from {window}.", scope=scope, **_noted(warnings)
        )
    rows.sort(key=lambda row: _interest(row[2], row[3]), reverse=True)
    kept = rows[:limit]
    return _supported(
        {
            "series": [_series_payload(query, sample, summary) for query, sample, summary, _ in kept],
            "queries": list(asked),
        },
        [
            EvidenceRef(
                raw_path=f"$.series[{index}]",
                text=_series_text(query, sample, summary, before),
                scope=_scope(sample.labels, query, scope),
            )
            for index, (query, sample, summary, before) in enumerate(kept)
        ],
        warnings,
        f"{len(rows) - limit} of {len(rows)} series are not shown; they changed less" if len(rows) > limit else "",
    )


async def instant_answer(client: PrometheusClient, query: str, at: datetime, *, limit: int) -> ToolResult:
    await _refuse_too_many(client, query, at, at)
    samples, warnings = await client.instant(query, at)
    scope = {"source": client.shown_url, "query": query, "at": stamp(at)}
    if not samples:
        return nothing_found(f"Query {query} returned nothing at {stamp(at)}.", scope=scope, **_noted(warnings))
    samples.sort(key=_last_value, reverse=True)
    kept = samples[:limit]
    return _supported(
        {"series": [{"labels": sample.labels, "value": _last(sample)} for sample in kept]},
        [
            EvidenceRef(
                raw_path=f"$.series[{index}]",
                text=f"{series_name(query, sample.labels)} value={_last(sample)} at={stamp(at)}",
                scope=_scope(sample.labels, query, scope),
            )
            for index, sample in enumerate(kept)
        ],
        warnings,
        f"{len(samples) - limit} of {len(samples)} series are not shown; their values are smaller"
        if len(samples) > limit
        else "",
    )


async def alerts_answer(client: PrometheusClient, words: Sequence[str], now: datetime, *, limit: int) -> ToolResult:
    """What is pending or firing at this moment; the API keeps no past."""
    try:
        found = await client.alerts()
    except NotServed:
        found = await _alerts_as_series(client, now)
    scope = {"source": client.shown_url}
    wanted = [alert for alert in found if _mentions(alert, words)]
    if not wanted:
        about = f" that mentions {' '.join(words)}" if words else ""
        others = f" {len(found)} others are." if found else ""
        return nothing_found(f"No alert{about} is pending or firing in Prometheus.{others}", scope=scope)
    wanted.sort(key=lambda alert: (alert.get("state") != "firing", str(alert.get("activeAt", ""))))
    kept = [_alert_fields(alert) for alert in wanted[:limit]]
    return _supported(
        {"alerts": kept},
        [
            EvidenceRef(raw_path=f"$.alerts[{index}]", text=line(fields), scope={**_alert_labels(alert), **scope})
            for index, (fields, alert) in enumerate(zip(kept, wanted, strict=False))
        ],
        (),
        f"{len(wanted) - limit} of {len(wanted)} alerts are not shown" if len(wanted) > limit else "",
    )


async def metrics_answer(client: PrometheusClient, match: str, window: Window, *, limit: int) -> ToolResult:
    """Which metrics there are for these words, with the labels to ask by."""
    scope = {"source": client.shown_url, **window.scope()}
    _, found = await discovered(client, match, window)
    if not found:
        about = f"for {match!r}" if match.strip() else "at all"
        return nothing_found(f"Prometheus has no series {about} from {window}.", scope=scope)
    by_name: dict[str, list[dict[str, str]]] = {}
    for labels in found:
        by_name.setdefault(labels.get("__name__", ""), []).append(labels)
    rows = [_metric_fields(name, series) for name, series in sorted(by_name.items())]
    return _supported(
        {"metrics": rows[:limit]},
        [EvidenceRef(raw_path=f"$.metrics[{i}]", text=line(row), scope=scope) for i, row in enumerate(rows[:limit])],
        (),
        f"{len(rows) - limit} of {len(rows)} metrics are not shown; narrow match" if len(rows) > limit else "",
    )


async def label_answer(client: PrometheusClient, label: str, match: str, window: Window, *, limit: int) -> ToolResult:
    """The values of one label."""
    values = await client.label_values(label, window.start, window.end)
    words = match.lower().split()
    wanted = [value for value in values if not words or any(word in value.lower() for word in words)]
    scope = {"source": client.shown_url, "label": label, **window.scope()}
    if not wanted:
        known = ", ".join((await client.label_names(window.start, window.end))[:40])
        return nothing_found(f"Label {label} has no value from {window}. Labels: {known}.", scope=scope)
    kept = wanted[:limit]
    return _supported(
        {"label": label, "values": kept},
        [EvidenceRef(raw_path="$.values", text=f"{label}: {', '.join(kept)}", scope=scope)],
        (),
        f"{len(wanted) - limit} of {len(wanted)} values are not shown" if len(wanted) > limit else "",
    )


async def queries_for(client: PrometheusClient, match: str, window: Window) -> list[str]:
    """The queries that read what the words name. Empty where nothing fits."""
    words, found = await discovered(client, match, window)
    return queries(found, words)


async def discovered(client: PrometheusClient, match: str, window: Window) -> tuple[Words, list[dict[str, str]]]:
    every = await client.label_values("__name__", window.start, window.end)
    names = [name for name in every if not name.startswith("ALERTS")]  # Prometheus's own record of its alerts
    words = sorted_words(match, names)
    found = await _named_series(client, words, names, window)
    settled = settled_words(words, found)
    if words.metrics and not settled.metrics:
        found = await _named_series(client, settled, names, window)
    wanted = set(named_metrics(settled, names))
    return settled, [labels for labels in found if labels.get("__name__") in wanted and fits_labels(labels, settled)]


async def _named_series(
    client: PrometheusClient, words: Words, names: Sequence[str], window: Window
) -> list[dict[str, str]]:
    wanted = named_metrics(words, names)[:MAX_NAMES]
    if not wanted:
        return []
    return (await client.series([selector(wanted)], window.start, window.end, MAX_DISCOVERED))[:MAX_DISCOVERED]


def step_seconds(window: Window) -> int:
    """A round step that gives about 120 points, a second at least."""
    wanted = window.seconds / POINTS
    return next((step for step in _STEPS if step >= wanted), math.ceil(wanted / 86400) * 86400)


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


# ---------------------------------------------------------------- range


async def _read(client: PrometheusClient, query: str, window: Window, baseline: bool) -> Read:
    await _refuse_too_many(client, query, window.start, window.end)
    step = step_seconds(window)
    aligned = _aligned(window, step)
    samples, warnings = await client.range(query, aligned.start, aligned.end, step)
    before: dict[tuple[tuple[str, str], ...], Summary | None] = {}
    if baseline and samples:
        old, more = await client.range(query, aligned.before.start, aligned.before.end, step)
        before = {_key(sample.labels): summarise(sample.points) for sample in old}
        warnings = (*warnings, *more)
    rows = [(sample, summarise(sample.points), before.get(_key(sample.labels))) for sample in samples if sample.points]
    return Read(query, rows, warnings)


async def _refuse_too_many(client: PrometheusClient, query: str, start: datetime, end: datetime) -> None:
    """Asks for the number of series first: an answer of a million would cost Prometheus and us the same."""
    quarter = max((end - start).total_seconds() / 4, 1.0)
    try:
        counts, _ = await client.range(f"count({query})", start, end, quarter)
    except BadQuery:
        return  # a scalar cannot be counted; a real fault is told by the query itself
    most = max((value for sample in counts for _, value in sample.points), default=0)
    if most > MAX_SERIES:
        raise ToolFailed(
            f"{query} matches {number(most)} series, more than {MAX_SERIES}: add label matchers, or aggregate, for instance "
            f"sum by (service) ({query}) or topk(10, {query})"
        )


def _aligned(window: Window, step: int) -> Window:
    """Starts on a multiple of the step, so that points stand at round times whoever asks."""
    start = math.floor(window.start.timestamp() / step) * step
    length = math.floor((window.end.timestamp() - start) / step) * step
    begin = datetime.fromtimestamp(start, UTC)
    return Window(begin, begin + timedelta(seconds=length))


def _interest(summary: Summary | None, before: Summary | None) -> float:
    """How far the series moved, within the window or against the one before, in factors."""
    if summary is None:
        return -1.0
    factors = [_factor(summary.mean, before.mean)] if before else []
    if summary.change:
        factors.append(_factor(summary.change.after, summary.change.before))
    return max(factors, default=0.0)


def _factor(value: float, base: float) -> float:
    floor = max(abs(value), abs(base)) / 1000 or 1.0
    return abs(math.log(max(abs(value), floor) / max(abs(base), floor)))


def _series_text(query: str, sample: Sample, summary: Summary | None, before: Summary | None) -> str:
    name = series_name(query, sample.labels)
    if summary is None:
        return f"{name} no finite number in {len(sample.points)} points"
    return summary_text(name, summary, before)


def _series_payload(query: str, sample: Sample, summary: Summary | None) -> dict[str, Any]:
    """Points thinned to 60: enough to draw, the summary has the extremes."""
    every = max(1, math.ceil(len(sample.points) / _SHOWN_POINTS))
    shown = [[at, number(value)] for at, value in sample.points[::every]]
    change = summary.change if summary else None
    return {"query": query, "labels": sample.labels, "points": shown, "change_at": change.at if change else None}


def _key(labels: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))


# ---------------------------------------------------------------- instant, alerts, names


def _last(sample: Sample) -> str:
    return number(sample.points[-1][1]) if sample.points else "none"


def _last_value(sample: Sample) -> float:
    value = sample.points[-1][1] if sample.points else -math.inf
    return -math.inf if math.isnan(value) else value


async def _alerts_as_series(client: PrometheusClient, now: datetime) -> list[dict[str, Any]]:
    """Where /alerts is not served (a bare query front end), the ALERTS series says the same without times."""
    samples, _ = await client.instant("ALERTS", now)
    return [
        {
            "labels": {k: v for k, v in s.labels.items() if k not in ("__name__", "alertstate")},
            "state": s.labels.get("alertstate"),
        }
        for s in samples
    ]


def _alert_labels(alert: dict[str, Any]) -> dict[str, str]:
    return {str(key): str(value) for key, value in (alert.get("labels") or {}).items()}


def _alert_fields(alert: dict[str, Any]) -> dict[str, Any]:
    labels = _alert_labels(alert)
    fields = {"alertname": labels.pop("alertname", ""), "state": alert.get("state", ""), **labels}
    fields["activeAt"] = _short_stamp(str(alert.get("activeAt") or ""))
    fields["value"] = _alert_value(alert.get("value"))
    annotations = alert.get("annotations") or {}
    fields["summary"] = str(annotations.get("summary") or annotations.get("description") or "")[:300]
    return {key: value for key, value in fields.items() if value}


def _alert_value(value: Any) -> str:
    try:
        return number(float(value))
    except (TypeError, ValueError):
        return ""


def _short_stamp(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return stamp(moment) if moment.tzinfo else text


def _mentions(alert: dict[str, Any], words: Sequence[str]) -> bool:
    said = json.dumps(_alert_fields(alert), ensure_ascii=False).lower()
    return not words or any(word.lower() in said for word in words)


def _metric_fields(name: str, series: list[dict[str, str]]) -> dict[str, Any]:
    values: dict[str, set[str]] = {}
    for labels in series:
        for label, value in labels.items():
            if label != "__name__":
                values.setdefault(label, set()).add(value)
    shown = {label: ",".join(sorted(found)[:12]) + (",…" if len(found) > 12 else "") for label, found in values.items()}
    return {"metric": name, "series": len(series), **shown}


# ---------------------------------------------------------------- common


def _supported(
    payload: dict[str, Any], refs: list[EvidenceRef], warnings: Iterable[str], truncation: str
) -> ToolResult:
    details = _noted(warnings)
    if truncation:
        details["truncation"] = truncation
    return ToolResult(
        payload=payload,
        evidence_status=EvidenceStatus.SUPPORTED,
        evidence_refs=tuple(refs),
        retrieval_details=details,
        truncated=bool(details),
    )


def _noted(warnings: Iterable[str]) -> dict[str, Any]:
    said = list(warnings)
    return {"warnings": said} if said else {}


def _scope(labels: dict[str, str], query: str, scope: dict[str, str]) -> dict[str, str]:
    named = {("metric" if key == "__name__" else key): value for key, value in labels.items()}
    return {**named, "query": query, **scope}


def _listed(asked: Sequence[str]) -> str:
    return "; ".join(asked)


def _plain(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if not any(c.isspace() or c in '"=' for c in text) else json.dumps(text, ensure_ascii=False)
