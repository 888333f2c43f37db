"""Lines as records: a line without a time of its own belongs to the one before (a stack trace, a wrapped message)."""

from __future__ import annotations

from collections.abc import Iterator

from tools.logs.formats import Parsed, Reader


def records(reader: Reader, data: bytes) -> Iterator[tuple[Parsed | None, list[bytes], int]]:
    """Records with their lines and size in bytes; lines before the first record come with None."""
    parse = reader.parse
    current: Parsed | None = None
    lines: list[bytes] = []
    size = 0
    for line in data.removesuffix(b"\n").split(b"\n"):
        parsed = parse(line)
        if parsed is None:
            lines.append(line)
            size += len(line) + 1
            continue
        if size:
            yield current, lines, size
        current, lines, size = parsed, [line], len(line) + 1
    if size:
        yield current, lines, size


def record_around(reader: Reader, data: bytearray, length: int, place: int) -> tuple[int, int]:
    """Start and end of the record that holds the byte at `place`."""
    start = data.rfind(b"\n", 0, place) + 1
    end = _line_end(data, place, length)
    if not reader.multiline:
        return start, end
    parse, steps = reader.parse, 0
    while start > 0 and steps < 500 and parse(bytes(data[start : _line_end(data, start, length)])) is None:
        start, steps = data.rfind(b"\n", 0, start - 1) + 1, steps + 1
    while end < length and steps < 500:
        after = _line_end(data, end, length)
        if parse(bytes(data[end:after])) is not None:
            break
        end, steps = after, steps + 1
    return start, end


def _line_end(data: bytearray, place: int, length: int) -> int:
    end = data.find(b"\n", place, length)
    return end + 1 if end >= 0 else length
