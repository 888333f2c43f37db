"""Time stamps of a text, and whether one states another: instants by zone, zone-less ones literally."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: at for at, name in enumerate(_MONTH_NAMES, 1)}
_MONTH = r"(?P<mon>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DAY_NAME = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+)?"
_CLOCK = r"(?P<h>[01]?\d|2[0-4]):(?P<mi>[0-5]\d)(?::(?P<s>[0-5]\d|60)(?:[.,](?P<f>\d{1,9}))?)?"
_ZONE = (
    r"(?:\s*(?P<z>Z(?![A-Za-z])|\(?(?:UTC|GMT)(?:\s*[+-]\s*\d{1,2}(?::?\d{2})?)?\)?|(?:\+|(?<=:\d\d)(?<=\d\d:\d\d:\d\d)-|(?<=\d\d\d)-|\s-)(?:0\d|1[0-4]):?(?:00|15|30|45)(?![\d:])"
    r"|Beijing time|北京时间|东八区))?"
)
_HALF = r"(?:\s*(?P<half>[AaPp]\.?[Mm]\.?)(?![A-Za-z]))?"
_BEFORE = r"(?<![A-Za-z0-9_.:/])"
_AFTER = r"(?![\d:])"


def _has(needed: str) -> Callable[[str], object]:
    return re.compile(needed).search


_NAMES_MONTH = _has("[JFMASOND](?:an|eb|ar|pr|ay|un|ul|ug|ep|ct|ov|ec)")
# (a cheap look at what a text must hold, the form it spares). The looks begin with a character, not with a look-behind:
# then `re` jumps from one such character to the next.
_FORMS = tuple(
    (needs, re.compile(form))
    for needs, form in (
        # 2023-01-29T08:42:09.123Z, 2023/01/29 08:42, 2023-01-29 alone
        (
            _has(r"[-/.](?<=\d{4}.)\d"),
            rf"(?<![A-Za-z0-9_.-])(?P<y>\d{{4}})[-/.](?P<mo>0?[1-9]|1[0-2])[-/.](?P<d>[0-2]?\d|3[01])"
            rf"(?:(?:T|,?\s+|\s*T\s*){_CLOCK}{_ZONE})?(?![\d-])",
        ),
        # 20230129T084209Z
        (
            _has(r"T\d{6}"),
            r"(?<![A-Za-z0-9_.])(?P<y>\d{4})(?P<mo>\d{2})(?P<d>\d{2})T(?P<h>\d{2})(?P<mi>\d{2})(?P<s>\d{2})(?P<z>Z)?(?!\d)",
        ),
        # 29/Jan/2023:08:42:09 +0000
        (_NAMES_MONTH, rf"(?<![A-Za-z0-9_.])(?P<d>\d{{1,2}})/{_MONTH}/(?P<y>\d{{4}}):{_CLOCK}{_ZONE}"),
        # Sun, 29 Jan 2023 08:42:09 GMT; 29 January
        (
            _NAMES_MONTH,
            rf"(?<![A-Za-z0-9_.]){_DAY_NAME}(?P<d>[0-2]?\d|3[01])\s+{_MONTH}(?:,?\s+(?P<y>\d{{4}}))?"
            rf"(?:,?\s+{_CLOCK}{_ZONE})?(?![A-Za-z0-9_:])",
        ),
        # Sat May 04 10:00:00 CST 2013; Jan 29 08:42:09; Jan 29, 2023
        (
            _NAMES_MONTH,
            rf"(?<![A-Za-z0-9_.]){_DAY_NAME}{_MONTH}\s+(?P<d>[0-2]?\d|3[01])(?:st|nd|rd|th)?(?:,?\s+(?P<y>\d{{4}}))?"
            rf"(?![\d:])(?:,?\s+(?:at\s+)?{_CLOCK}{_ZONE}(?:\s+[A-Z]{{3,4}})?(?:\s+(?P<y2>\d{{4}}))?)?",
        ),
        # 2023年1月29日 8时42分9秒, 昨晚10点半
        (_has("月"), r"(?:(?P<y>\d{4})\s*年\s*)?(?P<mo>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]"),
        (
            lambda text: "点" in text or "时" in text,
            r"(?<![\d.])(?P<part>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|昨晚|今晚|当晚|晚间|晚)?\s*(?P<h>[01]?\d|2[0-4])"
            r"\s*[点时](?!间)(?:\s*(?P<mi>[0-5]?\d)\s*分?|(?P<word>半|一刻|三刻|整))?(?:\s*(?P<s>[0-5]?\d)\s*秒)?",
        ),
        # 08:43, 8:43 PM, 下午3:20, 16:43:12.123 (UTC+8)
        (_has(":"), rf"{_BEFORE}{_CLOCK}{_HALF}{_AFTER}{_ZONE}"),
        # 3 PM
        (
            _has(r"[AaPp](?<=[\d\s].)\.?[Mm]"),
            r"(?<![A-Za-z0-9_.:])(?P<h>1[0-2]|0?[1-9])\s*(?P<half>[AaPp]\.?[Mm]\.?)(?![A-Za-z])",
        ),
    )
)
_NEEDS = tuple(dict.fromkeys(needs for needs, _ in _FORMS))
_ZONE_BEFORE = re.compile(r"(北京时间|(?<![A-Za-z])UTC(?:[+-]\d{1,2})?)\s?(?:的|at )?\s?$")
_PART_BEFORE = re.compile(r"(凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|昨晚|今晚|当晚|晚间|晚)\s*$")
_AFTERNOON = frozenset({"下午", "傍晚", "晚上", "昨晚", "今晚", "当晚", "晚间", "晚"})

_DIGIT = re.compile(r"\d")
_EPOCH = re.compile(r"1(?<![A-Za-z0-9_.]1)\d{9}(?:\d{3})?(?![A-Za-z0-9_.])")
_WORDS = {"半": 30, "一刻": 15, "三刻": 45, "整": 0}


class Stamp(NamedTuple):
    """A date, a time of day, or both, as written. `offset` is minutes east of UTC, None where no zone is stated."""

    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None
    fraction: str = ""
    offset: int | None = None

    @property
    def date(self) -> tuple[int | None, int | None, int | None]:
        return (self.year, self.month, self.day)


def stamps(text: str) -> tuple[Stamp, ...]:
    """All stamps of a text, left to right."""
    return _stamps(text) if _DIGIT.search(text) else ()


def blank_times(text: str) -> str:
    """The text with spaces where time stamps stood: offsets stay."""
    return blank(text, [(stamp.start, stamp.end) for stamp in stamps(text)])


def blank(text: str, ranges: Sequence[tuple[int, int]]) -> str:
    for start, end in ranges:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def epochs(text: str) -> list[Stamp]:
    """Unix seconds and milliseconds as instants."""
    found = []
    for match in _EPOCH.finditer(text):
        seconds = int(match[0][:10])
        at = datetime.fromtimestamp(seconds, UTC)
        whole = Stamp(
            match.start(), match.end(), at.year, at.month, at.day, at.hour, at.minute, at.second, match[0][10:], 0
        )
        found.append(whole)
    return found


def states(claimed: Stamp, known: Sequence[Stamp], zones: Sequence[str] = ()) -> bool:
    """Whether one of `known` says what `claimed` says, at the precision of `claimed`.

    A date and a time of day may rest on two stamps where the one with the time bears no date. `zones` are IANA names
    the evidence's scope states: in them, zoned stamps may be read as local time.
    """
    if any(_says(claimed, other, zones) for other in known):
        return True
    if claimed.hour is None or claimed.day is None:
        return False
    clock = claimed._replace(year=None, month=None, day=None)
    date = claimed._replace(hour=None, minute=None, second=None, fraction="", offset=None)
    dateless = [other for other in known if other.day is None]
    return any(_says(clock, other, zones) for other in dateless) and any(_says(date, other, zones) for other in known)


@lru_cache(maxsize=256)
def _stamps(text: str) -> tuple[Stamp, ...]:
    found: list[Stamp] = []
    held = {needs for needs in _NEEDS if needs(text)}
    for needs, form in _FORMS:
        if needs not in held:
            continue
        matches = [_stamp(match, text) for match in form.finditer(text)]
        text = blank(text, [(stamp.start, stamp.end) for stamp in matches])
        found.extend(matches)
    return tuple(sorted(found, key=_start))


def _start(stamp: Stamp) -> int:
    return stamp.start


def _stamp(match: re.Match[str], text: str) -> Stamp:
    parts = match.groupdict()
    start = match.start()
    hour, minute = _int(parts.get("h")), _int(parts.get("mi"))
    day_part = parts.get("part")
    if day_part is None and hour is not None and (before := _PART_BEFORE.search(text, max(0, start - 4), start)):
        day_part = before[1]
    zone = parts.get("z")
    if zone is None and hour is not None and (stated := _ZONE_BEFORE.search(text, max(0, start - 12), start)):
        zone = stated[1]
    if parts.get("word"):
        minute = _WORDS[parts["word"]]
    return Stamp(
        start=start,
        end=match.end(),
        year=_int(parts.get("y") or parts.get("y2")),
        month=_MONTHS[parts["mon"].lower()] if parts.get("mon") else _int(parts.get("mo")),
        day=_int(parts.get("d")),
        hour=_half_day(hour, parts.get("half"), day_part),
        minute=minute,
        second=_int(parts.get("s")),
        fraction=parts.get("f") or "",
        offset=_offset(zone),
    )


def _int(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _half_day(hour: int | None, half: str | None, part: str | None) -> int | None:
    if hour is None or hour > 12:
        return hour
    if half is not None:
        return hour % 12 + (12 if half[0] in "Pp" else 0)
    if part in _AFTERNOON and hour < 12:
        return hour + 12
    return hour


def _offset(zone: str | None) -> int | None:
    if zone is None:
        return None
    if zone in ("Beijing time", "北京时间", "东八区"):
        return 480
    shift = re.search(r"([+-])\s*(\d{1,2}):?(\d{2})?", zone)
    if shift is None:
        return 0
    minutes = int(shift[2]) * 60 + int(shift[3] or 0)
    return -minutes if shift[1] == "-" else minutes


def _says(claimed: Stamp, other: Stamp, zones: Sequence[str]) -> bool:
    if claimed.offset is not None:
        return other.offset is not None and _reads(claimed, _shifted(other, claimed.offset))
    return _reads(claimed, other) or any(_reads(claimed, _local(other, zone)) for zone in zones)


def _reads(claimed: Stamp, other: Stamp) -> bool:
    """Field by field, only those that the claim states; a fraction may be shorter than the record's."""
    dates = zip(claimed.date, other.date, strict=True)
    if any(mine is not None and mine != theirs for mine, theirs in dates):
        return False
    clock = ((claimed.hour, other.hour), (claimed.minute, other.minute), (claimed.second, other.second))
    if any(mine is not None and mine != theirs for mine, theirs in clock):
        return False
    return other.fraction.startswith(claimed.fraction)


def _shifted(stamp: Stamp, offset: int) -> Stamp:
    if stamp.hour is None or stamp.offset is None or stamp.hour > 23 or (stamp.second or 0) > 59:
        return stamp
    known = None not in stamp.date
    year, month, day = (stamp.year, stamp.month, stamp.day) if known else (2000, 1, 15)
    try:
        at = datetime(year or 1, month or 1, day or 1, stamp.hour, stamp.minute or 0, stamp.second or 0, tzinfo=UTC)
        moved = (at - timedelta(minutes=stamp.offset)).astimezone(timezone(timedelta(minutes=offset)))
    except (ValueError, OverflowError):
        return stamp
    return _moved(stamp, moved, offset, known=known)


def _moved(stamp: Stamp, moved: datetime, offset: int | None, *, known: bool) -> Stamp:
    return stamp._replace(
        year=moved.year if known else None,
        month=moved.month if known else None,
        day=moved.day if known else None,
        hour=moved.hour,
        minute=None if stamp.minute is None else moved.minute,
        second=None if stamp.second is None else moved.second,
        offset=offset,
    )


@lru_cache(maxsize=512)
def _local(stamp: Stamp, zone: str) -> Stamp:
    utc = _shifted(stamp, 0)
    if stamp.offset is None or stamp.hour is None or None in utc.date:
        return stamp
    try:
        there = ZoneInfo(zone)
        at = datetime(
            utc.year or 1, utc.month or 1, utc.day or 1, utc.hour or 0, utc.minute or 0, utc.second or 0, tzinfo=UTC
        )
        return _moved(stamp, at.astimezone(there), None, known=True)
    except (ZoneInfoNotFoundError, ValueError):
        return stamp
