"""The draft of an alert's report: what is claimed, whom it hits, what stays a lead, what was not seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agents.contracts import AiopsDraft
from agents.llm.base import Exchange, ToolOffer
from agents.offline.alert_blast import blast_radius
from agents.offline.alert_case import AlertCase
from agents.offline.alert_causes import Pair
from agents.offline.alert_claims import AlertStating
from agents.offline.alert_leads import alert_actions, alert_hypotheses
from agents.offline.claims import Statement
from agents.offline.diagnosis import statements
from agents.offline.leads import missing
from agents.offline.own_check import provable
from agents.offline.question import Question
from agents.offline.quotes import quote
from agents.offline.records import told_of
from agents.offline.sentences import sentences_of

MAX_WELL, MAX_PAST, MAX_STEPS, MAX_BESIDE = 5, 3, 5, 4


def draft_alert(
    subject: Question, entities: Sequence[str], offers: Sequence[ToolOffer], exchanges: Sequence[Exchange], language: str
) -> AiopsDraft:
    """`entities` are those whose state the plan wants to know."""
    sentences = sentences_of(language)
    case = AlertCase.of(subject, offers, exchanges, language)
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
        hypotheses=tuple(alert_hypotheses(case, claims, sentences)),
        recommended_actions=tuple(alert_actions(case, claims, sentences))[:MAX_STEPS],
        missing_info=tuple(missing(case.found, sentences)),
    )


def _statements(case: AlertCase, state: AlertStating) -> Iterator[Statement]:
    if case.is_well:
        yield from _health(case, state)
        return
    told = [one for one in [_pair(case.pair, state)] if one] if case.pair else []
    told += list(statements(case.beside, state))[:MAX_BESIDE] if case.is_elsewhere else list(statements(case.found, state))
    yield from (statement for statement in told if statement.claim_type == "root_cause")
    yield from _loaded(case, state)
    yield from (statement for statement in told if statement.claim_type != "root_cause")
    yield from (state.change(change) for change in case.changes())
    yield from (state.standing(record) for record in case.untold())
    yield from (one for series in case.levels() if (one := state.series(series)))
    gone = case.gone()
    yield from (state.over(record) for record in gone)
    yield from (state.happened(record) for record in case.happened() if record not in gone)
    yield from _others_well(case, state)


def _loaded(case: AlertCase, state: AlertStating) -> Iterator[Statement]:
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


def _health(case: AlertCase, state: AlertStating) -> Iterator[Statement]:
    """The conclusion, what else is well, and the trouble that was."""
    if case.constant:
        record, at = case.constant
        yield state.meant_to_fire(record.cited, at)
        return
    back, shown, level = case.last_return(), case.shown(), [state.steady_well(one) for one in case.steady()]
    first = back or next((one for one in shown if one.mood == "good"), None)
    yield from ([state.well(first)] if first else level)
    yield from _past(case, state)
    yield from (state.happened(record) for record in case.happened() if record not in (back, *case.gone()))
    yield from (state.also_well(record) for record in shown[:MAX_WELL] if record is not first)
    yield from level


def _past(case: AlertCase, state: AlertStating) -> Iterator[Statement]:
    """Trouble that is over; where none was told, what happened."""
    back = case.last_return()
    seen = case.gone() or [one for one in case.health.events if one.mood != "plain" and one is not back]
    yield from (state.over(record) for record in seen[:MAX_PAST])


def _others_well(case: AlertCase, state: AlertStating) -> Iterator[Statement]:
    """Things beside the troubled ones that are well: the alert stops there. That the alert's own thing answers does not
    say that the alert is wrong."""
    hit = {one.about for one in case.health.standing} | set(case.found.question.names) | case.told_of()
    free = [one for one in case.shown() if one.about and one.about not in hit and one.mood == "good"]
    yield from (state.also_well(record) for record in free[: MAX_WELL - 1])
