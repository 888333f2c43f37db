"""Senders' times. With a zone they become UTC with Z, without one they keep no suffix; a time without a date is none."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.alert_reading.markup import instant_of

_CLOCK = r"(?P<hour>\d{1,2})[:時时시](?P<minute>\d{2})(?:[:分분](?P<second>\d{2}))?(?:[.,](?P<fraction>\d{1,9}))?"
_HALF = r"(?P<half>上午|下午|午前|午後|오전|오후)?\s{0,2}"
_AFTER = r"\s{0,2}(?P<ampm>[AaPp]\.?[Mm]\.?)?\s{0,2}(?P<zone>Z\b|[(]?(?:UTC|GMT)?\s?[+-]\d{1,2}:?\d{0,2}\b|[(]?[A-Z]{3,4}\b)?"
_GAP = r"(?:T|,|\s|at\b|um\b|à|в){1,6}"
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_NAMES, 1)}
_MONTH = r"(?P<name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE if "name" in form else 0)
    for form in (
        rf"(?<!\d)(?P<year>\d{{4}})[-/.年년]\s?(?P<month>\d{{1,2}})[-/.月월]\s?(?P<day>\d{{1,2}})[日일]?{_GAP}?{_HALF}{_CLOCK}{_AFTER}",
        rf"(?<!\d)(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}}){_GAP}{_CLOCK}{_AFTER}",
        rf"(?<!\d)(?P<one>\d{{1,2}})/(?P<two>\d{{1,2}})/(?P<year>\d{{4}}){_GAP}{_CLOCK}{_AFTER}",
        rf"(?<!\d){_CLOCK}\s(?:on\s|of\s)?(?P<year>\d{{4}})[-/.](?P<month>\d{{2}})[-/.](?P<day>\d{{2}})(?!\d)",
        rf"\b{_MONTH}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<year>\d{{4}}){_GAP}{_CLOCK}{_AFTER}",
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s-]{_MONTH}[\s,-]{{1,2}}(?P<year>\d{{4}}){_GAP}{_CLOCK}{_AFTER}",
        rf"\b{_MONTH}\s{{1,2}}(?P<day>\d{{1,2}})\s{_CLOCK}(?P<zone>\s[A-Z]{{3,4}})?\s(?P<year>\d{{4}})\b",
    )
)
_STAMP = re.compile(r"\A\s*1\d{9}(?:\d{3}|\.\d{1,6})?\s*\Z")
# Names that mean one offset everywhere; CST, IST, BST, EST and PST do not.
_ZONES = {"Z": 0.0, "UTC": 0.0, "GMT": 0.0, "JST": 9.0, "KST": 9.0, "MSK": 3.0, "CET": 1.0, "CEST": 2.0, "EDT": -4.0, "PDT": -7.0, "北京时间": 8.0}  # fmt: skip
_NAMED_ZONE = re.compile(
    r"(?:UTC|GMT)\s?[+-]\d{1,2}(?::?\d{2})?|\b(?:UTC|GMT|JST|KST|MSK|CET|CEST)\b|北京时间|\b[A-Z][A-Za-z]{2,}(?:/[A-Z][A-Za-z_+-]{2,}){1,2}\b"
)
_OFFSET = re.compile(r"(?:UTC|GMT)?\s?([+-])(\d{1,2}):?(\d{2})?\Z")


def read_time(text: str, *, zone: str | None = None) -> str | None:
    """The first full time in the text, or None. `zone` (UTC, +08:00, JST) is what the post says elsewhere, in a field's title say.

    A number of seconds or milliseconds counts only where it is all there is.
    """
    if _STAMP.match(text):
        return instant_of(text)
    text = text[:400]
    for form in _FORMS:
        if match := form.search(text):
            return _written(match.groupdict(), zone or ("北京时间" if "北京时间" in text else None))
    return None


def zone_in(title: str) -> str | None:
    """The zone that a title names: `Time (UTC)`, `時刻 (JST)`, `Started (UTC+8)`."""
    match = _NAMED_ZONE.search(title[:100])
    return match[0] if match else None


def _written(found: dict[str, str | None], zone: str | None) -> str | None:
    try:
        at = datetime(*_date(found), _hour(found), int(found.get("minute") or 0), int(found.get("second") or 0))  # noqa: DTZ001
        fraction = found.get("fraction")
        digits = f".{''.join(str(int(digit)) for digit in fraction)}" if fraction else ""
        known = _zone(found.get("zone")) or (_zone(zone) if not found.get("zone") else None)
        if known is None:
            return at.isoformat() + digits
        utc = at.replace(tzinfo=known).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return utc.replace(tzinfo=None).isoformat() + digits + "Z"


def _date(found: dict[str, str | None]) -> tuple[int, int, int]:
    """Raises ValueError where day and month cannot be told apart, and for a year that no alert is of."""
    year = int(found["year"] or 0)
    if not 1990 <= year <= 2200:
        raise ValueError("no time of an alert")  # 0001-01-01 is how some write "not yet"
    if found.get("one"):
        one, two = int(found["one"] or 0), int(found["two"] or 0)
        if (one > 12) == (two > 12) and one != two:
            raise ValueError("day and month cannot be told apart")
        return (year, one, two) if two > 12 or one == two else (year, two, one)
    month = _MONTHS[(found["name"] or "")[:3].casefold()] if found.get("name") else int(found["month"] or 0)
    return year, month, int(found["day"] or 0)


def _hour(found: dict[str, str | None]) -> int:
    hour = int(found["hour"] or 0)
    half = (found.get("ampm") or "")[:1].casefold() or (found.get("half") or "")
    if not half:
        return hour
    return hour % 12 + (12 if half in ("p", "下午", "午後", "오후") else 0)


def _zone(zone: str | None) -> tzinfo | None:
    """None for no name, and for one that means several."""
    name = (zone or "").strip(" ()")
    if name.upper() in _ZONES:
        return timezone(timedelta(hours=_ZONES[name.upper()]))
    if match := _OFFSET.match(name):
        ahead = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        return timezone(-ahead if match[1] == "-" else ahead)
    if "/" not in name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError):
        return None
