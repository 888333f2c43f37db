"""Which words name a number: the key before it, or its neighbours inside the clause."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from agents.gate.tokens import CJK, bigrams, is_cjk, parts, stem
from agents.gate.words import CONCEPTS, SIDES, STOP_WORDS

_SEPARATOR = re.compile(r"""([=:])\s?["'\[(<{]{0,2}\s?[<>~≈]?$""")
_KEY_MARKS = frozenset("_.-/%")
_KEY_REACH = 60  # characters
_CJK_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(rf"[A-Za-z_][A-Za-z0-9_]*|[{CJK}]+")
_BREAK = re.compile(r"[,;|()\[\]{}<>，。；、（）\n]|\s-\s")
_MEASURES = frozenset("次个条台秒分倍笔项种名行")
_ZERO_WORDS = re.compile(r"(?<![A-Za-z])(?:none|no|zero|nothing)(?![A-Za-z])|没有|未|无")
_REACH = 45  # characters
_CLOSE = 4  # words a side

_MEANING = {stem(word) if word.isascii() else word: concept for concept, words in CONCEPTS.items() for word in words}
_SIDES = {side: frozenset(stem(word) if word.isascii() else word for word in words) for side, words in SIDES.items()}
_FROM = re.compile(r"(?:\b[Ff]rom|从|由)\s?(?:about |the )?$")
_TO = re.compile(r"(?:\bto|到|至|为|成)了?\s?(?:about |a )?$")
_ZH_MEANINGS = {word: concept for word, concept in _MEANING.items() if not word.isascii()}


class Anchor(NamedTuple):
    """Where a number stands: words go to the nearest one."""

    start: int
    end: int


class Context(NamedTuple):
    """`words` are stems and CJK bigrams, `meanings` the concepts they stand for (count, before, max, …)."""

    words: frozenset[str] = frozenset()
    meanings: frozenset[str] = frozenset()

    def joined(self, other: Context) -> Context:
        return Context(self.words | other.words, self.meanings | other.meanings)


def key_before(text: str, start: int) -> list[str]:
    """The parts of the key of `key=…`, `"key": …`, `Some Key: …`, `key(ms)=…` that ends right before `start`."""
    separator = _SEPARATOR.search(text, max(0, start - 6), start)
    if separator is None:
        return []
    head = text[max(0, start - _KEY_REACH) : separator.start()].rstrip(" \"']")
    units: list[str] = []
    if head.endswith(")") and "(" in head:
        head, _, unit = head[:-1].rpartition("(")
        units = [unit]
    words = _last_words(head.rstrip(), 3 if separator[1] == ":" else 1)
    if words and words[-1].endswith("%"):
        units = ["%"]
    found = [part for word in words for part in parts(word)]
    found += [pair for word in words for run in _CJK_RUN.findall(word) for pair in bigrams(run)]
    return found + [unit for unit in units if found and (unit == "%" or unit.lower() not in found)]


def _last_words(head: str, most: int) -> list[str]:
    """Up to `most` words that end the text, single spaces between them."""
    words: list[str] = []
    end = len(head)
    while len(words) < most and end > 0:
        at = end
        while at > 0 and (head[at - 1].isalnum() or head[at - 1] in _KEY_MARKS):
            at -= 1
        word = head[at:end].lstrip("-./%")
        if not word or word[0].isdigit():
            break
        words.insert(0, word)
        if at == 0 or head[at - 1] != " ":
            break
        end = at - 1
    return words


@lru_cache(maxsize=4096)
def context_of(words: tuple[str, ...]) -> Context:
    stems_ = frozenset(stem(word) if word.isascii() else word for word in words)
    meanings = {_MEANING[word] for word in stems_ if word in _MEANING}
    meanings |= {f"{side}…" for side, known in _SIDES.items() if stems_ & known}
    return Context(stems_, frozenset(meanings))


def meanings_of(words: Iterable[str]) -> frozenset[str]:
    """The concepts (count, before, max, …) that stems or CJK bigrams stand for."""
    return frozenset(_MEANING[word] for word in words if word in _MEANING)


def neighbours(text: str, anchors: Sequence[Anchor], *, claim: bool) -> list[Context]:
    """For each anchor the words nearest to it, within its clause."""
    extra = [Anchor(match.start(), match.end()) for match in _ZERO_WORDS.finditer(text)] if claim else []
    everyone = sorted([*anchors, *extra], key=lambda anchor: anchor.start)
    low, high = max(0, everyone[0].start - _REACH), everyone[-1].end + _REACH
    stops = [match.start() for match in _BREAK.finditer(text, low, high)]
    gathered: dict[Anchor, list[tuple[int, str]]] = {anchor: [] for anchor in everyone}
    ends = [anchor.end for anchor in everyone]
    for start, end, word in _pieces(text, low, high):
        owner = _nearest(start, end, everyone, ends, stops)
        if owner is not None:
            distance = max(owner.start - end, start - owner.end)
            gathered[owner].append((distance if start < owner.start else -distance - 1, word))
    contexts = [_context(gathered[anchor]) for anchor in anchors]
    return _with_sides(text, anchors, contexts) if claim else contexts


def _with_sides(text: str, anchors: Sequence[Anchor], contexts: Sequence[Context]) -> list[Context]:
    """from A to B, 从 A 到 B: which side each number is on. A lone "to B" says too little."""
    sided = [Context(one.words, one.meanings - {"from…", "to…"}) for one in contexts]
    for at, anchor in enumerate(anchors[:-1]):
        if _FROM.search(text, max(0, anchor.start - 12), anchor.start) and _TO.search(
            text, anchor.end, anchors[at + 1].start
        ):
            sided[at] = Context(sided[at].words, sided[at].meanings | {"from…"})
            sided[at + 1] = Context(sided[at + 1].words, sided[at + 1].meanings | {"to…"})
    return sided


def _pieces(text: str, low: int, high: int) -> list[tuple[int, int, str]]:
    """Words with their places; a measure word right after a number is a word of its own (19次之后)."""
    found = []
    for match in _WORD.finditer(text, low, high):
        word, start = match[0], match.start()
        if len(word) > 1 and word[0] in _MEASURES and text[max(0, start - 2) : start].strip()[-1:].isdigit():
            found.append((start, start + 1, word[0]))
            word, start = word[1:], start + 1
        if is_cjk(word[0]) or word.lower() not in STOP_WORDS:
            found.append((start, match.end(), word))
    return found


def _nearest(
    start: int, end: int, anchors: Sequence[Anchor], ends: Sequence[int], stops: Sequence[int]
) -> Anchor | None:
    at = bisect_right(ends, start)
    left = anchors[at - 1] if at else None
    right = anchors[at] if at < len(anchors) and anchors[at].start >= end else None
    gap_left = start - left.end if left else _REACH + 1
    gap_right = right.start - end if right else _REACH + 1
    if gap_left > _REACH or (left and _stopped(left.end, start, stops)):
        left = None
    if gap_right > _REACH or (left and gap_left < gap_right) or (right and _stopped(end, right.start, stops)):
        return left
    if left and gap_left == gap_right:
        return right if _key_comes_first(anchors, start, stops) else left
    return right


def _stopped(low: int, high: int, stops: Sequence[int]) -> bool:
    """Whether a clause ends in [low, high)."""
    at = bisect_left(stops, low)
    return at < len(stops) and stops[at] < high


def _key_comes_first(anchors: Sequence[Anchor], at: int, stops: Sequence[int]) -> bool:
    """Whether the clause begins with a word rather than a number (active 50 idle 0)."""
    clause = max((stop + 1 for stop in stops if stop < at), default=0)
    first = next((anchor for anchor in anchors if anchor.start >= clause), None)
    return first is not None and first.start - clause > 1


def _context(found: Sequence[tuple[int, str]]) -> Context:
    """The closest few words on either side."""
    before = sorted((distance, word) for distance, word in found if distance >= 0)[:_CLOSE]
    after = sorted((-distance, word) for distance, word in found if distance < 0)[:_CLOSE]
    words: list[str] = []
    meanings: set[str] = set()
    for _, word in (*before, *after):
        if is_cjk(word[0]):
            words += bigrams(word)
            meanings.update(concept for alias, concept in _ZH_MEANINGS.items() if alias in word)
        else:
            words += [word, *parts(word)]
    context = context_of(tuple(words))
    return Context(context.words, context.meanings | meanings)
