"""Everything that a draft is made of: the evidence read back, and what of it concerns the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agents.llm.base import CitedRef, Exchange, ToolOffer
from agents.offline.causes import CASES, Changed, Explained, changed, explained, explains, share_a_word
from agents.offline.changed_files import is_in_file_of
from agents.offline.entities import mentions
from agents.offline.evidence import Alert, Change, Chunk, Evidence, LogKind, Row, Series
from agents.offline.external_calls import is_external
from agents.offline.own_names import by_own_names
from agents.offline.question import COMPLAINTS, Question
from agents.offline.ranking import WORTH_A_CLAIM, kind_score, series_score, telling_kinds
from agents.offline.reading import collect, is_history
from agents.offline.steps import SATURATION
from agents.offline.telling import Telling, telling_lines
from agents.offline.topology import asked_services, callers, depths
from tools.contracts import EvidenceStatus

COMPLAINT_WEIGHT = 8.0
ERROR_WEIGHT = 6.0
_NARROWING = frozenset({"service", "level", "text", "regex", "glob"})


@dataclass(frozen=True)
class Findings:
    """`reached` are the asked services and those on their troubled path, with their depth; all where none is asked."""

    question: Question
    offers: Sequence[ToolOffer]
    exchanges: Sequence[Exchange]
    evidence: Evidence
    telling: Sequence[Telling]
    explained: Sequence[Explained]
    changed: Sequence[Changed]
    reached: dict[str, int]

    @classmethod
    def of(
        cls, question: Question, offers: Sequence[ToolOffer], exchanges: Sequence[Exchange], language: str
    ) -> Findings:
        ours = collect([exchange for exchange in exchanges if not is_external(exchange, offers)])
        evidence = by_own_names(question, ours)
        return cls(
            question=question,
            offers=offers,
            exchanges=exchanges,
            evidence=evidence,
            telling=telling_lines(question, offers, exchanges),
            explained=explained(question, evidence, language),
            changed=changed(question, evidence),
            reached=depths(question, evidence),
        )

    @property
    def changed_line(self) -> tuple[Telling, Telling] | None:
        """A line of a change and an error line of an outside log that share a telling word, the change in a file of what
        the question or the error names; none beside a stated cause."""
        if any(line.states_cause for line in self.telling) or self.question.ask != "why":
            return None
        changes = [line for line in self.telling if line.source == "change"]
        errors = [line for line in self.telling if line.source == "log" and line.weight >= ERROR_WEIGHT]
        pairs = ((change, error) for error in errors for change in changes)
        alike = ((change, error) for change, error in pairs if share_a_word(change.cited.ref.text, error.cited.ref.text))
        names = self.question.names
        return next(((one, error) for one, error in alike if not names or self._is_theirs(one, error)), None)

    def _is_theirs(self, change: Telling, error: Telling) -> bool:
        names = (*self.question.names, *error.cited.ref.text.split()[:1])
        return is_in_file_of(change.cited, names, self.exchanges)

    @property
    def added(self) -> list[Telling]:
        """What somebody added, most telling first, where the question is about that: not where it names things of which
        nothing was added."""
        lines = [line for line in self.telling if line.source == "added"] if self.question.asks_of_added else []
        named = (*self.question.records, *self.question.codes, *self.question.identifiers)
        return lines if not named or any(name in line.cited.ref.text for line in lines for name in named) else []

    @property
    def has_cause_of_added(self) -> bool:
        """Whether what somebody added speaks of the service or the code whose cause is known."""
        known = [name for one in self.explained[:1] for name in (one.code, one.service)]
        known += [one.change.service for one in self.changed[:1]]
        return any(name and name in line.cited.ref.text for line in self.added for name in known)

    def rows(self, limit: int = 3) -> list[Row]:
        """Business rows of the records that the question names; where it names none, those of the query about it."""
        if not self.question.records:
            return list(self.evidence.rows[: 2 * limit])
        return [row for row in self.evidence.rows if any(name in row.text for name in self.question.records)][:limit]

    def record_lines(self, limit: int = 3) -> list[CitedRef]:
        """Log lines that carry a record's number."""
        found = [one for one in self.evidence.lines if any(name in one.ref.text for name in self.question.records)]
        return found[:limit]

    def kinds(self, limit: int = 5) -> list[LogKind]:
        """The most telling template of each service concerned: deepest service first, those that call it last."""
        order = dict(self.reached)
        if any(depth > 0 for depth in order.values()) or self.asked:
            order |= dict.fromkeys(callers(self.reached, self.evidence.kinds), -1)
        worth = [kind for kind in telling_kinds(self.evidence.kinds) if kind.service in order]
        worth = [kind for kind in worth if kind.count or not self.asked]
        worth += [kind for kind in self.evidence.kinds if kind.service in order and kind.is_error and kind.before is None]
        chosen = [_most_telling([kind for kind in worth if kind.service == service]) for service in order]
        kept = [kind for kind in chosen if kind is not None]
        return sorted(kept, key=lambda kind: (-order[kind.service], -kind_score(kind)))[:limit]

    def series(self, limit: int = 3) -> list[Series]:
        """The series that moved most, one a service before a second of any; what was complained about counts more."""
        near = [one for one in self.evidence.series if one.service in self.reached and one.change_at]
        near = [one for one in near if series_score(one) >= WORTH_A_CLAIM or self._is_complaint(one)]
        near.sort(key=lambda one: -series_score(one) * (COMPLAINT_WEIGHT if self._is_complaint(one) else 1.0))
        services = dict.fromkeys(one.service for one in near)
        first = [next(one for one in near if one.service == service) for service in services]
        return [*first, *(one for one in near if one not in first)][:limit]

    def steady(self, limit: int = 2) -> list[Series]:
        """Series of an asked service that kept their level: what there is to say where nothing is news."""
        return [] if self.kinds() or self.series() else self.level()[:limit]

    def level(self) -> list[Series]:
        return [one for one in self.evidence.series if one.service in self.asked and one.is_steady]

    def changes_in_window(self, limit: int = 6) -> list[Change]:
        """All changes, where the question asks for changes and not for a reason."""
        if not self.question.asks_for_changes or self.question.ask not in ("fact", "listing"):
            return []
        since = self.question.window.since if self.question.window else datetime.min.replace(tzinfo=UTC)
        return [one for one in self.evidence.changes if one.at is not None and one.at >= since][-limit:]

    def _is_complaint(self, series: Series) -> bool:
        return bool(COMPLAINTS & set(self.question.terms)) and any(word in series.name for word in ("latency", "duration", "seconds"))

    @property
    def asked(self) -> tuple[str, ...]:
        return asked_services(self.question, self.evidence)

    def alerts(self, limit: int = 2) -> list[Alert]:
        return [alert for alert in self.evidence.alerts if alert.service in self.reached][:limit]

    def last_change(self) -> Change | None:
        """The last change of a service concerned that came before the first sign of trouble."""
        onsets = [kind.first for kind in self.kinds() if kind.is_new and kind.first]
        if not onsets:
            return None
        before = [
            change
            for change in self.evidence.changes
            if change.at and change.service in self.reached and change.at <= min(onsets)
        ]
        return max(before, key=lambda change: change.at or min(onsets), default=None)

    def explaining_chunks(self) -> list[tuple[Chunk, str]]:
        """Runbook chunks that speak of a code which the question names, or of an error whose age is not known."""
        uncompared = [code for kind in self.kinds() if kind.before is None for code in kind.codes[:1]]
        codes = dict.fromkeys([*self.question.codes, *uncompared])
        found = [
            (chunk, code)
            for code in codes
            for chunk in self.evidence.chunks
            if code in chunk.text and chunk.domain != CASES
        ]
        return sorted(found, key=lambda one: not explains(*one))[:2]

    def empty(self) -> list[Exchange]:
        """Look-ups that the question needed and that found nothing. Those of our own fishing, and those that only asked
        how old a line is, say nothing of the question."""
        none = [one for one in self.exchanges if one.evidence_status is EvidenceStatus.NO_EVIDENCE and one.refs]
        return [one for one in none if not is_history(one) and self._is_needed(one)]

    def _is_needed(self, exchange: Exchange) -> bool:
        """A look-up about what the question names, at its kind of thing, or at everything there was in the window."""
        arguments = exchange.call.arguments or {}
        values = [str(value) for value in arguments.values()]
        asked = self.question
        named = {*asked.records, *asked.codes, *asked.namespaces, *asked.quoted, *asked.other_kinds} | {asked.kind or ""}
        if any(value in named or mentions(asked, value) for value in values if value):
            return True
        if is_external(exchange, self.offers):
            return bool(arguments) and not asked.names
        if asked.ask == "health" and arguments.get("match") != SATURATION:
            return True
        if exchange.call.name == "query_logs":
            return not _NARROWING & arguments.keys()
        return exchange.call.name == "query_changes" and asked.asks_for_changes


def _most_telling(kinds: Sequence[LogKind]) -> LogKind | None:
    """An error before anything else; of templates with the same code the one that came first."""
    if not kinds:
        return None
    best = min(kinds, key=lambda kind: (not kind.is_error, -kind_score(kind)))
    alike = [kind for kind in kinds if kind.first and set(kind.codes) & set(best.codes)]
    return min(alike, key=lambda kind: kind.first or datetime.max.replace(tzinfo=UTC), default=best)
