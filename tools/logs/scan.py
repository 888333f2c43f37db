"""The scan: reads the files, counts the window's records and those of the time before, and reports what changed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from tools.logs.formats import Parsed
from tools.logs.matching import Matching, NextOf
from tools.logs.read import BROKEN, MAX_LINE, Block, NotALog, Source, blocks, byte_range, open_source
from tools.logs.records import record_around, records
from tools.logs.report import Kept, Report
from tools.logs.request import LogFile, ScanReport, ScanRequest
from tools.logs.templates import Kind, Tally

_SAMPLE_BYTES = 4096
_SAMPLE_LINES = 60
_DISORDER_SECONDS = 600.0
_THROWN = re.compile(rb"^(?:Caused by: )?[\w.$]*(?:Error|Exception|Fault|Panic|panic)\b.*")


class ScanTimedOut(Exception):
    """Raised into a running scan, out of a regular expression that does not come back."""


def _never() -> bool:
    return False


def scan(
    request: ScanRequest,
    *,
    stopped: Callable[[], bool] = _never,
    clock: Callable[[], float] = time.monotonic,
    disarm: Callable[[], None] = lambda: None,
) -> ScanReport:
    """Reads until done, `stopped()` or `request.seconds`; what was counted by then is reported, and that it is not all.

    `disarm` is called before the report is made: from there on ScanTimedOut must not be raised any more.
    """
    run = _Scan(request, Matching.of(request), stopped, clock)
    incomplete = None
    try:
        run.read_all()
    except ScanTimedOut:
        incomplete = f"the regex ran longer than {request.seconds:g} s: simplify it, or filter by text first"
    disarm()
    return Report(request, run.tally, run.kept, run.sources, run.skipped).made(
        incomplete or run.incomplete, run.lines, run.saw_before or not run.looked_at_all, clock() - run.started
    )


@dataclass
class _Scan:
    request: ScanRequest
    matching: Matching
    stopped: Callable[[], bool]
    clock: Callable[[], float]
    tally: Tally = field(default_factory=Tally)
    kept: list[Kept] = field(default_factory=list)
    sources: dict[int, Source] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    incomplete: str | None = None
    lines: int = 0
    saw_before: bool = False
    looked_at_all: bool = True
    started: float = 0.0

    def read_all(self) -> None:
        self.started = self.clock()
        zone: tzinfo = ZoneInfo(self.request.zone) if self.request.zone else UTC
        for index, file in enumerate(self.request.files):
            if self._spent(file):
                return
            try:
                self._read_file(index, file, zone)
            except NotALog as reason:
                self.skipped.append((file.name, str(reason)))
            except BROKEN as error:
                self._broken(index, file, error)

    def _spent(self, file: LogFile) -> bool:
        if self.stopped():
            self.incomplete = f"stopped before {file.name} was read"
        elif self.clock() - self.started > self.request.seconds:
            self.incomplete = (
                f"{self.request.seconds:g} s were spent before all was read (in {file.name}): narrow the window or the glob"
            )
        return self.incomplete is not None

    def _broken(self, index: int, file: LogFile, error: Exception) -> None:
        reason = "gzip file ends in the middle" if isinstance(error, EOFError) else getattr(error, "strerror", "")
        reason = reason or str(error)
        source = self.sources.get(index)
        if source is not None and source.bytes_read:
            source.notes.append(f"{reason}: read up to byte {source.bytes_read}")
        else:
            self.skipped.append((file.name, reason))

    def _read_file(self, index: int, file: LogFile, zone: tzinfo) -> None:
        source = open_source(file, zone)
        self.sources[index] = source
        start, stop = self._wanted_bytes(source)
        if start >= (stop if stop is not None else start + 1):
            return
        wanted = self.matching.needles(source)
        for block in blocks(source, start, stop):
            if self._spent(file):
                return
            if wanted:
                self._search(index, source, block, wanted)
            else:
                self._take_all(index, source, block)
            if file.gzip and self._past_the_end(source, block):
                return
            self.tally.keep_small()
        if stop is not None and source.bytes_read < stop - start:
            source.notes.append("the file became shorter while it was read")

    def _wanted_bytes(self, source: Source) -> tuple[int, int | None]:
        request = self.request
        outside = (source.first is not None and source.first >= request.until) or (
            source.last is not None and source.last < request.before_from
        )
        if not self.matching.can_match(source) or (outside and (source.sorted or source.file.size < 1 << 21)):
            return 0, 0
        if source.file.gzip:
            return 0, None
        return byte_range(source, request.before_from, request.until)

    def _past_the_end(self, source: Source, block: Block) -> bool:
        """A packed file cannot be cut beforehand; it is left once a block ends well past the window."""
        tail = bytes(block.data[max(0, block.length - MAX_LINE) : block.length]).split(b"\n")[1:]
        last = next((moment for line in reversed(tail) if (moment := source.reader.moment(line)) is not None), None)
        source.last = last if source.last is None else max(source.last, last or 0.0)
        return last is not None and last > self.request.until + _DISORDER_SECONDS

    # ---------------------------------------------------------------- one block

    def _take_all(self, index: int, source: Source, block: Block) -> None:
        offset = block.offset
        data = bytes(memoryview(block.data)[: block.length])
        self.lines += data.count(b"\n")
        for parsed, lines, size in records(source.reader, data):
            if parsed is not None:
                self._take(index, source, parsed, lines, offset)
            offset += size

    def _search(self, index: int, source: Source, block: Block, wanted: tuple[bytes, ...]) -> None:
        self.looked_at_all = False
        places = NextOf(wanted).places(block.data, block.length)
        place = next(places, None)
        while place is not None:
            start, end = record_around(source.reader, block.data, block.length, place)
            lines = bytes(block.data[start:end]).rstrip(b"\n").split(b"\n")
            parsed = source.reader.parse(lines[0])
            self.lines += 1
            if parsed is not None:
                self._take(index, source, parsed, lines, block.offset + start)
            try:
                place = places.send(end)
            except StopIteration:
                return

    def _take(self, index: int, source: Source, parsed: Parsed, lines: list[bytes], offset: int) -> None:
        moment, named, level, text = parsed
        request = self.request
        if not request.before_from <= moment < request.until:
            return
        if moment < request.since:
            self.saw_before = True
        service = named or source.file.service
        if request.service is not None and not (self.matching.service(service) or self.matching.whole_file(source.file)):
            return
        if (request.text or request.regex) and not self.matching.words(b"\n".join(lines), text):
            return
        if len(lines) > 1:
            text = f"{text} {_thrown_in(lines)}"
        kind = self.tally.kind(service, level, text)
        if self.matching.levels is not None and kind.level not in self.matching.levels:
            return
        if moment < request.since:
            _count_before(kind, moment, index, offset, lines)
            return
        if _count(kind, moment):
            kind.file, kind.offset, kind.at, kind.sample = index, offset, moment, _sample(lines)
        if len(self.kept) <= request.limit:
            self.kept.append(Kept(moment, service, kind.level, index, offset, _sample(lines)))


def _count(kind: Kind, moment: float) -> bool:
    """True where this record is the earliest of its kind in the window so far."""
    kind.count += 1
    if kind.count == 1:
        kind.first = kind.last = moment
        return True
    if moment > kind.last:
        kind.last = moment
    elif moment < kind.first:
        kind.first = moment
        return True
    return False


def _count_before(kind: Kind, moment: float, index: int, offset: int, lines: list[bytes]) -> None:
    kind.before += 1
    if kind.count:
        return
    if kind.before == 1:
        kind.first = kind.last = moment
        kind.file, kind.offset, kind.at, kind.sample = index, offset, moment, _sample(lines)
    kind.first, kind.last = min(kind.first, moment), max(kind.last, moment)


def _sample(lines: list[bytes]) -> bytes:
    return b"\n".join(lines[:_SAMPLE_LINES])[:_SAMPLE_BYTES] if len(lines) > 1 else lines[0][:_SAMPLE_BYTES]


def _thrown_in(lines: list[bytes]) -> str:
    """The exception that a stack trace is about; two traces under one message are two kinds of line."""
    found = [line for line in lines[1:_SAMPLE_LINES] if _THROWN.match(line)]
    return found[-1][:200].decode("utf-8", "replace") if found else ""
