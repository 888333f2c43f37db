"""How surprising each piece of evidence is, on one scale (1 = worth a look), and which services stand behind it.

The best piece of a service decides: scores are never summed, because a busy service would win by its volume. Weights as
measured on recorded faults: new 1.0, gone 1.0, shifted 0.25, errors × 1.6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agents.llm.base import CitedRef
from agents.offline.evidence import Evidence, LogKind, Series

NEW, GONE, SHIFTED, ERROR = 1.0, 1.0, 0.25, 1.6
_LOG_SCALE = 8.0
_METRIC_SCALE = 12.0
_SATURATING = ("cpu", "mem", "heap", "disk", "connection", "pool", "queue", "lag", "error", "fail")
_NOISY = ("latency", "duration", "p90", "p95", "p99", "seconds")


@dataclass(frozen=True)
class Ranked:
    service: str
    score: float
    cited: CitedRef


def surprise(count: int, before: int) -> float:
    """The likelihood ratio (G) of two Poisson counts over windows of one length: 0 where both are the same."""
    together = count + before
    if together == 0:
        return 0.0
    half = together / 2
    return 2 * sum(n * math.log(n / half) for n in (count, before) if n)


def kind_score(kind: LogKind) -> float:
    if kind.before is None:
        return 0.0
    weight = NEW if kind.is_new else GONE if kind.count == 0 else SHIFTED
    return surprise(kind.count, kind.before) * weight * (ERROR if kind.is_error else 1.0) / _LOG_SCALE


def series_score(series: Series) -> float:
    """A robust distance from the baseline. Latency quantiles on sparse traffic jump by themselves and count little."""
    change = _moved(series)
    if change == 0.0:
        return 0.0
    name = series.name.lower()
    weight = 1.0 if any(word in name for word in _SATURATING) else 0.3 if any(word in name for word in _NOISY) else 0.5
    return min(change, 10 * _METRIC_SCALE) * weight / _METRIC_SCALE


def _moved(series: Series) -> float:
    """How far the level moved, in hundredths of the larger level, doubled where it multiplied."""
    numbers = series.numbers
    before, after = numbers.get("before"), numbers.get("after")
    if before is None or after is None or series.change_at is None:
        before, after = numbers.get("baseline_mean"), numbers.get("mean")
        if before is None or after is None:
            return 0.0
    larger = max(abs(before), abs(after))
    if larger == 0:
        return 0.0
    ratio = abs(math.log((abs(after) + 0.01 * larger) / (abs(before) + 0.01 * larger)))
    return 12 * ratio


def ranked_services(evidence: Evidence) -> list[Ranked]:
    """Best piece of each service, most surprising first."""
    pieces = [Ranked(kind.service, kind_score(kind), kind.cited) for kind in evidence.kinds]
    pieces += [Ranked(series.service, series_score(series), series.cited) for series in evidence.series]
    best: dict[str, Ranked] = {}
    for piece in pieces:
        earlier = best.get(piece.service)
        if piece.service and piece.score > (earlier.score if earlier else 0.0):
            best[piece.service] = piece
    return sorted(best.values(), key=lambda piece: -piece.score)


def telling_kinds(kinds: Sequence[LogKind]) -> list[LogKind]:
    return sorted((kind for kind in kinds if kind_score(kind) > 0), key=kind_score, reverse=True)
