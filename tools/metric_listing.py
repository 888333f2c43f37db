"""Values at a moment, and which metrics and labels there are."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from tools.clients.prometheus import PrometheusClient, Sample
from tools.contracts import EvidenceRef, ToolResult, nothing_found
from tools.metric_search import discovered, refuse_too_many
from tools.metric_text import line, noted, series_name, series_scope, supported
from tools.series import number
from tools.window import Window, stamp


async def instant_answer(client: PrometheusClient, query: str, at: datetime, *, limit: int) -> ToolResult:
    await refuse_too_many(client, query, at, at)
    samples, warnings = await client.instant(query, at)
    scope = {"source": client.shown_url, "query": query, "at": stamp(at)}
    if not samples:
        return nothing_found(f"Query {query} returned nothing at {stamp(at)}.", scope=scope, **noted(warnings))
    samples.sort(key=_last_value, reverse=True)
    kept = samples[:limit]
    return supported(
        {"series": [{"labels": sample.labels, "value": _last(sample)} for sample in kept]},
        [
            EvidenceRef(
                raw_path=f"$.series[{index}]",
                text=f"{series_name(query, sample.labels)} value={_last(sample)} at={stamp(at)}",
                scope=series_scope(sample.labels, query, scope),
            )
            for index, sample in enumerate(kept)
        ],
        warnings,
        f"{len(samples) - limit} of {len(samples)} series are not shown; their values are smaller"
        if len(samples) > limit
        else "",
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
    return supported(
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
    return supported(
        {"label": label, "values": kept},
        [EvidenceRef(raw_path="$.values", text=f"{label}: {', '.join(kept)}", scope=scope)],
        (),
        f"{len(wanted) - limit} of {len(wanted)} values are not shown" if len(wanted) > limit else "",
    )


def _last(sample: Sample) -> str:
    return number(sample.points[-1][1]) if sample.points else "none"


def _last_value(sample: Sample) -> float:
    value = sample.points[-1][1] if sample.points else -math.inf
    return -math.inf if math.isnan(value) else value


def _metric_fields(name: str, series: list[dict[str, str]]) -> dict[str, Any]:
    values: dict[str, set[str]] = {}
    for labels in series:
        for label, value in labels.items():
            if label != "__name__":
                values.setdefault(label, set()).add(value)
    shown = {label: ",".join(sorted(found)[:12]) + (",…" if len(found) > 12 else "") for label, found in values.items()}
    return {"metric": name, "series": len(series), **shown}
