"""Time stamps of log lines: which kinds exist, which one a file uses, and a reader fast enough for millions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Literal

Missing = Literal["zone", "year", "date"]


@dataclass(frozen=True)
class Clock:
    """What a file's stamps lack: the zone of zone-less ones, and the last write (for the year or the date)."""

    zone: tzinfo
    written: datetime
    day: date | None = None


ToNaive = Callable[[str, Clock], datetime]


@dataclass(frozen=True)
class StampKind:
    """`pattern` has the groups base, frac and zone. `lacks` names what the clock must add, besides a missing zone."""

    name: str
    pattern: re.Pattern[bytes]
    to_naive: ToNaive
    lacks: Missing | None = None
    within: int = 64


def _strptime(form: str) -> ToNaive:
    # The zone is added by StampReader._epoch, from the line's own zone group or from the clock.
    return lambda text, _: datetime.strptime(text, form)  # noqa: DTZ007


def _iso(text: str, _: Clock) -> datetime:
    return datetime.fromisoformat(text.replace("/", "-"))


def _seconds(text: str, _: Clock) -> datetime:
    return datetime.fromtimestamp(int(text), UTC)


def _yearless(form: str) -> ToNaive:
    def convert(text: str, clock: Clock) -> datetime:
        """The latest year in which the stamp is not after the file's last write (one day of slack)."""
        limit = clock.written.astimezone(clock.zone).replace(tzinfo=None) + timedelta(days=1)
        for year in range(limit.year, limit.year - 9, -1):  # 29 February may need a few steps
            try:
                moment = datetime.strptime(f"{year} {text}", f"%Y {form}")  # noqa: DTZ007
            except ValueError:
                continue
            if moment <= limit:
                return moment
        raise ValueError(text)

    return convert


def _time_only(text: str, clock: Clock) -> datetime:
    """The day of the file's name, else the day of its last write, or the day before for a later time of day."""
    written = clock.written.astimezone(clock.zone).replace(tzinfo=None)
    moment = datetime.combine(clock.day or written.date(), datetime.strptime(text, "%H:%M:%S").time())  # noqa: DTZ007
    late = clock.day is None and moment > written + timedelta(minutes=5)
    return moment - timedelta(days=1) if late else moment


_ISO = rb"(?P<base>\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](?P<frac>\d{1,9}))?(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)(?![\w]))?"
_EPOCH = rb"(?P<base>[1-4]\d{9})(?:[.,]?(?P<frac>\d{9}|\d{6}|\d{3}|(?<=[.,])\d{1,9}))?(?!\d)(?P<zone>)"
_SHORT = rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
_LOGFMT_KEY = rb'(?:^|[\s{])(?:ts|time|timestamp|@timestamp|t|at|datetime)="?'


def _kind(name: str, pattern: bytes, to_naive: ToNaive, lacks: Missing | None = None, within: int = 64) -> StampKind:
    return StampKind(name, re.compile(pattern), to_naive, lacks, within)


def kinds() -> tuple[StampKind, ...]:
    """Every kind, the more certain first: a tie in a sample goes to the earlier one."""
    zoneless = rb"(?P<zone>)"
    return (
        _kind("iso", rb"^(?:<\d{1,3}>1? ?)?(?:[A-Za-z]{3,8}:? {1,5})?[\[(\"']?" + _ISO, _iso),
        _kind("logfmt", _LOGFMT_KEY + _ISO, _iso, within=400),
        _kind("klog", rb"^[IWEF](?P<base>\d{4} \d\d:\d\d:\d\d)(?:\.(?P<frac>\d{1,9})) (?P<zone>)",
              _yearless("%m%d %H:%M:%S"), "year"),
        _kind("clf", rb"\[(?P<base>\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d)(?P<frac>) (?P<zone>[+-]\d{4})\]",
              _strptime("%d/%b/%Y:%H:%M:%S"), within=400),
        _kind("ctime", rb"^\[?[A-Z][a-z]{2} (?P<base>" + _SHORT + rb"(?:\.(?P<frac>\d{1,9}))? \d{4})" + zoneless, _ctime),
        _kind("syslog", rb"^(?:<\d{1,3}>)?(?P<base>" + _SHORT + rb")(?:\.(?P<frac>\d{1,9}))? (?P<zone>)",
              _yearless("%b %d %H:%M:%S"), "year"),
        _kind("java", rb"^(?P<base>\d\d-[A-Z][a-z]{2}-\d{4} \d\d:\d\d:\d\d)(?:[.,](?P<frac>\d{1,9}))?" + zoneless,
              _strptime("%d-%b-%Y %H:%M:%S")),
        _kind("redis", rb"^\d+:[A-Z] (?P<base>\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d)(?:[.,](?P<frac>\d{1,9}))?" + zoneless,
              _strptime("%d %b %Y %H:%M:%S")),
        _kind("epoch", rb"^\[?" + _EPOCH, _seconds),
        _kind("logfmt_epoch", _LOGFMT_KEY + _EPOCH, _seconds, within=400),
        _kind("time_only", rb"^\[?(?P<base>\d\d:\d\d:\d\d)(?:[.,](?P<frac>\d{1,9}))?(?!\d)(?P<zone>)", _time_only, "date"),
        _kind("iso_inside", _ISO, _iso, within=200),
    )


def _ctime(text: str, _: Clock) -> datetime:
    return datetime.strptime(re.sub(r"\.\d+", "", text), "%b %d %H:%M:%S %Y")  # noqa: DTZ007


def zone_of(text: bytes) -> tzinfo:
    """`Z`, `UTC`, `+0800`, `+08:00` as a time zone."""
    if text in (b"Z", b"UTC", b"GMT"):
        return UTC
    digits = text[1:].replace(b":", b"")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4]))
    return timezone(-offset if text[:1] == b"-" else offset)


@dataclass
class StampReader:
    """Reads one file's stamps. `zoneless` and `lacks` say afterwards what had to be assumed."""

    chosen: tuple[StampKind, ...]
    clock: Clock
    zoneless: bool = False
    lacks: set[str] = field(default_factory=set)
    _seen: dict[tuple[bytes, bytes | None], float | None] = field(default_factory=dict)

    def read(self, line: bytes) -> tuple[float, int, int] | None:
        """Seconds since the epoch and the stamp's span in the line; None where the line starts no record."""
        for kind in self.chosen:
            match = kind.pattern.search(line, 0, kind.within)
            if match is None:
                continue
            base, frac, zone = match.group("base", "frac", "zone")
            seconds = self._seen.get((base, zone), -1.0)
            if seconds == -1.0:
                seconds = self._remember(kind, base, zone)
            if seconds is None:
                continue
            whole = seconds + int(frac) / 10 ** len(frac) if frac else seconds
            return whole, match.start("base"), match.end()
        return None

    def _remember(self, kind: StampKind, base: bytes, zone: bytes | None) -> float | None:
        if len(self._seen) > 50_000:
            self._seen.clear()
        seconds = self._epoch(kind, base, zone)
        self._seen[base, zone] = seconds
        return seconds

    def _epoch(self, kind: StampKind, base: bytes, zone: bytes | None) -> float | None:
        try:
            moment = kind.to_naive(base.decode("ascii"), self.clock)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=zone_of(zone) if zone else self.clock.zone)
                self.zoneless = self.zoneless or not zone
            seconds = moment.timestamp()
        except (ValueError, OverflowError):  # 2026-13-45 is no stamp
            return None
        if kind.lacks:
            self.lacks.add(kind.lacks)
        return seconds


def choose_kinds(lines: Sequence[bytes], every: Sequence[StampKind]) -> tuple[StampKind, ...]:
    """The kinds a sample uses, most frequent first; one that a twentieth of the stamped lines has is kept too."""
    counts = [sum(kind.pattern.search(line, 0, kind.within) is not None for line in lines) for kind in every]
    anchored = [(count, kind) for count, kind in zip(counts, every, strict=True) if count and kind.name != "iso_inside"]
    if not anchored:
        return tuple(kind for count, kind in zip(counts, every, strict=True) if count * 2 > len(lines))
    most = max(count for count, _ in anchored)
    kept = [(count, kind) for count, kind in anchored if count * 20 >= most]
    return tuple(kind for _, kind in sorted(kept, key=lambda pair: -pair[0]))


def read_value(value: object, reader: StampReader) -> float | None:
    """A JSON record's time: ISO text, or an epoch in s, ms, us or ns as number or text."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _scaled(value)
    text = str(value)
    found = reader.read(text.encode("utf-8", "replace"))
    if found is not None:
        return found[0]
    return _scaled(float(text)) if re.fullmatch(r"\d{9,19}(?:\.\d{1,9})?", text) else None


def _scaled(number: int | float) -> float | None:
    for limit, divisor in ((1e8, 0.0), (1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9)):
        if number < limit:
            return number / divisor if divisor else None
    return None
