"""How long somebody wants quiet, or to wait: `2h`, `90 minutes`, `1d`, `until 08:00`, `2小时`, `直到明天 08:00`."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

DEFAULT = timedelta(hours=1)
LONGEST = timedelta(days=30)
_UNITS = {
    "m": "minutes", "min": "minutes", "mins": "minutes", "minute": "minutes", "minutes": "minutes",
    "分": "minutes", "分钟": "minutes", "分鐘": "minutes",
    "h": "hours", "hr": "hours", "hrs": "hours", "hour": "hours", "hours": "hours",
    "小时": "hours", "个小时": "hours", "小時": "hours", "時間": "hours", "时": "hours",
    "d": "days", "day": "days", "days": "days", "天": "days", "日": "days",
    "w": "weeks", "week": "weeks", "weeks": "weeks", "周": "weeks", "星期": "weeks",
}  # fmt: skip
_HALVES = {"半小时": timedelta(minutes=30), "半个小时": timedelta(minutes=30), "半天": timedelta(hours=12)}
_PART = re.compile(r"(\d{1,5}(?:\.\d{1,3})?)\s*([^\W\d_]+)")
_CLOCK = re.compile(
    r"(?P<until>until|till|til|直到|到|至)?\s*(?P<day>tomorrow|明天|明日)?\s*(?:at\s+)?"
    r"(?P<hour>\d{1,2})(?:[:：点時时](?P<minute>\d{2})?分?)?\s*(?P<half>am|pm)?",
    re.IGNORECASE,
)


class NoTime(ValueError):
    """It says no time that can be read, or one too far away."""


def until_of(text: str, now: datetime, zone: ZoneInfo) -> datetime:
    """The end of the quiet time, an hour from now where nothing is said. Clock times are the reader's, the next to
    come. Raises NoTime."""
    said = " ".join(text.lower().split()).removeprefix("for ").strip()
    if not said:
        return now + DEFAULT
    end = _after(said, now) or _at(said, now.astimezone(zone))
    if end is None or not now < end <= now + LONGEST:
        raise NoTime(text)
    return end.astimezone(now.tzinfo)


def _after(said: str, now: datetime) -> datetime | None:
    if said in _HALVES:
        return now + _HALVES[said]
    parts = [(float(number), _UNITS.get(unit)) for number, unit in _PART.findall(said)]
    if not parts or _PART.sub("", said).strip(" ,and") or any(unit is None for _, unit in parts):
        return None
    return now + sum((timedelta(**{unit: number}) for number, unit in parts if unit), timedelta())


def _at(said: str, now: datetime) -> datetime | None:
    match = _CLOCK.fullmatch(said)
    if match is None or not (match["until"] or match["day"] or match["minute"]):
        return None
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "pm" else 0)
    if hour > 23 or minute > 59:
        return None
    end = datetime.combine(now.date(), time(hour, minute), now.tzinfo)
    if match["day"] or end <= now:
        end = datetime.combine(now.date() + timedelta(days=1), time(hour, minute), now.tzinfo)
    return end
