"""Times as a reader wants them: local first, UTC beside it, the date once."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def window_text(start: str, end: str, zone: ZoneInfo) -> str:
    """`2026-11-30 16:10–17:10 CST (08:10–09:10 UTC)`. What is no RFC 3339 time is shown as it stands."""
    try:
        moments = [datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (start, end) if text]
    except ValueError:
        return " – ".join(text for text in (start, end) if text)
    if not moments or any(moment.tzinfo is None for moment in moments):
        return " – ".join(text for text in (start, end) if text)
    local = [moment.astimezone(zone) for moment in moments]
    if all(moment.utcoffset() == UTC.utcoffset(None) for moment in local):
        return f"{_span(local)} UTC"
    there = [moment.astimezone(UTC) for moment in moments]
    same_days = [moment.date() for moment in local] == [moment.date() for moment in there]
    return f"{_span(local)} {local[0]:%Z} ({_span(there, dated=not same_days)} UTC)"


def _span(moments: list[datetime], *, dated: bool = True) -> str:
    first, last = moments[0], moments[-1]
    start = f"{first:%Y-%m-%d %H:%M}" if dated else f"{first:%H:%M}"
    end = f"{last:%H:%M}" if first.date() == last.date() else f"{last:%Y-%m-%d %H:%M}"
    return start if first == last else f"{start}–{end}"
