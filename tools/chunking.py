"""Markdown → chunks: by heading, small enough to embed, and each a verbatim slice of the document.

Code fences and tables stay whole up to `HARD_LIMIT`; longer paragraphs are cut between sentences. A short section joins
the next one. A heading is not text of its own section: it stands in the breadcrumb ("Pool exhausted > Check").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

LIMIT = 650
SMALL = 120
HARD_LIMIT = 4000
BREADCRUMB_LIMIT = 400

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-*:?[ \t]*)+$")
_SENTENCE_END = re.compile(r"(?<=[。！？；])|(?<=[.!?])(?=\s)|(?<=\n)")


@dataclass(frozen=True)
class TextChunk:
    """`breadcrumb` is the path of headings, outermost first."""

    breadcrumb: str
    text: str


@dataclass(frozen=True)
class _Span:
    """A piece of the body by offsets. A `whole` one (fence, table) is cut only past HARD_LIMIT."""

    start: int
    end: int
    path: tuple[str, ...]
    whole: bool = False

    @property
    def size(self) -> int:
        return self.end - self.start


def chunk_markdown(body: str) -> list[TextChunk]:
    """The chunks of a document's body in order; none for a body without text."""
    pieces = [piece for block in _blocks(body) for piece in _cut(body, block)]
    chunks = (_chunk(body, span) for span in _packed(pieces))
    return [chunk for chunk in chunks if chunk.text]


def first_heading(body: str) -> str | None:
    """The text of the first heading outside code, or None."""
    for span in _blocks(body):
        if span.path:
            return span.path[0]
    return None


def _blocks(body: str) -> Iterator[_Span]:
    """Fences, tables, paragraphs (a list is one) and headings without text, in order."""
    lines = body.splitlines(keepends=True)
    path: list[tuple[int, str]] = []
    offset = index = 0
    bare_heading: _Span | None = None
    while index < len(lines):
        heading = _HEADING.match(lines[index].rstrip("\r\n"))
        count, whole = (1, False) if heading else _extent(lines, index)
        end = offset + sum(len(line) for line in lines[index : index + count])
        if heading:
            level = len(heading[1])
            if bare_heading and len(path) and level <= path[-1][0]:
                yield bare_heading
            path = [(depth, text) for depth, text in path if depth < level] + [(level, heading[2])]
            bare_heading = _Span(offset, end, _names(path))
        elif lines[index].strip():
            bare_heading = None
            yield _Span(offset, end, _names(path), whole)
        offset, index = end, index + count
    if bare_heading:
        yield bare_heading


def _names(path: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(text for _, text in path if text)


def _extent(lines: list[str], index: int) -> tuple[int, bool]:
    """How many lines the block at `index` has, and whether it must stay whole."""
    fence = _FENCE.match(lines[index])
    if fence:
        return _fence_length(lines, index, fence[1]), True
    count = 1
    while index + count < len(lines) and _continues(lines[index + count]) and lines[index].strip():
        count += 1
    table = any(_TABLE_RULE.match(line.rstrip("\r\n")) for line in lines[index : index + count][1:2])
    return count, table


def _continues(line: str) -> bool:
    return bool(line.strip()) and not _HEADING.match(line.rstrip("\r\n")) and not _FENCE.match(line)


def _fence_length(lines: list[str], index: int, mark: str) -> int:
    closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}\s*$")
    for count, line in enumerate(lines[index + 1 :], start=2):
        if closing.match(line):
            return count
    return len(lines) - index


def _cut(body: str, block: _Span) -> Iterator[_Span]:
    """The block itself, or its pieces where it is too long: at line ends for code, between sentences for prose."""
    if block.size <= (HARD_LIMIT if block.whole else LIMIT):
        yield block
        return
    ends = _line_ends(body, block) if block.whole else _sentence_ends(body, block)
    limit = HARD_LIMIT if block.whole else LIMIT
    start = last = block.start
    for end in (*ends, block.end):
        if end - start > limit and last > start:
            yield replace(block, start=start, end=last)
            start = last
        while end - start > HARD_LIMIT:
            yield replace(block, start=start, end=start + HARD_LIMIT)
            start += HARD_LIMIT
        last = end
    if block.end > start:
        yield replace(block, start=start)


def _line_ends(body: str, block: _Span) -> list[int]:
    return [match.end() for match in re.compile("\n").finditer(body, block.start, block.end)]


def _sentence_ends(body: str, block: _Span) -> list[int]:
    return [match.start() for match in _SENTENCE_END.finditer(body, block.start, block.end)]


def _packed(pieces: list[_Span]) -> Iterator[_Span]:
    """Neighbours of one section joined up to LIMIT; a SMALL one also with the next section."""
    current: _Span | None = None
    for piece in pieces:
        if current and _joins(current, piece):
            current = replace(current, end=piece.end, path=_common(current.path, piece.path))
            continue
        if current:
            yield current
        current = piece
    if current:
        yield current


def _joins(current: _Span, piece: _Span) -> bool:
    if piece.end - current.start > LIMIT:
        return False
    related = bool(_common(current.path, piece.path))
    return current.path == piece.path or (related and current.size <= SMALL)


def _common(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    count = 0
    while count < min(len(left), len(right)) and left[count] == right[count]:
        count += 1
    return left[:count]


def _chunk(body: str, span: _Span) -> TextChunk:
    return TextChunk(" > ".join(span.path)[:BREADCRUMB_LIMIT], _trimmed(body[span.start : span.end]))


def _trimmed(text: str) -> str:
    """Without blank lines around; the indent of the first line (a list, code) stays."""
    return text.strip("\r\n").rstrip() if text.strip() else ""
