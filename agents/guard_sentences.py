"""Sentences of an answer, English and Chinese: never cut inside a code span, a quote or a number.

A semicolon ends none: half of such a sentence may mean something else than the whole.
"""

from __future__ import annotations

import re

_ENCLOSED = re.compile(
    r"```.*?```|`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|「[^」\n]+」|『[^』\n]+』|«[^»\n]+»|《[^》\n]+》", re.DOTALL
)
_MARKS = r"(?:\s*(?:\[\d+(?:\s*[,，、-]\s*\d+)*\]|【\d+】))*"
_END = re.compile(rf"(?:[。！？]+|[.!?]+[\"'”’)\]]*(?=\s|$|\s*\[\d)){_MARKS}|\n+")
_NO_END = re.compile(
    r"(?:(?:^|\s|\()(?i:e\.g|i\.e|vs|etc|approx|no|cf|incl|fig|sec|min|max)|(?:^|\n)\s*\d{1,2}|\b[A-Z])\.$"
)


def sentences(text: str) -> list[str]:
    """Pieces that joined give the text again; a mark such as [1] after the full stop belongs to its sentence."""
    closed = [match.span() for match in _ENCLOSED.finditer(text)]
    pieces, start = [], 0
    for match in _END.finditer(text):
        inside = any(low < match.start() < high - 1 for low, high in closed)
        if inside or _NO_END.search(text[start : match.start() + 1]):
            continue
        pieces.append(text[start : match.end()])
        start = match.end()
    pieces.append(text[start:])
    return [piece for piece in pieces if piece]
