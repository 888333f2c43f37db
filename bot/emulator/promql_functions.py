"""Functions over the samples of one window, with the extrapolation of Prometheus' rate()."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """The samples of one series in (start, end]."""

    times: Sequence[float]
    values: Sequence[float]
    start: float
    end: float


WindowFunction = Callable[[Window], float | None]


def rate(window: Window) -> float | None:
    grown = _extrapolated(window, counter=True)
    return None if grown is None else grown / (window.end - window.start)


def increase(window: Window) -> float | None:
    return _extrapolated(window, counter=True)


def delta(window: Window) -> float | None:
    return _extrapolated(window, counter=False)


def irate(window: Window) -> float | None:
    grown = _last_step(window)
    if grown is None:
        return None
    step, seconds = grown
    return (window.values[-1] if step < 0 else step) / seconds


def idelta(window: Window) -> float | None:
    grown = _last_step(window)
    return None if grown is None else grown[0]


def deriv(window: Window) -> float | None:
    """Slope of the least-squares line, a second."""
    count = len(window.times)
    if count < 2:
        return None
    mean_time, mean_value = sum(window.times) / count, sum(window.values) / count
    spread = sum((at - mean_time) ** 2 for at in window.times)
    pairs = zip(window.times, window.values, strict=True)
    return sum((at - mean_time) * (value - mean_value) for at, value in pairs) / spread if spread else None


def changes(window: Window) -> float | None:
    pairs = zip(window.values, window.values[1:], strict=False)
    return float(sum(before != after for before, after in pairs))


def resets(window: Window) -> float | None:
    return float(sum(after < before for before, after in zip(window.values, window.values[1:], strict=False)))


def quantile(share: float, values: Sequence[float]) -> float:
    ordered = sorted(values)
    rank = share * (len(ordered) - 1)
    low = max(0, min(len(ordered) - 1, math.floor(rank)))
    high = min(len(ordered) - 1, low + 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (rank - low)


def deviation(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


def histogram_quantile(share: float, buckets: list[tuple[float, float]]) -> float:
    """`buckets` are (upper bound, cumulative count), sorted, the last one +Inf."""
    if not buckets or not math.isinf(buckets[-1][0]) or buckets[-1][1] == 0:
        return math.nan
    rank = share * buckets[-1][1]
    at = next(index for index, (_, count) in enumerate(buckets) if count >= rank)
    if at == len(buckets) - 1:
        return buckets[-2][0] if len(buckets) > 1 else math.nan
    low, below = buckets[at - 1] if at else (min(0.0, buckets[0][0]), 0.0)
    upper, count = buckets[at]
    return low + (upper - low) * (rank - below) / (count - below) if count > below else upper


WINDOW_FUNCTIONS: dict[str, WindowFunction] = {
    "rate": rate,
    "increase": increase,
    "delta": delta,
    "irate": irate,
    "idelta": idelta,
    "deriv": deriv,
    "changes": changes,
    "resets": resets,
    "avg_over_time": lambda window: sum(window.values) / len(window.values),
    "max_over_time": lambda window: max(window.values),
    "min_over_time": lambda window: min(window.values),
    "sum_over_time": lambda window: sum(window.values),
    "count_over_time": lambda window: float(len(window.values)),
    "last_over_time": lambda window: window.values[-1],
    "stddev_over_time": lambda window: deviation(window.values),
    "present_over_time": lambda _: 1.0,
}
KEEPS_NAME = frozenset({"last_over_time"})

VALUE_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "abs": abs,
    "ceil": lambda value: float(math.ceil(value)),
    "floor": lambda value: float(math.floor(value)),
    "exp": math.exp,
    "sqrt": lambda value: math.sqrt(value) if value >= 0 else math.nan,
    "ln": lambda value: math.log(value) if value > 0 else math.nan,
}


def _last_step(window: Window) -> tuple[float, float] | None:
    if len(window.times) < 2:
        return None
    return window.values[-1] - window.values[-2], window.times[-1] - window.times[-2]


def _extrapolated(window: Window, *, counter: bool) -> float | None:
    """What the series grew by over the whole window, resets added back, stretched to the window's edges."""
    if len(window.times) < 2:
        return None
    grown = window.values[-1] - window.values[0]
    if counter:
        steps = zip(window.values, window.values[1:], strict=False)
        grown += sum(before for before, after in steps if after < before)
    sampled = window.times[-1] - window.times[0]
    apart = sampled / (len(window.times) - 1)
    before = _edge(window.times[0] - window.start, apart)
    if counter and grown > 0 and window.values[0] >= 0:
        before = min(before, sampled * window.values[0] / grown)
    after = _edge(window.end - window.times[-1], apart)
    return grown * (sampled + before + after) / sampled


def _edge(gap: float, apart: float) -> float:
    """A gap wider than the usual spacing means that the series begins or ends there."""
    return gap if gap < apart * 1.1 else apart / 2
