"""Where two tools tell of one thing: the trouble that the alert is about, and what another source shows of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.llm.base import CitedRef
from agents.offline.alert_words import alert_words
from agents.offline.databases import Load
from agents.offline.evidence import Series
from agents.offline.question import Question
from agents.offline.records import object_of
from agents.offline.telling import Telling

ENOUGH_WEIGHT = 5.0
SAME_RECORD = 0.6  # of the shorter one's words


@dataclass(frozen=True)
class Pair:
    """`other` is a second source's record; `load` where it is a statement that loads a database."""

    line: Telling
    other: CitedRef
    load: Load | None = None
    second: Telling | None = None


def pair_of(
    subject: Question, telling: Sequence[Telling], loads: Sequence[Load], moved: Sequence[Series]
) -> Pair | None:
    """The most telling line about the alert that another tool bears out: what drives it first, then the same topic."""
    lines = [line for line in telling if line.weight >= ENOUGH_WEIGHT and _is_of(subject, line)]
    return next((pair for line in lines for pair in _pairs(line, telling, loads, moved)), None)


def _pairs(
    line: Telling, telling: Sequence[Telling], loads: Sequence[Load], moved: Sequence[Series]
) -> Iterator[Pair]:
    known, text = alert_words(), line.cited.ref.text
    topics = known.topics_of(text)
    for load in loads[:1]:
        if load.cited.tool_name != line.cited.tool_name and (
            known.driven(text, load.text) or topics & known.topics_of(load.wait)
        ):
            yield Pair(line, load.cited, load=load)
    for other in telling:
        if _elsewhere(line, other.cited) and topics & known.topics_of(other.cited.ref.text) and _independent(line, other.cited):
            yield Pair(line, other.cited, second=other)
    for series in moved:
        if _elsewhere(line, series.cited) and topics & known.topics_of(series.name):
            yield Pair(line, series.cited)


def _is_of(subject: Question, line: Telling) -> bool:
    """About a thing that the alert names, or on its topic where it names none."""
    text = f"{line.cited.ref.text} {' '.join(line.cited.ref.scope.values())}"
    if subject.names:
        return any(name in text for name in subject.names)
    return bool(alert_words().topics_of(subject.text) & alert_words().topics_of(line.cited.ref.text))


def _elsewhere(line: Telling, other: CitedRef) -> bool:
    return other.tool_name != line.cited.tool_name


def _independent(line: Telling, other: CitedRef) -> bool:
    """Of one object, where both name one, and not one record that two tools show."""
    mine, theirs = object_of(line.cited), object_of(other)
    if mine and theirs and not mine.startswith(theirs) and not theirs.startswith(mine):
        return False
    words, others = _words(line.cited.ref.text), _words(other.ref.text)
    return len(words & others) < SAME_RECORD * min(len(words), len(others))


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]{3,}", text.lower()))
