"""One normal form for excerpts and evidence, and the way back to the text as stored.

No more than rule 3 allows: escape sequences, zero-width characters and soft hyphens go, Unicode is composed (NFC, not
NFKC: 10² must not become 102), look-alike ASCII, quotes, dashes and spaces are mapped, white space collapses. Case,
digits, signs and punctuation stay.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field

_ANSI = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]"
_INVISIBLE = r"[\u00ad\u200b-\u200d\u2060\ufeff]"
_DROPPED = rf"{_ANSI}|{_INVISIBLE}"
# A run to rewrite: anything dropped, or white space that is not one plain space between two visible characters.
_RUN = re.compile(rf"(?:(?:{_DROPPED})|[^\S ]| (?=\s|{_DROPPED}))(?:\s|{_DROPPED})*")
_SPACES = re.compile("  +")
_DROPPED_ALL = re.compile(_DROPPED)
_FORBIDDEN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")

_MAPPED = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_MAPPED |= dict.fromkeys([*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63], ord("-"))
_MAPPED |= dict.fromkeys(range(0x2018, 0x201C), ord("'"))
_MAPPED |= dict.fromkeys(range(0x201C, 0x2020), ord('"'))


@dataclass(frozen=True)
class Normalised:
    """`text` is the normal form; `stored` maps an offset in it back into the text as it was given."""

    text: str
    _starts: list[int] = field(default_factory=lambda: [0])
    _shifts: list[int] = field(default_factory=lambda: [0])
    _composed: list[int] | None = None

    def stored(self, offset: int) -> int:
        shifted = offset + self._shifts[bisect_right(self._starts, offset) - 1]
        return shifted if self._composed is None else self._composed[shifted]

    def stored_range(self, start: int, end: int) -> tuple[int, int]:
        """The stored [start, end) behind normal [start, end): the end is that of the last character kept."""
        last = self.stored(end - 1)
        if self._composed is None:
            return self.stored(start), last + 1
        return self.stored(start), self._composed[end - 1 + self._shifts[bisect_right(self._starts, end - 1) - 1] + 1]


def normalise(given: str) -> Normalised:
    text, composed = given, None
    if not given.isascii():
        if not unicodedata.is_normalized("NFC", given):
            text, composed = _compose(given)
        text = text.translate(_MAPPED)
    return _rewrite(text, composed)


def has_forbidden(text: str) -> bool:
    """Whether the text holds bidi controls or tag characters, which can hide or reorder what a person reads."""
    return not text.isascii() and _FORBIDDEN.search(text) is not None


def clear_stretches(text: str) -> list[str]:
    """The pieces of the text between such characters: what of it can be quoted."""
    return _FORBIDDEN.split(text)


def _rewrite(text: str, composed: list[int] | None) -> Normalised:
    """Drop and collapse; every rewritten run starts a new segment with its own shift."""
    plain = text.isprintable()  # nothing to drop, and no white space but spaces
    if plain and "  " not in text:
        return _stripped(text, [0], [0], composed)
    pieces: list[str] = []
    starts, shifts = [0], [0]
    done = length = 0
    for run in (_SPACES if plain else _RUN).finditer(text):
        kept = text[done : run.start()]
        pieces.append(kept)
        length += len(kept)
        space = " " if plain or _DROPPED_ALL.sub("", run[0]) else ""
        pieces.append(space)
        length += len(space)
        done = run.end()
        starts.append(length)
        shifts.append(done - length)
    pieces.append(text[done:])
    return _stripped("".join(pieces), starts, shifts, composed)


def _stripped(text: str, starts: list[int], shifts: list[int], composed: list[int] | None) -> Normalised:
    if text[:1] == " ":
        lead = len(text) - len(text.lstrip(" "))
        starts = [0, *[max(0, start - lead) for start in starts[1:]]]
        shifts = [shift + lead for shift in shifts]
    return Normalised(text.strip(" "), starts, shifts, composed)


def _compose(given: str) -> tuple[str, list[int]]:
    """NFC cluster by cluster, so that every composed character knows where it came from (the slow, rare path)."""
    composed: list[str] = []
    origin: list[int] = []
    start = 0
    for end in range(1, len(given) + 1):
        if end < len(given) and _joins(given[start:end], given[end]):
            continue
        cluster = unicodedata.normalize("NFC", given[start:end])
        composed.append(cluster)
        origin.extend([start] * len(cluster))
        start = end
    origin.append(len(given))
    return "".join(composed), origin


def _joins(cluster: str, following: str) -> bool:
    if following.isascii():
        return False
    if unicodedata.combining(following):
        return True
    return unicodedata.normalize("NFC", cluster + following) != unicodedata.normalize(
        "NFC", cluster
    ) + unicodedata.normalize("NFC", following)
