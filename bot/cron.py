"""Cron lines as crontab(5) reads them: `0 9 * * mon`, `*/15 8-18 * * 1-5`, `@daily`. Sunday is 0 and 7."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SHORT = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *",
}  # fmt: skip
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PART = re.compile(r"(?P<first>\*|\?|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d+))?")


@dataclass(frozen=True)
class Cron:
    """The values of each field, None for every one. `weekdays`: 0 is Sunday."""

    minutes: tuple[int, ...] | None
    hours: tuple[int, ...] | None
    days: tuple[int, ...] | None
    months: tuple[int, ...] | None
    weekdays: tuple[int, ...] | None


def read_cron(text: str) -> Cron:
    """Raises ValueError; the message says what to write."""
    fields = _SHORT.get(text.strip().lower(), text).lower().split()
    if len(fields) != 5:
        raise ValueError(
            f"{text!r} is no cron line: write minute, hour, day, month and weekday, like `0 9 * * mon` or `*/30 * * * *`"
        )
    minutes, hours = _values(fields[0], "minute", 0, 59), _values(fields[1], "hour", 0, 23)
    days, months = _values(fields[2], "day", 1, 31), _values(fields[3], "month", 1, 12, MONTHS)
    weekdays = _values(fields[4], "weekday", 0, 7, DAYS)
    if days is not None and weekdays is not None:
        raise ValueError(f"{text!r} names days of the month and weekdays: write two lines, with * for one of them in each")
    if days is not None and months is not None and not _comes(days, months):
        raise ValueError(f"{text!r} never comes: no such day is in that month")
    return Cron(minutes, hours, days, months, None if weekdays is None else tuple(sorted({day % 7 for day in weekdays})))


def checked_cron(text: str) -> str:
    """The line as it is; empty for none. Raises ValueError."""
    if text.strip():
        read_cron(text)
    return text.strip()


def _values(field: str, what: str, least: int, most: int, names: tuple[str, ...] = ()) -> tuple[int, ...] | None:
    if field in ("*", "?"):
        return None
    found: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} is no {what} of a cron line")
        found.update(_span(match, what, least, most, names))
    return tuple(sorted(found))


def _span(match: re.Match[str], what: str, least: int, most: int, names: tuple[str, ...]) -> range:
    step = int(match["step"] or 1)
    if step < 1:
        raise ValueError(f"{match[0]!r}: a step of a cron line is 1 or more")
    if match["first"] in ("*", "?"):
        return range(least, (6 if names is DAYS else most) + 1, step)
    first = _number(match["first"], what, least, most, names)
    # As crontab has it: `5/10` goes on to the end, `5` does not.
    last = _number(match["last"], what, least, most, names) if match["last"] else most if match["step"] else first
    if last < first and names is DAYS and last == 0:
        last = 7
    if last < first:
        raise ValueError(f"{match[0]!r}: the first {what} of a span comes before the last")
    return range(first, last + 1, step)


def _number(text: str, what: str, least: int, most: int, names: tuple[str, ...]) -> int:
    if text[:3] in names and text.isalpha():
        return names.index(text[:3]) + least
    if not text.isdecimal() or not least <= int(text) <= most:
        raise ValueError(f"{text!r} is no {what} of a cron line: {least} to {most}{', or a name' if names else ''}")
    return int(text)


def _comes(days: tuple[int, ...], months: tuple[int, ...]) -> bool:
    longest = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
    return any(days[0] <= longest.get(month, 31) for month in months)
