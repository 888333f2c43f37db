"""Which parts of a claim are verbatim words of its evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agents.gate.facts import Passage
from agents.gate.spans import FEWEST_TOKENS, is_boundary, occurrences, unescapings
from agents.gate.tokens import CJK, is_informative

_MARKED = re.compile(
    r"\"([^\"]+)\"|(?<!\w)'([^']{2,})'(?!\w)|`([^`]+)`|「([^」]+)」|『([^』]+)』|«([^»]+)»|《([^》]+)》"
)
_TOKEN = re.compile(rf"[A-Za-z0-9_]+|[{CJK}]|[^\s]")
_SHORTEST_RUN = 12


def quoted_ranges(claim: str, passages: Sequence[Passage]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(verbatim, marked): runs long enough to be quotes by themselves, and quotation marks around the evidence's words.

    A marked quote may be a single word: it is no wording of the claim's own, but its number still needs its key.
    """
    verbatim = list(_runs(claim, passages))
    marked = [
        (start, end)
        for start, end, words in marked_quotes(claim)
        if any(stands_in(words, passage) for passage in passages)
    ]
    return verbatim, marked


def marked_quotes(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, words) of what stands between quotation marks, marks included in the range."""
    for match in _MARKED.finditer(text):
        yield match.start(), match.end(), match[match.lastindex or 0]


def stands_in(words: str, passage: Passage) -> bool:
    """Whether a passage bears the words as they are, or with their JSON escapes resolved."""
    forms = (words, *unescapings(words))
    return any(_stands(form.strip(" .,;:"), passage) for form in forms if form.strip(" .,;:"))


def _stands(words: str, passage: Passage) -> bool:
    return any(
        is_boundary(passage.text, at) and is_boundary(passage.text, at + len(words))
        for at in occurrences(passage.text, words, passage.low, passage.high)
    )


def _runs(claim: str, passages: Sequence[Passage]) -> Iterator[tuple[int, int]]:
    """Greedy longest runs of whole tokens that stand in one passage as they do in the claim."""
    tokens = [match.span() for match in _TOKEN.finditer(claim)]
    at = 0
    while at < len(tokens) and len(claim) - tokens[at][0] >= _SHORTEST_RUN:
        start = tokens[at][0]
        head = claim[start : start + _SHORTEST_RUN]
        end = at
        for passage in passages:
            if passage.text.find(head, passage.low, passage.high) >= 0:
                end = max(end, _reach(claim, tokens, at, passage))
        run = claim[start : tokens[end - 1][1]] if end > at else ""
        if len(run) >= _SHORTEST_RUN and is_informative(run, FEWEST_TOKENS):
            yield start, tokens[end - 1][1]
            at = end
        else:
            at += 1


def _reach(claim: str, tokens: Sequence[tuple[int, int]], at: int, passage: Passage) -> int:
    """The token after the longest run from `at` that stands in the passage at token boundaries."""
    start = tokens[at][0]
    head = claim[start : start + _SHORTEST_RUN]
    best = at
    for place in occurrences(passage.text, head, passage.low, passage.high):
        if not is_boundary(passage.text, place):
            continue
        length = _common(claim, start, passage.text, place, passage.high)
        reach = at
        while reach < len(tokens) and tokens[reach][1] - start <= length:
            reach += 1
        while reach > at and not is_boundary(passage.text, place + tokens[reach - 1][1] - start):
            reach -= 1
        best = max(best, reach)
    return best


def _common(left: str, start: int, right: str, place: int, limit: int) -> int:
    most = min(len(left) - start, limit - place)
    length = 0
    while length < most and left[start + length] == right[place + length]:
        length += 1
    return length
