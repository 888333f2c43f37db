"""Opening one log file: what it is, which bytes of it a window needs, and those bytes in blocks of whole records."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import IO, cast

from tools.logs.find import day_in
from tools.logs.formats import Reader, choose_reader
from tools.logs.request import LogFile
from tools.logs.timestamps import Clock

BLOCK = 1 << 20
MAX_LINE = 1 << 16
_HEAD = 1 << 16
_TAIL = 1 << 14
_PROBE = 1 << 14
_RECORD = 1 << 18  # a record longer than this is cut at a line's end
_PROBES = 24
_CONTROLS = bytes((*range(9), *range(14, 27)))
# Threads and clients write a little out of order, and merged files more so: the cut keeps this much around the window.
_DISORDER_SECONDS = 60.0
# What a damaged or vanishing file raises while it is read.
BROKEN = (OSError, EOFError, zlib.error)


class NotALog(Exception):
    """The file is left out; the message is the reason."""


@dataclass
class Source:
    """An opened log: how to read it and what it covers. `first` and `last` are seconds since the epoch."""

    file: LogFile
    reader: Reader
    head: bytes
    first: float | None
    last: float | None
    sorted: bool = False
    notes: list[str] = field(default_factory=list)
    bytes_read: int = 0


def open_source(file: LogFile, zone: tzinfo) -> Source:
    """Looks at the head and the tail. Raises NotALog with the reason, or what BROKEN names."""
    with opened(file) as stream:
        head = _read_some(stream, _HEAD)
    tail = b"" if file.gzip else _read_at(file.path, max(len(head), file.size - _TAIL), _TAIL)
    _must_be_text(head)
    clock = Clock(zone, datetime.fromtimestamp(file.modified, UTC), day_in(file.name))
    reader = choose_reader([*_lines(head, whole=len(head) < _HEAD)[:100], *_lines(tail, whole=True)[1:][-50:]], clock)
    if reader is None:
        raise NotALog("no line with a time stamp of a known form")
    first = next(_moments(reader, head), None)
    last = max(_moments(reader, tail if tail else head), default=None)
    source = Source(file, reader, head, first, None if file.gzip and len(head) >= _HEAD else last)
    source.sorted = not file.gzip and file.size > 2 * BLOCK and _is_sorted(source)
    return source


def opened(file: LogFile) -> IO[bytes]:
    """The file's bytes, unpacked where the first two bytes say gzip, whatever the name says."""
    if _read_at(file.path, 0, 2) == b"\x1f\x8b":
        return cast(IO[bytes], gzip.open(file.path))
    return Path(file.path).open("rb", buffering=0)


def assumptions(source: Source) -> list[str]:
    """What the file did not state and was assumed, in words."""
    stamps = source.reader.stamps
    said = []
    if stamps.zoneless:
        said.append(f"time zone not stated; read as {stamps.clock.zone}")
    if "year" in stamps.lacks:
        said.append("year not stated; taken from the file's last write")
    if "date" in stamps.lacks:
        origin = "the file's name" if stamps.clock.day else "the file's last write"
        said.append(f"date not stated; taken from {origin}")
    return said


def byte_range(source: Source, start: float, stop: float) -> tuple[int, int]:
    """The bytes that can hold lines of [start, stop): a binary search where the file is sorted, else all of it."""
    size = source.file.size
    if not source.sorted:
        return 0, size
    return _bisect(source, start - _DISORDER_SECONDS)[0], _bisect(source, stop + _DISORDER_SECONDS)[1]


# ---------------------------------------------------------------- blocks


@dataclass
class Block:
    """`data[:length]` is whole lines (whole records, where records may span lines), `offset` their place in the file."""

    offset: int
    data: bytearray
    length: int


def blocks(source: Source, start: int, stop: int | None) -> Iterator[Block]:
    """The bytes [start, stop) in blocks of about 1 MB that share one buffer: use each before asking for the next."""
    with opened(source.file) as stream:
        if start:
            stream.seek(start)
        yield from _Cutter(source, stream, start, stop).blocks()


class _Cutter:
    def __init__(self, source: Source, stream: IO[bytes], start: int, stop: int | None) -> None:
        self._source, self._stream, self._stop = source, stream, stop
        self._buffer = bytearray(3 * BLOCK)
        self._have, self._offset, self._position = 0, start, start
        self._skip_first_line = start > 0

    def blocks(self) -> Iterator[Block]:
        try:
            yield from self._blocks()
        except BROKEN:
            if self._have:  # what came before the damage counts
                yield Block(self._offset, self._buffer, self._have)
            raise

    def _blocks(self) -> Iterator[Block]:
        while self._fill():
            end = self._buffer.rfind(b"\n", 0, self._have) + 1
            if self._skip_first_line and end:
                self._drop(self._buffer.find(b"\n", 0, self._have) + 1)
                self._skip_first_line = False
                continue
            if end:
                end = self._last_record_start(end)
                yield Block(self._offset, self._buffer, end)
                self._drop(end)
            elif self._have >= BLOCK:
                yield self._cut_long_line()
        if self._have:
            yield Block(self._offset, self._buffer, self._have)

    def _fill(self) -> bool:
        want = BLOCK if self._stop is None else min(BLOCK, self._stop - self._position)
        room = memoryview(self._buffer)[self._have : self._have + want]
        count = self._into(room) if want > 0 else 0
        self._position += count
        self._source.bytes_read += count
        self._have += count
        return bool(count)

    def _into(self, room: memoryview) -> int:
        """Some bytes at least, while there are any. A packed file gives what it can before it raises."""
        if not isinstance(self._stream, gzip.GzipFile):
            return int(self._stream.readinto(room))  # type: ignore[attr-defined]
        part = self._stream.read1(len(room))
        room[: len(part)] = part
        return len(part)

    def _drop(self, count: int) -> None:
        self._buffer[: self._have - count] = self._buffer[count : self._have]
        self._have -= count
        self._offset += count

    def _last_record_start(self, end: int) -> int:
        """The last record waits for the next block, which may hold more of its lines."""
        if not self._source.reader.multiline:
            return end
        place = end
        while place > 0 and end - place < _RECORD:
            previous = self._buffer.rfind(b"\n", 0, place - 1) + 1
            if self._source.reader.parse(bytes(self._buffer[previous : place - 1][:MAX_LINE])) is not None:
                return previous or end
            place = previous
        return end

    def _cut_long_line(self) -> Block:
        """The first 64 kB of a line that is longer than a block; the rest of it is passed over."""
        note = f"a line at byte {self._offset} is over {BLOCK >> 20} MB: only its first {MAX_LINE >> 10} kB were read"
        self._source.notes.append(note)
        block = Block(self._offset, bytearray(self._buffer[:MAX_LINE]), MAX_LINE)
        while True:
            end = self._buffer.find(b"\n", 0, self._have) + 1
            self._drop(end or self._have)
            if end or not self._fill():
                return block


# ---------------------------------------------------------------- looking at a file


def _read_some(stream: IO[bytes], count: int) -> bytes:
    parts: list[bytes] = []
    try:
        while count > 0 and (part := getattr(stream, "read1", stream.read)(count)):
            parts.append(part)
            count -= len(part)
    except BROKEN:
        if not parts:
            raise
    return b"".join(parts)


def _read_at(path: str, offset: int, count: int) -> bytes:
    with Path(path).open("rb", buffering=0) as stream:
        stream.seek(offset)
        return stream.read(count)


def _must_be_text(head: bytes) -> None:
    if not head:
        raise NotALog("empty")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise NotALog("UTF-16 text: convert it to UTF-8")
    # A file that was copied and truncated under its writer begins with NULs; a crash leaves some in the middle.
    start = head.lstrip(b"\0")[:4096]
    odd = len(start) - len(start.translate(None, _CONTROLS))
    if not start or odd * 20 > len(start):
        raise NotALog("binary, not text")


def _lines(data: bytes, *, whole: bool) -> list[bytes]:
    lines = data.split(b"\n")
    kept = lines if whole or len(lines) == 1 else lines[:-1]
    return [line[:MAX_LINE] for line in kept]


def _moments(reader: Reader, data: bytes) -> Iterator[float]:
    return (moment for line in data.split(b"\n") if (moment := reader.moment(line[:MAX_LINE])) is not None)


def _moment_at(source: Source, offset: int) -> float | None:
    """The time of the first record that begins after this byte."""
    for size in (_PROBE, 16 * _PROBE):
        data = _read_at(source.file.path, offset, size)
        _, _, rest = data.partition(b"\n") if offset else (b"", b"", data)
        complete = rest[: rest.rfind(b"\n") + 1]
        moment = next(_moments(source.reader, complete), None)
        if moment is not None:
            return moment
    return None


def _is_sorted(source: Source) -> bool:
    step = source.file.size // _PROBES
    seen = [source.first, *(_moment_at(source, step * at) for at in range(1, _PROBES)), source.last]
    times = [moment for moment in seen if moment is not None]
    ordered = all(later >= earlier - _DISORDER_SECONDS for earlier, later in zip(times, times[1:], strict=False))
    return ordered and len(times) > _PROBES // 2


def _bisect(source: Source, target: float) -> tuple[int, int]:
    """Bytes (low, high): records before low are earlier than target, those from high on are not."""
    low, high = 0, source.file.size
    while high - low > _HEAD:
        middle = (low + high) // 2
        moment = _moment_at(source, middle)
        if moment is None:
            break
        low, high = (middle, high) if moment < target else (low, middle)
    return low, high


