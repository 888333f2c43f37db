"""Rules 3 to 6: the one contiguous span of one evidence text that an excerpt quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from agents.gate.normalise import Normalised, has_forbidden, normalise
from agents.gate.once import once
from agents.gate.tokens import is_cjk, is_informative

LONGEST_EXCERPT = 1000
FEWEST_TOKENS = 3
_MOST_PLACES = 5000  # places of one text at which one excerpt is tried
_MARGIN = 400  # characters

_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ELLIPSIS = re.compile(r"\.\.\.|…|\[\.\.\.\]|……")
_PAIR = re.compile(
    r"""^["']?[A-Za-z_\u4e00-\u9fff][\w.\-/%()]*(?:[ ][\w()%]+){0,3}["']?\s*[=:]\s*"""
    r"""(?P<value>"[^"]*"|'[^']*'|[^\s,;|"'=:][^,;|"'=]{0,80})$"""
)
_NUMERIC = re.compile(r"[-+]?\d[\d.,]*\s?[A-Za-z%]{0,4}")
_NEXT = re.compile(r"""\s*(?:$|[\n,;|)\]}>&"']|["']?[\w.\-]+["']?\s?[=:])""")
_NUMBER_JOINERS = frozenset(".:/-")
_MULTIPLIERS = frozenset("万亿千百兆%")


@dataclass(frozen=True)
class Span:
    """Offsets [start, end) in the evidence's normal form, and how the excerpt was read."""

    start: int
    end: int
    mode: Literal["raw", "unescaped"]


@dataclass(frozen=True)
class Miss:
    """Why an excerpt is no quote: a rule's id."""

    rule: str


def find_span(evidence: Normalised, stored: str, excerpt: str, *, cut_off: bool) -> Span | Miss:
    """`stored` is the text behind `evidence`; `cut_off` says that the text ends where a cap cut it."""
    if not excerpt.strip():
        return Miss("information_floor")
    if has_forbidden(excerpt):
        return Miss("forbidden_characters")
    first = _find(evidence, stored, normalise(excerpt).text, "raw", cut_off)
    if isinstance(first, Span):
        return first
    for unescaped in unescapings(excerpt):
        if has_forbidden(unescaped):
            return Miss("forbidden_characters")
        second = _find(evidence, stored, normalise(unescaped).text, "unescaped", cut_off)
        if isinstance(second, Span) or first.rule == "not_found":
            first = second
        if isinstance(first, Span):
            return first
    if first.rule == "not_found" and _ELLIPSIS.search(excerpt):
        return Miss("spliced_excerpt")
    return first


def unescapings(excerpt: str) -> list[str]:
    """The excerpt with its JSON escapes resolved once, and without the quotes of a JSON string where it has them."""
    found = []
    if "\\" in excerpt:
        found.append(_unescape(excerpt))
    quoted = excerpt.strip()
    if len(quoted) > 2 and quoted[0] == quoted[-1] == '"':
        found.append(_unescape(quoted[1:-1]))
    return found


def _unescape(text: str) -> str:
    resolved = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _ESCAPED[m[2]], text)
    if any("\ud800" <= char <= "\udfff" for char in resolved):
        return resolved.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return resolved


def _find(
    evidence: Normalised, stored: str, needle: str, mode: Literal["raw", "unescaped"], cut_off: bool
) -> Span | Miss:
    if not needle:
        return Miss("information_floor")
    if len(needle) > LONGEST_EXCERPT:
        return Miss("too_long")
    floor = _Floor(evidence, stored, needle)
    miss = Miss("not_found")
    for start in islice(occurrences(evidence.text, needle), _MOST_PLACES):
        end = start + len(needle)
        if not (is_boundary(evidence.text, start) and _is_end(evidence.text, end, cut_off)):
            miss = Miss("token_boundary") if miss.rule == "not_found" else miss
        elif floor.holds(start, end):
            return Span(start, end, mode)
        else:
            miss = Miss("information_floor")
    return miss


@dataclass
class _Floor:
    """Rule 6 for one excerpt: what it says by itself is asked once, whether it is whole at each place."""

    evidence: Normalised
    stored: str
    needle: str

    @once
    def _says_enough(self) -> bool:
        return is_informative(self.needle, FEWEST_TOKENS)

    @once
    def _says_something(self) -> bool:
        return is_informative(self.needle, 1)

    def holds(self, start: int, end: int) -> bool:
        if self._says_enough:
            return True
        return self._says_something and _is_whole(self.evidence, self.stored, start, end)


def occurrences(text: str, needle: str, low: int = 0, high: int | None = None) -> Iterator[int]:
    high = len(text) if high is None else high
    at = text.find(needle, low, high)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1, high)


def _is_end(text: str, end: int, cut_off: bool) -> bool:
    if end == len(text) and cut_off:
        return not _is_word(text[-1]) and not (text[-1] in ".,:-/" and text[-2:-1].isdigit())
    return is_boundary(text, end)


def is_boundary(text: str, at: int) -> bool:
    """Whether a quote may start or end at this offset: not inside a word, a number, a stamp or before a percent sign."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if _is_word(before) and _is_word(after):
        return False
    return not _splits_number(text, at, before, after)


def _is_word(char: str) -> bool:
    return (char.isalnum() or char == "_") and not is_cjk(char)


def _splits_number(text: str, at: int, before: str, after: str) -> bool:
    second = text[at + 1 : at + 2]
    if before.isdigit():
        if after in _MULTIPLIERS or (after == " " and second == "%"):
            return True
        if after == ",":
            return _is_thousands(text, at + 1)
        return after in _NUMBER_JOINERS and second.isdigit()
    if after.isdigit():
        earlier = text[at - 2 : at - 1]
        if before == ",":
            return earlier.isdigit() and _is_thousands(text, at)
        if before in _NUMBER_JOINERS and earlier.isdigit():
            return True
        return before in "+-" and not (earlier.isalnum() or earlier in ")]_\"'")
    return before == " " and after == "%" and text[at - 2 : at - 1].isdigit()


def _is_thousands(text: str, at: int) -> bool:
    return text[at : at + 3].isdigit() and len(text[at : at + 3]) == 3 and not text[at + 3 : at + 4].isdigit()


def _is_whole(evidence: Normalised, stored: str, start: int, end: int) -> bool:
    """Whether the span is a whole line of the stored text, or a whole key-value pair."""
    if start == 0 and end == len(evidence.text):
        return True
    first, last = evidence.stored_range(start, end)
    return _is_line(stored, first, last) or _is_pair(evidence.text[start:end], stored, first, last)


def _is_line(stored: str, first: int, last: int) -> bool:
    """Looks no further than a margin of white space and escapes could reach: one line may be megabytes long."""
    newline = stored.rfind("\n", max(0, first - _MARGIN), first)
    following = stored.find("\n", last, last + _MARGIN)
    if (newline < 0 and first > _MARGIN) or (following < 0 and last + _MARGIN < len(stored)):
        return False
    before = stored[newline + 1 : first]
    after = stored[last : len(stored) if following < 0 else following]
    return not normalise(before + after).text


def _is_pair(quote: str, stored: str, first: int, last: int) -> bool:
    """No word runs into the key, and the value is not the beginning of a longer one."""
    pair = _PAIR.match(quote.rstrip(",;"))
    if pair is None or (first and not (stored[first - 1].isspace() or stored[first - 1] in ",;{[(<|?&\"'")):
        return False
    if quote[-1] in ",;":
        return True
    following = stored[last : last + 60]
    return _NEXT.match(following) is not None or (
        following[0].isspace() and _NUMERIC.fullmatch(pair["value"]) is not None
    )
