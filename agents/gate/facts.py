"""Rule 7: the times, numbers and names of a text, and those of them that no quote and no scope bears."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.gate.identifiers import Name, claimed_names, occurs
from agents.gate.keys import Context
from agents.gate.normalise import normalise
from agents.gate.numbers import Quantity, digit_runs, quantities, says
from agents.gate.once import once
from agents.gate.times import Stamp, blank, epochs, stamps, states
from agents.gate.tokens import has_cjk, stems

_LEFT, _RIGHT = 64, 24  # how far around a quote its units and keys may stand
_LETTER = re.compile(r"[^\W\d_]")
_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*_[a-zA-Z0-9_:]*(?=[{\s=]|$)")
_WINDOW_BEFORE = re.compile(
    r"(?:within|in|over|during|last|past|these|those|window of|period of|这|过去|最近|近|期间|窗口)(?: the| these| those)?\s?$",
    re.IGNORECASE,
)
_WINDOW_AFTER = re.compile(r"\s?(?:[- ]?window|[- ]?period|内|里|之内|窗口|期间)")
_ZONE_KEYS = frozenset({"zone", "timezone", "time_zone", "tz"})
_FROM_TO = (("window_from", "window_to"), ("since", "until"), ("start", "end"), ("from", "to"))


@dataclass(frozen=True)
class Missing:
    """A piece of a claim that nothing proves; `rule` is the one it breaks."""

    rule: str
    literal: str
    start: int
    end: int
    why: str = "it does not occur"


@dataclass
class Passage:
    """text[low:high] is quoted; what stands around it may only tell units and keys. `hint` may state a unit."""

    text: str
    low: int
    high: int
    hint: str = ""

    @classmethod
    def whole(cls, text: str) -> Passage:
        return cls(text, 0, len(text))

    @once
    def _window(self) -> tuple[int, str]:
        left = max(0, self.low - _LEFT)
        return left, self.text[left : self.high + _RIGHT]

    @once
    def _all_stamps(self) -> tuple[Stamp, ...]:
        return stamps(self._window[1])

    def _inside(self, start: int, end: int) -> bool:
        left = self._window[0]
        return start + left >= self.low and end + left <= self.high

    @once
    def stamps(self) -> list[Stamp]:
        found = [*self._all_stamps, *epochs(self._window[1])]
        return [stamp for stamp in found if self._inside(stamp.start, stamp.end)]

    @once
    def numbers(self) -> list[Quantity]:
        text = self._window[1]
        taken = [(stamp.start, stamp.end) for stamp in self._all_stamps]
        hint = f"{self.hint} {_metric_name(self.text)}"
        inside = [one for one in quantities(text, taken=taken, hint=hint) if self._inside(one.start, one.end)]
        if _LETTER.search(self.text, self.low, self.high) is None:  # a bare value: no quoted word names it
            return [one._replace(context=Context()) for one in inside]
        return inside

    @once
    def codes(self) -> set[str]:
        return digit_runs(
            self.text[self.low : self.high],
            [(stamp.start, stamp.end) for stamp in stamps(self.text[self.low : self.high])],
        )

    @once
    def words(self) -> frozenset[str]:
        return stems(self.text[self.low : self.high])


@dataclass
class Sources:
    """All that a claim's facts may rest on."""

    passages: Sequence[Passage]
    zones: tuple[str, ...] = ()
    durations: tuple[float, ...] = ()

    @once
    def stamps(self) -> list[Stamp]:
        return [stamp for passage in self.passages for stamp in passage.stamps]

    @once
    def numbers(self) -> list[Quantity]:
        return [number for passage in self.passages for number in passage.numbers]

    @once
    def words(self) -> frozenset[str]:
        return frozenset().union(*(passage.words for passage in self.passages))

    def has_code(self, digits: str) -> bool:
        return any(digits in passage.codes for passage in self.passages)

    def has_name(self, name: Name) -> bool:
        return any(occurs(name, passage.text, passage.low, passage.high) for passage in self.passages)


def scope_zones(scope: dict[str, str]) -> tuple[str, ...]:
    return tuple(value for key, value in scope.items() if key.lower() in _ZONE_KEYS)


def scope_durations(scope: dict[str, str]) -> tuple[float, ...]:
    """The length in seconds of the window the scope states: "in these 30 minutes" is no derived number."""
    found = []
    for first, last in _FROM_TO:
        if first not in scope or last not in scope:
            continue
        ends = [stamps(normalise(scope[key]).text) for key in (first, last)]
        if all(ends) and (seconds := _between(ends[0][0], ends[1][0])):
            found.append(seconds)
    return tuple(found)


@dataclass
class Statement:
    """What a normalised text says in times, names and numbers; `quoted` are the ranges it quotes verbatim, whose facts
    are the record's own."""

    text: str
    quoted: Sequence[tuple[int, int]] = ()

    @once
    def _bare(self) -> str:
        return blank(self.text, self.quoted)

    @once
    def stamps(self) -> tuple[Stamp, ...]:
        return stamps(self._bare)

    @once
    def names(self) -> list[Name]:
        return claimed_names(blank(self._bare, [(stamp.start, stamp.end) for stamp in self.stamps]))

    @once
    def every_number(self) -> list[Quantity]:
        """Read in the whole text, so that a quote beside a number still names it."""
        return quantities(self.text, taken=[(one.start, one.end) for one in stamps(self.text)], claim=True)

    @once
    def numbers(self) -> list[Quantity]:
        return [one for one in self.every_number if self._bare[one.start : one.end].strip()]

    def amounts_outside(self, ranges: Sequence[tuple[int, int]]) -> int:
        """How many amounts stand outside these ranges; times, ids and codes are none."""
        return sum(
            1
            for number in self.numbers
            if number.code is None and not any(low <= number.start < high for low, high in ranges)
        )

    @property
    def size(self) -> int:
        return len(self.stamps) + len(self.names) + len(self.numbers)


def missing_facts(said: Statement, sources: Sources) -> Iterator[Missing]:
    """What of a statement no source bears: times first, then names, then numbers."""
    for stamp in said.stamps:
        if not states(stamp, sources.stamps, sources.zones):
            literal = said.text[stamp.start : stamp.end].strip()
            yield Missing("time_not_in_evidence", literal, stamp.start, stamp.end)
    for name in said.names:
        if not sources.has_name(name):
            yield Missing("name_not_in_evidence", name.text, name.start, name.end)
    for number in said.numbers:
        why = _why_not(number, said, sources)
        if why is not None and not _is_window(number, said.text, sources):
            yield Missing("number_not_in_evidence", number.literal, number.start, number.end, why)


def _why_not(number: Quantity, said: Statement, sources: Sources) -> str | None:
    same = [other for other in sources.numbers if says(number, other)]
    if number.code is not None and sources.has_code(number.code):
        return _moved(number, same, sources.numbers)
    if not same:
        return "it does not occur"
    moved = _moved(number, same, sources.numbers)
    if moved is not None or number.is_physical or has_cjk(said.text):
        return moved
    subject = said.every_number[0].context.words
    return None if _is_linked(number, same, sources, subject) else "it stands for something else there"


def _is_window(number: Quantity, text: str, sources: Sources) -> bool:
    """The length of the window looked at: "within these 30 minutes", "30 分钟内"."""
    if not (_WINDOW_BEFORE.search(text, 0, number.start) or _WINDOW_AFTER.match(text, number.end)):
        return False
    return any(
        dimension == "time" and abs(value - length) < 0.5
        for dimension, value in number.readings
        for length in sources.durations
    )


def _moved(number: Quantity, same: Sequence[Quantity], everything: Sequence[Quantity]) -> str | None:
    """The words beside the number name another number of the quote, and not this one."""
    others = [other for other in everything if other not in same and _comparable(number, other)]
    if not others:
        return None
    here, there = _merged(same), _merged(others)
    own = number.context
    by_word_here, by_word_there = own.words & (here.words - there.words), own.words & (there.words - here.words)
    if by_word_here or by_word_there:
        return "it stands at another key" if by_word_there and not by_word_here else None
    meant = own.meanings if number.code is None else own.meanings & {"status"}
    meant_here, meant_there = meant & (here.meanings - there.meanings), meant & (there.meanings - here.meanings)
    return "it stands at another key" if meant_there and not meant_here else None


def _comparable(number: Quantity, other: Quantity) -> bool:
    return bool(number.dimensions & other.dimensions) or (not other.is_physical and not number.is_physical)


def _merged(numbers: Sequence[Quantity]) -> Context:
    return Context(
        frozenset().union(*(number.context.words for number in numbers)),
        frozenset().union(*(number.context.meanings for number in numbers)),
    )


def _is_linked(number: Quantity, same: Sequence[Quantity], sources: Sources, subject: frozenset[str]) -> bool:
    own = number.context.words | subject
    if not own:
        return True
    for other in same:
        key = other.context
        if not key.words or own & key.words or number.context.meanings & key.meanings:
            return True
        if not any(word.isascii() for word in key.words):
            return True
    return bool(own & sources.words)


def _metric_name(text: str) -> str:
    found = _METRIC.match(text)
    return found[0] if found else ""


def _between(first: Stamp, last: Stamp) -> float | None:
    if None in (first.hour, last.hour, first.day, last.day) or first.date[:2] != last.date[:2]:
        return None
    clocks = [
        ((stamp.day or 0) * 24 + (stamp.hour or 0)) * 3600
        + (stamp.minute or 0) * 60
        + (stamp.second or 0)
        - (stamp.offset or 0) * 60
        for stamp in (first, last)
    ]
    return float(clocks[1] - clocks[0])
