"""A time series in one quotable line: the numbers a person would read off its graph, computed here and not by a model."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tools.window import stamp

Point = tuple[float, float]
"""(Unix seconds, value)"""

_MIN_SEGMENT = 3
_MIN_POINTS = 8
_UNITS = {"seconds": "s", "milliseconds": "ms", "bytes": "B", "ratio": "ratio", "percent": "%", "celsius": "C"}


@dataclass(frozen=True)
class Change:
    """The level moved from `before` to `after` (medians); `at` is the first point of the new level."""

    at: float
    before: float
    after: float


@dataclass(frozen=True)
class Summary:
    """Of the finite points alone; `strange` counts the NaN and infinite ones that were left out."""

    start: float
    end: float
    first: float
    last: float
    low: float
    low_at: float
    high: float
    high_at: float
    mean: float
    points: int
    strange: int
    change: Change | None


def summarise(points: Sequence[Point]) -> Summary | None:
    """None where no point is a finite number."""
    finite = [(at, value) for at, value in points if math.isfinite(value)]
    if not finite:
        return None
    low_at, low = min(finite, key=lambda point: point[1])
    high_at, high = max(finite, key=lambda point: point[1])
    return Summary(
        start=finite[0][0],
        end=finite[-1][0],
        first=finite[0][1],
        last=finite[-1][1],
        low=low,
        low_at=low_at,
        high=high,
        high_at=high_at,
        mean=math.fsum(value for _, value in finite) / len(finite),
        points=len(finite),
        strange=len(points) - len(finite),
        change=change_point(finite),
    )


def summary_text(name: str, summary: Summary, baseline: Summary | None = None, unit: str | None = None) -> str:
    """`name unit=s from=… to=… first=… last=… min=… max=… max_at=… mean=… change_at=… before=… after=… ratio=…`.

    `unit` None is guessed from the name, "" leaves it out.
    """
    unit = unit_of(name) if unit is None else unit
    parts = [name, f"unit={unit}" if unit else "", f"from={_at(summary.start)}", f"to={_at(summary.end)}"]
    parts += [f"first={number(summary.first)}", f"last={number(summary.last)}", f"min={number(summary.low)}"]
    parts += [f"max={number(summary.high)}", f"max_at={_at(summary.high_at)}", f"mean={number(summary.mean)}"]
    parts += _change_parts(summary.change)
    if baseline is not None:
        parts += [f"baseline_mean={number(baseline.mean)}", f"baseline_max={number(baseline.high)}"]
        parts += [f"to_baseline={_ratio(summary.mean, baseline.mean)}"]
    parts.append(f"not_a_number={summary.strange}" if summary.strange else "")
    return " ".join(part for part in parts if part)


def change_point(points: Sequence[Point]) -> Change | None:
    """The one split that explains the most variance, where the two levels differ by far more than the noise in them
    and by a fifth at least."""
    values = [value for _, value in points]
    if len(values) < _MIN_POINTS:
        return None
    split = _best_split(values)
    before, after = values[:split], values[split:]
    low, high = statistics.fmean(before), statistics.fmean(after)
    noise = math.sqrt(
        (statistics.pvariance(before) * len(before) + statistics.pvariance(after) * len(after)) / len(values)
    )
    step = abs(high - low)
    if step == 0 or step < 2.5 * noise or step < 0.2 * max(abs(low), abs(high)):
        return None
    split = _onset(values, split)
    return Change(points[split][0], statistics.median(values[:split]), statistics.median(after))


def number(value: float) -> str:
    """Four significant digits, never an exponent; whole numbers and numbers from 1000 up keep all whole digits."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    decimals = 1 if abs(value) >= 1000 else max(0, 3 - math.floor(math.log10(abs(value))))
    text = f"{value:.{min(decimals, 12)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def unit_of(name: str) -> str:
    """By the naming rules of Prometheus (`…_seconds`, `…_bytes_total`), "" where the name says none."""
    words = name.split("{")[0].replace("(", "_").replace(")", "_").lower().split("_")
    return next((_UNITS[word] for word in reversed(words) if word in _UNITS), "")


def _best_split(values: Sequence[float]) -> int:
    """Where two means fit best: the split with the largest between-group sum of squares."""
    total, count = math.fsum(values), len(values)
    best, best_gain, left = _MIN_SEGMENT, -1.0, math.fsum(values[: _MIN_SEGMENT - 1])
    for split in range(_MIN_SEGMENT, count - _MIN_SEGMENT + 1):
        left += values[split - 1]
        difference = left / split - (total - left) / (count - split)
        gain = difference * difference * split * (count - split)
        if gain > best_gain:
            best, best_gain = split, gain
    return best


def _onset(values: Sequence[float], split: int) -> int:
    """A level that climbs over a few points begins at the first that leaves the old one."""
    quiet = values[: max(split - 3, _MIN_SEGMENT)]
    level, spread = statistics.median(quiet), statistics.pstdev(quiet)
    reach = max(4 * spread, 0.1 * abs(statistics.median(values[split:]) - level))
    while split > _MIN_SEGMENT and abs(values[split - 1] - level) > reach:
        split -= 1
    return split


def _change_parts(change: Change | None) -> list[str]:
    if change is None:
        return ["change=none"]
    levels = [f"change_at={_at(change.at)}", f"before={number(change.before)}", f"after={number(change.after)}"]
    return [*levels, f"ratio={_ratio(change.after, change.before)}"]


def _ratio(value: float, base: float) -> str:
    return number(float(f"{value / base:.3g}")) if base else "none"


def _at(seconds: float) -> str:
    return stamp(datetime.fromtimestamp(seconds, UTC))
