"""Series over a window, each summed up in one line. Numbers are worked out here, so that they can be quoted."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tools.clients.prometheus import PrometheusClient, Sample
from tools.contracts import EvidenceRef, ToolResult, nothing_found
from tools.metric_search import refuse_too_many
from tools.metric_text import noted, series_name, series_scope, supported
from tools.series import Summary, number, summarise, summary_text
from tools.window import Window

POINTS = 120
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
            f"Query {'; '.join(asked)} returned no series from {window}.", scope=scope, **noted(warnings)
        )
    rows.sort(key=lambda row: _interest(row[2], row[3]), reverse=True)
    kept = rows[:limit]
    return supported(
        {
            "series": [_series_payload(query, sample, summary) for query, sample, summary, _ in kept],
            "queries": list(asked),
        },
        [
            EvidenceRef(
                raw_path=f"$.series[{index}]",
                text=_series_text(query, sample, summary, before),
                scope=series_scope(sample.labels, query, scope),
            )
            for index, (query, sample, summary, before) in enumerate(kept)
        ],
        warnings,
        f"{len(rows) - limit} of {len(rows)} series are not shown; they changed less" if len(rows) > limit else "",
    )


def step_seconds(window: Window) -> int:
    """A round step that gives about 120 points, a second at least."""
    wanted = window.seconds / POINTS
    return next((step for step in _STEPS if step >= wanted), math.ceil(wanted / 86400) * 86400)


async def _read(client: PrometheusClient, query: str, window: Window, baseline: bool) -> Read:
    await refuse_too_many(client, query, window.start, window.end)
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
