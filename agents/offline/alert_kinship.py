"""Whether records of two tools tell of one thing and one time, and whether one of them says why it fails."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.llm.base import CitedRef
from agents.offline.alert_words import alert_words
from agents.offline.evidence import Series
from agents.offline.question import Question
from agents.offline.reading import moment_in
from agents.offline.records import Record, object_of
from agents.offline.telling import Telling

NEAR, LATELY = timedelta(hours=1), timedelta(hours=3)
SAME_RECORD = 0.6  # of the shorter one's words
_THING = re.compile(r"\b[a-z][a-z0-9]*(?:-[a-z0-9]+)+\b")


@dataclass(frozen=True)
class Kinship:
    """`moments` are those of what was read, by handle; `last` the last moment that was told of each thing; `present` the
    last moment that anything was told of."""

    subject: Question
    moments: dict[str, datetime]
    last: dict[str, datetime]
    present: datetime | None

    @classmethod
    def of(cls, subject: Question, read: Iterable[Record], series: Iterable[Series]) -> Kinship:
        dated = [(one, one.at) for one in read if one.at is not None]
        last: dict[str, datetime] = {}
        for one, at in dated:
            if one.about and one.tells_trouble:
                last[one.about] = max(at, last.get(one.about, at))
        ends = (moment_in(one.written.get("to", "")) for one in series)
        present = max((at for at in (*ends, *(at for _, at in dated)) if at), default=None)
        return cls(subject, {one.cited.handle: at for one, at in dated}, last, present)

    def is_past(self, line: Telling) -> bool:
        """Hours before the last of what was read: no cause of what is going on, whatever the record says of its own."""
        at = self.moments.get(line.cited.handle)
        return at is not None and self.present is not None and self.present - at > LATELY

    def is_second_source(self, line: Telling, other: Telling) -> bool:
        """Another tool's record of the same thing and time, not the same record shown twice. Two that only show the
        effect (a pod backs off) bear each other out in nothing."""
        if is_elsewhere(line, other.cited) and not (line.is_effect and other.is_effect):
            return self._is_of_one(line.cited, other.cited) and differ(line.cited, other.cited) and self.is_near(line, other.cited)
        return False

    def says_why(self, line: Telling, record: Record) -> bool:
        """The line tells why the very thing of the record is in its bad condition: the control plane's word on it, or
        what a process writes as it dies. Any other error in its log may be about anything."""
        ends = line.states_cause or line.is_fatal or line.source != "log"
        return ends and not line.is_effect and self._is_of_one(line.cited, record.cited) and self.is_near(line, record.cited)

    def calls(self, line: Telling, record: Record) -> bool:
        """The line tells of a failed call to the very thing of the record."""
        if not record.about or alert_words().failed_call.search(line.cited.ref.text) is None:
            return False
        named = record.about.split()  # a monitor's title holds more than a name
        called = any(is_same_name(thing, name) for thing in self._called(line.cited.ref.text) for name in named)
        return called and self.is_near(line, record.cited)

    def is_near(self, line: Telling, other: CitedRef) -> bool:
        """Where both have a moment; a condition stands now, so that the line must be among the last words on its thing."""
        at, then = self.moments.get(line.cited.handle), self.moments.get(other.handle)
        then = then or self.last.get(object_of(other)) or self.last.get(object_of(line.cited))
        return at is None or then is None or abs(at - then) <= NEAR

    def moved_with(self, line: Telling, series: Series) -> bool:
        """A line that says no more than that a level is high is borne out by the level in nothing."""
        at = self.moments.get(line.cited.handle)
        near = at is None or series.change_at is None or abs(at - series.change_at) <= NEAR
        return near and not line.is_effect

    def _is_of_one(self, one: CitedRef, other: CitedRef) -> bool:
        """Both name one object; where one names none, its text names the other's, or what the alert names."""
        mine, theirs = object_of(one), object_of(other)
        if mine and theirs:
            return is_same_name(mine, theirs)
        if any(name and name in cited.ref.text for name, cited in ((mine, other), (theirs, one))):
            return True
        return all(any(name in _whole(cited) for name in self.subject.names) for cited in (one, other) if self.subject.names)

    def _called(self, text: str) -> set[str]:
        """Things beside the alert's own: what a call went to, by its first name."""
        own = self.subject.names
        return {thing for thing in _THING.findall(text) if not any(is_same_name(thing, name) for name in own)}


def is_same_name(one: str, other: str) -> bool:
    """The same, or a workload and its pod, a database and its replica."""
    return one == other or one.startswith(f"{other}-") or other.startswith(f"{one}-")


def is_elsewhere(line: Telling, other: CitedRef) -> bool:
    return other.tool_name != line.cited.tool_name


def differ(one: CitedRef, other: CitedRef) -> bool:
    words, others = words_of(one.ref.text), words_of(other.ref.text)
    return len(words & others) < SAME_RECORD * min(len(words), len(others))


def words_of(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]{3,}", text.lower()))


def _whole(cited: CitedRef) -> str:
    return f"{cited.ref.text} {' '.join(cited.ref.scope.values())}"
