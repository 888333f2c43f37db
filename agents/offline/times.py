"""Time words of a question, read in the asker's zone: "since 14:00", "last 30 minutes", 昨晚, 下午3点到4点."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class Window:
    """UTC; `until` None means up to now."""

    since: datetime
    until: datetime | None = None


@dataclass(frozen=True)
class _Clock:
    """A time of day as written, with the day it belongs to where one is written."""

    at: datetime
    start: int
    end: int
    day: str = ""


_UNITS = {
    "s": 1, "sec": 1, "second": 1, "秒": 1, "m": 60, "min": 60, "minute": 60, "分": 60, "h": 3600, "hr": 3600, "hour": 3600,
    "小时": 3600, "个小时": 3600, "钟头": 3600, "d": 86400, "day": 86400, "天": 86400, "w": 604800, "week": 604800,
}  # fmt: skip
_NUMBERS = {
    "a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "couple of": 2.0, "few": 3.0, "half an": 0.5, "half": 0.5,
    "一": 1.0, "两": 2.0, "二": 2.0, "三": 3.0, "几": 3.0, "半": 0.5, "半个": 0.5,
}  # fmt: skip
_BACK = re.compile(
    r"(?:(?:last|past|previous|in the last|最近|过去|近|前)\s*(?:the\s+)?)"
    r"(?P<n>\d+(?:\.\d+)?|half an|couple of|few|an|a|one|two|half|半个|半|一|两|二|三|几)?\s*"
    r"(?P<unit>seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|[smhdw](?![a-z])|个?小时|钟头|分(?:钟)?|天|秒)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?:(?P<date>\d{4}-\d{2}-\d{2})[T\s]+)?"
    r"(?P<day>昨天|昨日|昨晚|今天|今早|今晚|前天|yesterday|today)?\s*(?:at\s+)?"
    r"(?P<part>凌晨|早上|早晨|上午|中午|下午|晚上|傍晚)?\s*"
    r"(?<![\d:.-])(?:(?P<h>[01]?\d|2[0-3])(?:[:：](?P<m>[0-5]\d)(?::[0-5]\d)?\s*(?P<ap>am|pm)?(?P<z>Z|\s*UTC)?|\s*(?P<ap2>am|pm)\b"
    r"|\s*[点时](?:(?P<half>半)|(?P<m2>[0-5]?\d)分?)?))(?![\d:])",
    re.IGNORECASE,
)
_SINCE = re.compile(r"(since|from|after|starting|started|began|自|从|start)\s*(at|about|around|大约)?\s*$", re.IGNORECASE)
_SINCE_AFTER = re.compile(r"^\s*(UTC|Z)?\s*(以来|以后|之后|开始|起|onwards?|左右开始|后)", re.IGNORECASE)
_DAY_WORDS = "昨天|昨日|昨晚|前天|今天|yesterday|today"
# "yesterday from 03:00", "03:00 yesterday": the day need not stand right before the clock.
_DAY_BEFORE = re.compile(
    rf"({_DAY_WORDS})\s*,?\s*(?:(?:between|since|from|after|starting|around|about|at|自|从|在)\s*)+$", re.IGNORECASE
)
_DAY_AFTER = re.compile(rf"^\s*(?:on\s+)?({_DAY_WORDS})(?![a-z])", re.IGNORECASE)
_JOIN = re.compile(r"^\s*(to|until|till|and|-|–|到|至|~)\s*$", re.IGNORECASE)
_WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_DATE = re.compile(
    r"(?<![\w-])(?P<iso>\d{4}-\d{2}-\d{2})(?![\w-])"
    r"|\b(?P<weekday>mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|(?:周|星期)[一二三四五六日天])",
    re.IGNORECASE,
)
_DAYS: tuple[tuple[str, int, tuple[int, int], int, tuple[int, int] | None], ...] = (
    # words, day offset and hour of the start, day offset and hour of the end (None: now)
    (r"last night|昨晚|昨夜|昨天晚上", -1, (18, 0), 0, (6, 0)),
    (r"overnight|夜里|半夜|凌晨", 0, (0, 0), 0, (6, 0)),
    (r"this morning|今早|今天早上|今天上午", 0, (6, 0), 0, (12, 0)),
    (r"this afternoon|今天下午", 0, (12, 0), 0, (18, 0)),
    (r"last week|上周|上星期", -7, (0, 0), 0, None),
    (r"yesterday|昨天|昨日", -1, (0, 0), 0, (0, 0)),
    (r"\btoday\b|今天|今日", 0, (0, 0), 0, None),
)


def window_of(text: str, now: datetime, zone: ZoneInfo) -> Window | None:
    """The window that the text names, or None. A clock time that would lie ahead of `now` belongs to the day before."""
    return _backwards(text, now) or _clocks(text, now, zone) or _dates(text, now, zone) or _named(text, now, zone)


def _backwards(text: str, now: datetime) -> Window | None:
    found = _BACK.search(text)
    if not found:
        return None
    written = (found["n"] or "1").lower()
    number = _NUMBERS.get(written) or float(written)
    unit = found["unit"].lower().removesuffix("s").removesuffix("钟") or "s"
    return Window(now - timedelta(seconds=number * _UNITS[unit]))


def _clocks(text: str, now: datetime, zone: ZoneInfo) -> Window | None:
    read = list(_CLOCK.finditer(text))
    if not read:
        return None
    days = [_day_of(found, text) for found in read]
    if len(read) > 1 and _JOIN.match(text[read[0].end() : read[1].start()]):
        first = _clock(read[0], now, zone, days[0] or days[1])
        last = _clock(read[1], now, zone, days[1] or days[0])
        next_day = last.at + timedelta(days=1) if first.day else first.at + timedelta(hours=1)
        return Window(first.at, min(last.at if last.at > first.at else next_day, now))
    first = _clock(read[0], now, zone, days[0])
    if _SINCE.search(text[: first.start]) or _SINCE_AFTER.match(text[first.end :]):
        return Window(first.at)
    return Window(first.at - timedelta(minutes=15), min(first.at + timedelta(minutes=45), now))


def _day_of(found: re.Match[str], text: str) -> str:
    if found["day"]:
        return found["day"].lower()
    stated = _DAY_BEFORE.search(text[: found.start()]) or _DAY_AFTER.match(text[found.end() :])
    return stated[1].lower() if stated else ""


def _clock(found: re.Match[str], now: datetime, zone: ZoneInfo, said: str) -> _Clock:
    hour = int(found["h"])
    minute = 30 if found["half"] else int(found["m"] or found["m2"] or 0)
    if _is_afternoon(found) and hour < 12:
        hour += 12
    stated = UTC if found["z"] else zone
    local = now.astimezone(stated)
    if found["date"]:
        day = datetime.fromisoformat(found["date"]).date()
        return _Clock(datetime.combine(day, time(hour, minute), stated).astimezone(UTC), found.start(), found.end())
    day = local.date() - timedelta(days=_days_back(said))
    at = datetime.combine(day, time(hour, minute), stated)
    if at > local and not said:
        at -= timedelta(days=1)
    return _Clock(at.astimezone(UTC), found.start(), found.end(), said)


def _is_afternoon(found: re.Match[str]) -> bool:
    half = (found["ap"] or found["ap2"] or "").lower()
    return half == "pm" or (found["part"] or "") in ("下午", "晚上", "傍晚") or (found["day"] or "") in ("昨晚", "今晚")


def _days_back(word: str) -> int:
    return {"昨天": 1, "昨日": 1, "昨晚": 1, "yesterday": 1, "前天": 2}.get(word, 0)


def _dates(text: str, now: datetime, zone: ZoneInfo) -> Window | None:
    """A date, or the last day of that name: from then on after "since", else that day alone."""
    found = _DATE.search(text)
    if not found:
        return None
    today = now.astimezone(zone).date()
    if found["iso"]:
        try:
            day = date.fromisoformat(found["iso"])
        except ValueError:
            return None
    else:
        name = found["weekday"].lower()
        number = _WEEKDAYS.index(name[:3]) if name.isascii() else "一二三四五六日天".index(name[-1]) % 7
        day = today - timedelta(days=(today.weekday() - number) % 7 or 7)
    since = datetime.combine(day, time(), zone).astimezone(UTC)
    if since >= now:
        return None
    open_end = _SINCE.search(text[: found.start()]) or _SINCE_AFTER.match(text[found.end() :])
    return Window(since, None if open_end else min(since + timedelta(days=1), now))


def _named(text: str, now: datetime, zone: ZoneInfo) -> Window | None:
    today = now.astimezone(zone).date()
    for words, start_day, start, end_day, end in _DAYS:
        if found := re.search(words, text, re.IGNORECASE):
            if _SINCE.search(text[: found.start()]) or _SINCE_AFTER.match(text[found.end() :]):
                end = None
            since = datetime.combine(today + timedelta(days=start_day), time(*start), zone).astimezone(UTC)
            until = datetime.combine(today + timedelta(days=end_day), time(*end), zone).astimezone(UTC) if end else None
            return Window(since, min(until, now) if until else None) if since < now else None
    return None
