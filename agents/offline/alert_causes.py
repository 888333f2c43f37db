"""Where two tools tell of one thing: the trouble that the alert is about, and what another source shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.llm.base import CitedRef
from agents.offline.alert_kinship import Kinship, differ, is_elsewhere, words_of
from agents.offline.alert_words import alert_words
from agents.offline.databases import Load
from agents.offline.evidence import Series
from agents.offline.health import Health, is_about
from agents.offline.question import Question
from agents.offline.records import Record, is_of_node, object_of
from agents.offline.telling import Telling

ENOUGH_WEIGHT = 5.0
MAX_LINES, MAX_OTHERS = 12, 60  # each line is held against each other record


@dataclass(frozen=True)
class Pair:
    """A telling line, or the alert's own series, and what another tool shows: a record, a series that moved, or the
    statement that loads the database."""

    line: Telling | None = None
    level: Series | None = None
    other: CitedRef | None = None
    at: int = 0
    record: Record | None = None
    load: Load | None = None

    @property
    def handles(self) -> frozenset[str]:
        told = (self.line.cited if self.line else None, self.other)
        return frozenset(cited.handle for cited in told if cited is not None)


def pair_of(
    subject: Question, telling: Sequence[Telling], loads: Sequence[Load], health: Health, kin: Kinship
) -> Pair | None:
    """The most telling line about the alert that another tool bears out: by what drives it, by the same topic or the
    thing that it calls, by the bad condition of the very thing; else the alert's own series with what loads it. A node
    that is down comes before what runs on it."""
    nodes = {record.about for record in health.standing if record.mood == "bad" and is_of_node(record)}
    lines = [
        line
        for line in telling
        if line.weight >= ENOUGH_WEIGHT and (is_of(subject, line) or object_of(line.cited) in nodes)
    ]
    lines.sort(key=lambda line: object_of(line.cited) not in nodes)
    found = (pair for line in _unlike(lines) for pair in _pairs(line, telling[:MAX_OTHERS], loads, health, kin))
    return next(found, None) or next(_loaded(subject, loads, health), None)


def is_of(subject: Question, line: Telling) -> bool:
    """About a thing that the alert names, or on its topic where it names none."""
    text = f"{line.cited.ref.text} {' '.join(line.cited.ref.scope.values())}"
    if subject.names:
        return any(name in text for name in subject.names)
    return bool(alert_words().topics_of(subject.text) & alert_words().topics_of(line.cited.ref.text))


def _pairs(
    line: Telling, telling: Sequence[Telling], loads: Sequence[Load], health: Health, kin: Kinship
) -> Iterator[Pair]:
    known, text = alert_words(), line.cited.ref.text
    topics = known.topics_of(text)
    for load in loads[:1]:
        drives = known.driven(text, load.text) or topics & known.topics_of(load.wait)
        if drives and is_elsewhere(line, load.cited):
            yield Pair(line, load=load, other=load.cited)
    for other in telling:
        if topics & known.topics_of(other.cited.ref.text) and kin.is_second_source(line, other):
            yield Pair(line, other=other.cited, at=other.at)
    standing = [one for one in health.standing[:MAX_OTHERS] if is_elsewhere(line, one.cited) and differ(line.cited, one.cited)]
    called = [record for record in standing if kin.calls(line, record)]
    same = [record for record in standing if record.mood == "bad" and record.about and kin.says_why(line, record)]
    for record in (*called, *same):
        yield Pair(line, other=record.cited, record=record)
    for series in health.moved:
        if is_elsewhere(line, series.cited) and topics & known.topics_of(series.name) and kin.moved_with(line, series):
            yield Pair(line, level=series)


def _loaded(subject: Question, loads: Sequence[Load], health: Health) -> Iterator[Pair]:
    """The series that the alert is about, and the heaviest statement where it uses up the same."""
    known = alert_words()
    for series in health.moved:
        for load in loads[:1]:
            alike = known.topics_of(series.name) & known.topics_of(load.wait) or known.driven(series.name, load.text)
            if alike and is_about(subject, series.name) and series.cited.tool_name != load.cited.tool_name:
                yield Pair(level=series, load=load)


def _unlike(lines: Sequence[Telling]) -> list[Telling]:
    """Lines of one wording stand once."""
    first = {words_of(line.cited.ref.text): line for line in reversed(lines)}
    return [line for line in lines if first[words_of(line.cited.ref.text)] is line][:MAX_LINES]
