"""Times as models and people write them, and the window of a query."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tools.contracts import CallContext
from tools.errors import ToolFailed

_RELATIVE = re.compile(r"(?:now)?\s*-?\s*(\d{1,6})\s*(s|sec|m|min|h|d|w)[a-z]*(?:\s+ago)?", re.I)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_EPOCH = re.compile(r"\d{10}(?:\.\d+)?|\d{13}")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


@dataclass(frozen=True)
class Window:
    """From `start` (inclusive) to `end`, both aware and in UTC."""

    start: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        return (self.end - self.start).total_seconds()

    @property
    def before(self) -> Window:
        """The equally long window that ends where this one begins."""
        return Window(self.start - (self.end - self.start), self.start)

    def scope(self) -> dict[str, str]:
        return {"window_from": stamp(self.start), "window_to": stamp(self.end)}

    def __str__(self) -> str:
        return f"{stamp(self.start)} to {stamp(self.end)}"


def stamp(moment: datetime) -> str:
    """RFC 3339 in UTC: milliseconds where there are any."""
    utc = moment.astimezone(UTC)
    digits = f".{utc.microsecond // 1000:03d}" if utc.microsecond >= 1000 else ""
    return f"{utc:%Y-%m-%dT%H:%M:%S}{digits}Z"


def window_of(
    since: str | None,
    until: str | None,
    window_minutes: float | None,
    context: CallContext,
    default_minutes: float = 60,
) -> Window:
    """The window asked for: `since`..`until`, or `window_minutes` up to `until` (or from `since`); now where nothing is
    said. Raises ToolFailed on an unreadable time or an empty window."""
    start = moment_of(since, context, "since") if since else None
    end = moment_of(until, context, "until") if until else None
    length = timedelta(minutes=window_minutes if window_minutes else default_minutes)
    if start is None:
        end = end or context.now.astimezone(UTC)
        start = end - length
    elif end is None:
        end = start + length if window_minutes else context.now.astimezone(UTC)
    if start >= end:
        raise ToolFailed(
            f"the window is empty: it begins {stamp(start)} and ends {stamp(end)}. Give since before until"
        )
    return Window(start, end)


def moment_of(text: str, context: CallContext, field: str = "time") -> datetime:
    """A time in UTC. Times without a zone are read in the asker's; a bare 14:00 is the latest one that has been."""
    said = text.strip()
    moment = _relative(said, context.now) or _clock(said, context) or _epoch(said) or _calendar(said, context.zone)
    if moment is None:
        raise ToolFailed(
            f"{field} {text[:60]!r} is not a time. Write 2026-11-30T08:40 (read in {context.zone.key}), "
            "2026-11-30T08:40:00Z, 08:40 or -30m"
        )
    return moment.astimezone(UTC)


def _relative(said: str, now: datetime) -> datetime | None:
    if said.lower() == "now":
        return now
    match = _RELATIVE.fullmatch(said)
    if match is None:
        return None
    try:
        return now - timedelta(seconds=int(match[1]) * _UNITS[match[2][0].lower()])
    except OverflowError:
        return None


def _clock(said: str, context: CallContext) -> datetime | None:
    match = _CLOCK.fullmatch(said)
    if match is None:
        return None
    here = context.now.astimezone(context.zone)
    try:
        moment = here.replace(hour=int(match[1]), minute=int(match[2]), second=int(match[3] or 0), microsecond=0)
    except ValueError:
        return None
    return moment if moment <= here else moment - timedelta(days=1)


def _epoch(said: str) -> datetime | None:
    if _EPOCH.fullmatch(said) is None:
        return None
    seconds = float(said)
    return datetime.fromtimestamp(seconds / 1000 if seconds >= 1e12 else seconds, UTC)


def _calendar(said: str, zone: ZoneInfo) -> datetime | None:
    try:
        moment = datetime.fromisoformat(said.replace(" UTC", "Z").replace(" Z", "Z"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
