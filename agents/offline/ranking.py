"""How surprising each piece of evidence is, on one scale (1 = worth a look), and which services stand behind it.

The best piece of a service decides: scores are never summed, because a busy service would win by its volume. Weights as
measured on recorded faults: new 1.0, gone 1.0, shifted 0.25, errors × 1.6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agents.llm.base import CitedRef
from agents.offline.evidence import Evidence, LogKind, Series, ServiceLines

NEW, GONE, SHIFTED, ERROR = 1.0, 1.0, 0.25, 1.6
WORTH_A_CLAIM = 0.5
_LOG_SCALE = 8.0
_METRIC_SCALE = 12.0
_ENOUGH_SERVICES = 3
_SATURATING = ("cpu", "mem", "heap", "disk", "connection", "pool", "queue", "lag", "error", "fail")
_SHARES = ("cpu", "mem", "heap", "disk", "usage")
_NOISY = ("latency", "duration", "p90", "p95", "p99", "seconds")


@dataclass(frozen=True)
class Ranked:
    service: str
    score: float
    cited: CitedRef


def surprise(count: float, before: float) -> float:
    """The likelihood ratio (G) of a Poisson count where `before` was to be expected (half a line where it was none)."""
    expected = max(before, 0.5)
    return 2 * ((count * math.log(count / expected) if count else 0.0) - (count - expected))


def traffic(kinds: Sequence[LogKind]) -> float:
    """How much the ordinary lines grew as a whole: what a single one would grow by if only the traffic had changed."""
    ordinary = [kind for kind in kinds if kind.count and kind.before and not kind.is_error]
    if len({kind.service for kind in ordinary}) < _ENOUGH_SERVICES:
        return 1.0
    return sum(kind.count for kind in ordinary) / sum(kind.before or 0 for kind in ordinary)


def kind_score(kind: LogKind, grown: float = 1.0) -> float:
    """The tool's own score where it gave one. `grown` is the traffic's growth, which may explain a shift away."""
    if kind.before is None:
        return 0.0
    weight = NEW if kind.is_new else GONE if kind.count == 0 else SHIFTED
    own = surprise(kind.count, kind.before) * weight * (ERROR if kind.is_error else 1.0)
    score = own if kind.score is None else kind.score
    if kind.count and kind.before and not kind.is_error:
        score = min(score, surprise(kind.count, kind.before * grown) * SHIFTED)
    return score / _LOG_SCALE


def sums_score(sums: ServiceLines) -> float:
    """Errors that began or grew, or a service that fell silent. The volume of lines follows the traffic and says nothing
    by itself, and neither do errors of a service that was not called before."""
    if sums.lines == 0:
        return surprise(0, sums.before) * GONE / _LOG_SCALE
    weight = NEW if sums.errors_before == 0 and sums.before > 0 else SHIFTED
    return surprise(sums.errors, sums.errors_before) * ERROR * weight / _LOG_SCALE if sums.errors else 0.0


def series_score(series: Series) -> float:
    """How far the series moved. Latency quantiles on sparse traffic jump by themselves and count little; a share of CPU or
    memory counts by how near to full it is."""
    change = _moved(series)
    if change == 0.0:
        return 0.0
    name = series.name.lower()
    weight = 1.0 if any(word in name for word in _SATURATING) else 0.3 if any(word in name for word in _NOISY) else 0.5
    return min(change, 10 * _METRIC_SCALE) * weight * _fullness(series) / _METRIC_SCALE


def _fullness(series: Series) -> float:
    """0.1 to 2 for shares of a resource (1 at half full), 1 for everything else."""
    name, unit = series.name.lower(), series.written.get("unit")
    if not any(word in name for word in _SHARES) or unit not in ("%", "ratio"):
        return 1.0
    level = max(series.numbers.get(key, 0.0) for key in ("after", "mean", "baseline_mean"))
    share = level / 100 if unit == "%" else level
    return min(max(2 * share, 0.1), 2.0)


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
    grown = traffic(evidence.kinds)
    pieces = [Ranked(kind.service, kind_score(kind, grown), kind.cited) for kind in evidence.kinds]
    pieces += [Ranked(sums.service, sums_score(sums), sums.cited) for sums in evidence.sums]
    pieces += [Ranked(series.service, series_score(series), series.cited) for series in evidence.series]
    best: dict[str, Ranked] = {}
    for piece in pieces:
        earlier = best.get(piece.service)
        if piece.service and piece.score > (earlier.score if earlier else 0.0):
            best[piece.service] = piece
    return sorted(best.values(), key=lambda piece: -piece.score)


def telling_kinds(kinds: Sequence[LogKind]) -> list[LogKind]:
    """Those worth a claim, most surprising first."""
    grown = traffic(kinds)
    scored = [(kind_score(kind, grown), kind) for kind in kinds]
    return [kind for score, kind in sorted(scored, key=lambda one: -one[0]) if score >= WORTH_A_CLAIM]
