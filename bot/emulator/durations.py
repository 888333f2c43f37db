"""Durations and instants as the Prometheus HTTP API writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0, "y": 31536000.0}
_PART = re.compile(r"(\d+)(ms|[smhdwy])")


def seconds_of(text: str) -> float | None:
    """`1h30m`, `15s` or plain seconds; None where it is no duration."""
    if re.fullmatch(r"(?:\d+(?:ms|[smhdwy]))+", text):
        return sum(int(count) * _SECONDS[unit] for count, unit in _PART.findall(text))
    try:
        return float(text)
    except ValueError:
        return None


def instant_of(text: str) -> float | None:
    """Seconds since 1970 from a number or RFC 3339 text."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
