"""An alert's evidence, read in all the ways that its report needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agents.llm.base import Exchange, ToolOffer
from agents.offline.alert_causes import Pair, is_of, pair_of
from agents.offline.alert_kinship import LATELY, Kinship
from agents.offline.alert_subject import BEFORE
from agents.offline.databases import Load, loads
from agents.offline.evidence import Change, Series
from agents.offline.findings import Findings
from agents.offline.health import Health, health_of, is_about
from agents.offline.question import Question
from agents.offline.ranking import series_score
from agents.offline.records import (
    Record,
    condition_in,
    health_words,
    is_foreign,
    is_of_node,
    object_of,
    outside_series,
    records,
    told_of,
)
from agents.offline.steps import CHANGES_BEFORE
from agents.offline.telling import every_telling_line
from tools.contracts import EvidenceStatus

_ANSWERED = (EvidenceStatus.SUPPORTED, EvidenceStatus.NO_EVIDENCE)
MAX_LEVELS, MAX_UNTOLD, MAX_CHANGES, MAX_HAPPENED = 3, 3, 2, 3


@dataclass(frozen=True)
class AlertCase:
    """An alert's evidence, read in all the ways that the draft needs."""

    found: Findings
    health: Health
    loads: Sequence[Load]
    pair: Pair | None
    constant: tuple[Record, int] | None

    @classmethod
    def of(cls, subject: Question, offers: Sequence[ToolOffer], exchanges: Sequence[Exchange], language: str) -> AlertCase:
        whole = Findings.of(subject, offers, exchanges, language)
        series = [one for one in outside_series(offers, exchanges) if _concerns(subject, one)]
        own = {one.cited.handle for one in outside_series(offers, exchanges)}
        read = records(offers, exchanges)
        load = loads(offers, exchanges)
        health = health_of([one for one in read if not is_foreign(one, subject.names)], series)
        lines = [line for line in every_telling_line(subject, offers, exchanges) if line.cited.handle not in own]
        over = {one.cited.handle for one in health.past}
        kin = Kinship.of(subject, read, outside_series(offers, exchanges))
        standing = [line for line in lines if line.cited.handle not in over and not kin.is_past(line)]
        pair = pair_of(subject, standing, load, health_of(read, series), kin)
        own |= over | _said_well(health) | (pair.handles if pair else set())
        left = [line for line in whole.telling if line.cited.handle not in own]
        present = [line for line in left if not kin.is_past(line)]
        left = present or [replace(line, states_cause=False) for line in left]
        found = replace(whole, telling=sorted(left, key=lambda line: not is_of(subject, line)))
        return cls(found, health, load, pair, _meant_to_fire(read))

    @property
    def is_well(self) -> bool:
        """Nothing that our own tools found stands against it either."""
        found = self.found
        ours = found.kinds() or found.series() or found.explained or found.changed
        shown = self.health.is_proven_for(found.question) or self.is_quiet
        return self.constant is not None or (shown and not ours)

    @property
    def is_quiet(self) -> bool:
        """Prometheus was asked and the alert is not active there, and its thing's series kept their level."""
        looks = [one for one in self.found.exchanges if (one.call.arguments or {}).get("mode") == "alerts"]
        asked = any(one.evidence_status in _ANSWERED for one in looks)
        active = any(alert.name == self.found.question.alert for alert in self.found.evidence.alerts)
        return asked and not active and bool(self.steady()) and not (self.health.standing or self.health.moved)

    def steady(self) -> list[Series]:
        """Series of the alert's thing, and about what the alert is about, that kept their level."""
        level = [*self.found.level(), *(one for one in self.health.steady if one.service)]
        about = [one for one in level if is_about(self.found.question, one.name)]
        return (about or (level if self.health.is_of_state(self.found.question) else []))[:MAX_LEVELS]

    @property
    def is_elsewhere(self) -> bool:
        """The alert names its thing and nothing that our tools found is of it: what they found has another reason."""
        return bool(self.found.question.names) and bool(self.found.evidence.services) and not self.found.asked

    @property
    def beside(self) -> Findings:
        """What was found of other things names no cause of this alert."""
        return replace(self.found, explained=(), changed=())

    def changes(self) -> list[Change]:
        """The last changes of the services concerned before the first sign of trouble, the latest first. Where nothing says
        when that was, all that were looked up: they were there when the alert came."""
        found, begun = self.found, self._onset()
        if self.is_elsewhere:
            return []
        mine = [(one.at, one) for one in found.evidence.changes if one.at and one.service in found.reached]
        near = [pair for pair in mine if begun is None or begun - CHANGES_BEFORE <= pair[0] <= begun]
        return [one for _, one in sorted(near, key=lambda pair: pair[0], reverse=True)][:MAX_CHANGES]

    def _onset(self) -> datetime | None:
        """When the first new line or moved level showed; where none did, when the alert began."""
        signs = [one.first for one in self.found.kinds() if one.is_new] + [one.change_at for one in self.found.series()]
        window = self.found.question.window
        return min((at for at in signs if at), default=window.since + BEFORE if window else None)

    def shown(self) -> list[Record]:
        """Records of good conditions, those of the alert's own things first; one of each thing and tool."""
        named = self.found.question.names
        good = sorted(self.health.well, key=lambda one: (one.mood == "none", not any(_is_of(name, one) for name in named)))
        return list({(one.about, one.tool): one for one in reversed(good)}.values())[::-1]

    def gone(self) -> list[Record]:
        """Trouble that something later ended, in the order of time; without the record that says that it is over."""
        back = self.last_return()
        seen = [one for one in self.health.past if one.at is not None and one.tells_trouble and one is not back]
        return sorted(seen, key=lambda one: str(one.at))[:MAX_UNTOLD]

    def happened(self) -> list[Record]:
        """What the events of the alert's own thing tell beside trouble, in the order of time: a scaling, a rollback. What
        was hours before the last sign of trouble is another story."""
        told = {line.cited.handle for line in self.found.telling} | (self.pair.handles if self.pair else set())
        names, last = self.found.question.names, self._last_sign()
        mine = [one for one in self.health.events if any(_is_of(name, one) or name in one.cited.ref.text for name in names)]
        calm = [one for one in mine if one.mood in ("plain", "back") and one.cited.handle not in told]
        near = [one for one in calm if one.at and last and abs(last - one.at) <= LATELY]
        return sorted(near, key=lambda one: str(one.at))[-MAX_HAPPENED:]

    def _last_sign(self) -> datetime | None:
        moved = [series.change_at for series in self.health.moved]
        return max((at for at in (*moved, *(one.at for one in self.health.events)) if at), default=None)

    def last_return(self) -> Record | None:
        """The last record that says that it is over; of two, one that is not about the trouble itself."""
        over = [one for one in self.health.past if one.mood == "back" and one.at]
        return max(over, key=lambda one: (not one.tells_trouble, str(one.at)), default=None)

    def untold(self) -> list[Record]:
        """Bad conditions that no telling line has said: of nodes first, since what runs there suffers with them."""
        told = {line.cited.handle for line in self.found.telling} | (self.pair.handles if self.pair else set())
        left = [one for one in self.health.standing if one.mood == "bad" and one.cited.handle not in told]
        left.sort(key=lambda one: not is_of_node(one))
        said = self.told_of()
        first = {one.about: one for one in reversed(left) if one.about not in said or is_of_node(one)}
        return [one for one in left if first.get(one.about) is one][:MAX_UNTOLD]

    def told_of(self) -> set[str]:
        """Things that telling lines are of."""
        lines = [line.cited for line in self.found.telling] + ([self.pair.line.cited] if self.pair and self.pair.line else [])
        return {object_of(cited) for cited in lines}

    def levels(self) -> list[Series]:
        """Series off their level, what the alert speaks of first."""
        asked = self.found.question.text.lower()
        moved = [one for one in self.health.moved if self.pair is None or one is not self.pair.level]
        return sorted(moved, key=lambda one: (one.name.lower() not in asked, -series_score(one)))[:MAX_LEVELS]


def _said_well(health: Health) -> set[str]:
    """Records of good conditions whose message is about something else: what a monitor would say if it fired."""
    return {one.cited.handle for one in health.well if not condition_in(told_of(one.cited))}


def _meant_to_fire(read: Sequence[Record]) -> tuple[Record, int] | None:
    pages = ((one, health_words().meant_to_fire.search(one.cited.ref.text)) for one in read)
    return next(((one, match.start()) for one, match in pages if match), None)


def _concerns(subject: Question, series: Series) -> bool:
    """Of a thing that the alert names, or of nothing in particular."""
    if not series.service or not subject.names:
        return True
    return any(name.startswith(series.service) or series.service.startswith(name) for name in subject.names)


def _is_of(name: str, record: Record) -> bool:
    return name == record.about or name in object_of(record.cited)
