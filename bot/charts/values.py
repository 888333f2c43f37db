"""Numbers and times as a chart writes them: short, round, with their unit."""

from __future__ import annotations

import math
from datetime import datetime
from zoneinfo import ZoneInfo

_TICKS = 5
_DAY = 86_400
_STEPS = (60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, _DAY, 2 * _DAY, 7 * _DAY, 30 * _DAY)
_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_LONG = ((_DAY, "d"), (3_600, "h"), (60, "min"))


def value_text(value: float, unit: str) -> str:
    """`4.8 s`, `250 ms`, `1.5 GB`, `80 %`, `12 k`. A ratio is shown in per cent."""
    if value == 0:
        return "0"
    if unit == "ratio":
        return f"{_short(value * 100)} %"
    if unit in ("s", "ms"):
        return _seconds(value if unit == "s" else value / 1000)
    size = abs(value)
    for factor, prefix in _LARGE:
        if size >= factor * 0.9995:
            joined = f"{prefix}{unit}" if unit else prefix
            return f"{_short(value / factor)} {joined}"
    return f"{_short(value)} {unit}".strip()


def _seconds(value: float) -> str:
    size = abs(value)
    for factor, word in _LONG:
        if size >= 2 * factor:
            return f"{_short(value / factor)} {word}"
    if size >= 1:
        return f"{_short(value)} s"
    return f"{_short(value * 1000)} ms" if size >= 0.001 else f"{_short(value * 1e6)} µs"


def _short(value: float) -> str:
    """Three significant digits at most, without an exponent where one can do without."""
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}"


def time_ticks(start: float, end: float, zone: ZoneInfo) -> list[tuple[float, str]]:
    """Round times of the reader's clock (Unix seconds) with what to write there, about five."""
    step = next((step for step in _STEPS if (end - start) / step <= _TICKS), _STEPS[-1] * math.ceil((end - start) / _STEPS[-1] / _TICKS))
    offset = _offset(start, zone)
    first = math.ceil((start + offset) / step) * step - offset
    shape = "%m-%d" if step >= _DAY else "%H:%M"
    times = [first + index * step for index in range(int((end - first) // step) + 1)]
    return [(at, f"{datetime.fromtimestamp(at, zone):{shape}}") for at in times]


def _offset(at: float, zone: ZoneInfo) -> float:
    found = datetime.fromtimestamp(at, zone).utcoffset()
    return found.total_seconds() if found is not None else 0.0
