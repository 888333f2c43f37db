"""The draft of an alert's report: what is claimed, whom it hits, what stays a lead, what was not seen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agents.contracts import AiopsDraft, DraftAction, DraftClaim, Hypothesis
from agents.llm.base import Exchange, ToolOffer
from agents.offline.alert_blast import blast_radius
from agents.offline.alert_causes import Pair, pair_of
from agents.offline.alert_claims import AlertStating
from agents.offline.alert_words import alert_words
from agents.offline.causes import advice
from agents.offline.claims import Statement, cite
from agents.offline.databases import Load, loads
from agents.offline.diagnosis import statements
from agents.offline.evidence import Series
from agents.offline.findings import Findings
from agents.offline.health import Health, health_of, is_about
from agents.offline.leads import actions, hypotheses, missing
from agents.offline.own_check import provable
from agents.offline.question import Question
from agents.offline.quotes import quote
from agents.offline.ranking import series_score
from agents.offline.records import Record, health_words, is_of_node, object_of, outside_series, records, told_of
from agents.offline.sentences import Sentences, sentences_of
from agents.offline.telling import every_telling_line
from tools.contracts import EvidenceStatus

_ANSWERED = (EvidenceStatus.SUPPORTED, EvidenceStatus.NO_EVIDENCE)
MAX_WELL, MAX_PAST, MAX_LEVELS, MAX_STEPS, MAX_BESIDE, MAX_UNTOLD = 5, 3, 3, 5, 4, 3


def draft_alert(
    subject: Question, entities: Sequence[str], offers: Sequence[ToolOffer], exchanges: Sequence[Exchange], language: str
) -> AiopsDraft:
    """`entities` are those whose state the plan wants to know."""
    sentences = sentences_of(language)
    case = _Case.of(subject, offers, exchanges, language)
    claims = provable(_statements(case, AlertStating(sentences)), exchanges)
    past = {statement.text for statement in _past(case, AlertStating(sentences))}
    over = frozenset(claim.claim_id for claim in claims if case.is_well or claim.claim_text in past)
    blast = blast_radius(claims, entities, exchanges, over, is_elsewhere=case.is_elsewhere)
    placed = {one.entity for one in blast}
    return AiopsDraft(
        diagnosis_summary=claims[0].claim_text if claims else sentences.say("compose", "nothing"),
        claims=claims,
        blast_radius=blast,
        not_checked=tuple(name for name in entities if name not in placed),
        hypotheses=() if case.is_well else tuple(_hypotheses(case, claims, sentences)),
        recommended_actions=tuple(_actions(case, claims, sentences))[:MAX_STEPS],
        missing_info=tuple(missing(case.found, sentences)),
    )


@dataclass(frozen=True)
class _Case:
    """An alert's evidence, read in all the ways that the draft needs."""

    found: Findings
    health: Health
    loads: Sequence[Load]
    pair: Pair | None
    constant: tuple[Record, int] | None

    @classmethod
    def of(cls, subject: Question, offers: Sequence[ToolOffer], exchanges: Sequence[Exchange], language: str) -> _Case:
        whole = Findings.of(subject, offers, exchanges, language)
        series = [one for one in outside_series(offers, exchanges) if _concerns(subject, one)]
        own = {one.cited.handle for one in outside_series(offers, exchanges)}
        read = records(offers, exchanges)
        load = loads(offers, exchanges)
        health = health_of(read, series)
        lines = [line for line in every_telling_line(subject, offers, exchanges) if line.cited.handle not in own]
        pair = pair_of(subject, lines, load, health)
        own |= pair.handles if pair else set()
        found = replace(whole, telling=[line for line in whole.telling if line.cited.handle not in own])
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

    def shown(self) -> list[Record]:
        """Records of good conditions, those of the alert's own things first; one of each thing and tool."""
        named = self.found.question.names
        good = sorted(self.health.well, key=lambda one: (one.mood == "none", not any(_is_of(name, one) for name in named)))
        return list({(one.about, one.tool): one for one in reversed(good)}.values())[::-1]

    def last_return(self) -> Record | None:
        """The last record that says that it is over; of two, one that is not about the trouble itself."""
        over = [one for one in self.health.past if one.mood == "back" and one.at]
        return max(over, key=lambda one: (not one.tells_trouble, str(one.at)), default=None)

    def untold(self) -> list[Record]:
        """Bad conditions that no telling line has said: of nodes first, since what runs there suffers with them."""
        told = {line.cited.handle for line in self.found.telling} | (self.pair.handles if self.pair else set())
        left = [one for one in self.health.standing if one.mood == "bad" and one.cited.handle not in told]
        left.sort(key=lambda one: not is_of_node(one))
        said = {object_of(line.cited) for line in self.found.telling}
        first = {one.about: one for one in reversed(left) if one.about not in said or is_of_node(one)}
        return [one for one in left if first.get(one.about) is one][:MAX_UNTOLD]

    def levels(self) -> list[Series]:
        """Series off their level, what the alert speaks of first."""
        asked = self.found.question.text.lower()
        moved = [one for one in self.health.moved if self.pair is None or one is not self.pair.level]
        return sorted(moved, key=lambda one: (one.name.lower() not in asked, -series_score(one)))[:MAX_LEVELS]


def _statements(case: _Case, state: AlertStating) -> Iterator[Statement]:
    if case.is_well:
        yield from _health(case, state)
        return
    told = [one for one in [_pair(case.pair, state)] if one] if case.pair else []
    told += list(statements(case.beside, state))[:MAX_BESIDE] if case.is_elsewhere else list(statements(case.found, state))
    yield from (statement for statement in told if statement.claim_type == "root_cause")
    yield from _loaded(case, state)
    yield from (statement for statement in told if statement.claim_type != "root_cause")
    yield from (state.standing(record) for record in case.untold())
    yield from (one for series in case.levels() if (one := state.series(series)))
    yield from _others_well(case, state)


def _loaded(case: _Case, state: AlertStating) -> Iterator[Statement]:
    said = case.pair.load if case.pair and case.pair.level else None
    yield from (state.load(load, is_first=at == 0) for at, load in enumerate(case.loads[:2]) if load is not said)
    waits = (state.wait(load) for load in case.loads[:1])
    yield from (one for one in waits if one)


def _pair(pair: Pair, state: AlertStating) -> Statement | None:
    if pair.line is None:
        return state.load_level(pair.level, pair.load) if pair.level and pair.load else None
    if pair.level is not None:
        return state.pair_level(pair.line, pair.level)
    if pair.record is not None:
        return state.pair_state(pair.line, pair.record)
    assert pair.other is not None
    told = quote(pair.load.statement) if pair.load else told_of(pair.other, pair.at)
    return state.pair(pair.line, pair.other, told)


def _health(case: _Case, state: AlertStating) -> Iterator[Statement]:
    """The conclusion, what else is well, and the trouble that was."""
    if case.constant:
        record, at = case.constant
        yield state.meant_to_fire(record.cited, at)
        return
    back, shown, level = case.last_return(), case.shown(), [state.steady_well(one) for one in case.steady()]
    first = back or next((one for one in shown if one.mood == "good"), None)
    yield from ([state.well(first)] if first else level)
    yield from _past(case, state)
    yield from (state.also_well(record) for record in shown[:MAX_WELL] if record is not first)
    yield from level


def _past(case: _Case, state: AlertStating) -> Iterator[Statement]:
    """Trouble that is over; where none was told, what happened."""
    seen = [one for one in case.health.past if one.at is not None and one.tells_trouble] or case.health.events
    back = case.last_return()
    order = sorted((one for one in seen if one is not back), key=lambda one: str(one.at))
    yield from (state.over(record) for record in order[:MAX_PAST])


def _others_well(case: _Case, state: AlertStating) -> Iterator[Statement]:
    """Things beside the troubled ones that are well: the alert stops there. That the alert's own thing answers does not
    say that the alert is wrong."""
    hit = {one.about for one in case.health.standing} | set(case.found.question.names)
    free = [one for one in case.shown() if one.about and one.about not in hit and one.mood == "good"]
    yield from (state.also_well(record) for record in free[: MAX_WELL - 1])


def _hypotheses(case: _Case, claims: Sequence[DraftClaim], sentences: Sentences) -> Iterator[Hypothesis]:
    if not any(claim.claim_type == "root_cause" for claim in claims):
        yield from hypotheses(case.found, sentences)
    known = alert_words()
    for first, other in itertools.pairwise(case.loads[:2]):
        if known.wait(first.wait) != known.wait(other.wait):
            yield Hypothesis(
                hypothesis_text=sentences.say("hypotheses", "beside", quote=quote(other.statement)),
                basis=sentences.say("hypotheses", "beside_basis"),
                needed_evidence=(sentences.say("hypotheses", "beside_needs"),),
            )


def _actions(case: _Case, claims: Sequence[DraftClaim], sentences: Sentences) -> Iterator[DraftAction]:
    """The alert's runbook, what helps against the cause, then what the question's engine would do."""
    for chunk, told in advice(case.found.evidence.chunks, case.found.question.alert) if case.found.question.alert else ():
        text, reason = sentences.say("actions", "runbook", advice=told), sentences.say("actions", "runbook_reason")
        yield DraftAction(action_text=text, reason=reason, evidence=(cite(chunk.cited, told),))
    if case.is_well:
        yield DraftAction(
            action_text=sentences.say("actions", "well"), reason=sentences.say("actions", "well_reason"),
            evidence=claims[0].evidence if claims else (),
        )  # fmt: skip
        return
    yield from _remedy(case, claims, sentences)
    if case.is_elsewhere or not (claims or case.found.telling):
        name = case.found.question.names[0]
        reason = sentences.say("actions", "look_there_reason")
        yield DraftAction(action_text=sentences.say("actions", "look_there", name=name), reason=reason)
    else:
        yield from actions(case.found, sentences)


def _remedy(case: _Case, claims: Sequence[DraftClaim], sentences: Sentences) -> Iterator[DraftAction]:
    """What usually helps against what the first telling claim says; where none tells, against such an alert."""
    told = ((alert_words().remedy(claim.claim_text), claim) for claim in claims if claim.claim_type != "healthy")
    named, claim = next(((name, claim) for name, claim in told if name), (None, None))
    if named and claim:
        text, reason = sentences.say("actions", f"remedy_{named}"), sentences.say("actions", "remedy_reason")
        yield DraftAction(action_text=text, reason=reason, evidence=claim.evidence)
        return
    named = alert_words().remedy(case.found.question.text)
    if named:
        reason = sentences.say("actions", "remedy_alert_reason")
        yield DraftAction(action_text=sentences.say("actions", f"remedy_{named}"), reason=reason)


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
