"""The executor's draft: which pieces of evidence become claims, what stays a hypothesis, what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agents.contracts import ExecutorDraft
from agents.llm.base import Exchange, ToolOffer
from agents.offline.claims import Statement, Stating
from agents.offline.external_calls import is_external
from agents.offline.findings import Findings
from agents.offline.leads import actions, hypotheses, missing
from agents.offline.own_check import provable
from agents.offline.question import Question
from agents.offline.sentences import sentences_of

MAX_GAPS = 1


def draft(question: Question, offers: Sequence[ToolOffer], exchanges: Sequence[Exchange], language: str) -> ExecutorDraft:
    sentences = sentences_of(language)
    found = Findings.of(question, offers, exchanges, language)
    claims = provable(statements(found, Stating(sentences)), exchanges)
    summary = claims[0].claim_text if claims else sentences.say("compose", "nothing")
    return ExecutorDraft(
        diagnosis_summary=summary,
        claims=claims,
        hypotheses=() if found.added else tuple(hypotheses(found, sentences)),
        recommended_actions=() if found.added else tuple(actions(found, sentences)),
        missing_info=tuple(missing(found, sentences)),
        user_facing_answer=summary,
    )


def statements(found: Findings, state: Stating) -> Iterator[Statement]:
    """Records and causes first, then symptoms from the deepest service up, metrics, alerts, and what came back empty.
    Of what somebody added, where the question is about that, and nothing of the rest of the world."""
    if found.added:
        if found.question.ask == "why" and found.has_cause_of_added:
            yield from _causes(found, state)
        yield from (state.telling(line) for line in found.added)
        return
    asked = found.changes_in_window()
    if asked:
        yield from (state.change(change) for change in asked)
        return
    yield from (state.row(row) for row in found.rows())
    if found.rows() and not found.question.records:
        return
    if found.question.asks_when:
        yield from _onsets(found, state)
        return
    yield from _causes(found, state)
    yield from (state.log_line(cited) for cited in found.record_lines())
    yield from (state.telling(line) for line in found.telling)
    yield from (state.kind(kind) for kind in found.kinds())
    yield from (statement for one in found.series() if (statement := state.series(one)))
    yield from (state.steady(one) for one in found.steady())
    yield from (state.alert(alert) for alert in found.alerts())
    yield from (state.gap(exchange.refs[0]) for exchange in _untold(found)[:MAX_GAPS])


def _untold(found: Findings) -> list[Exchange]:
    """Empty look-ups; those of outside tools stand among what is missing, and as a claim only where there is no other."""
    return [one for one in found.empty() if not (found.telling and is_external(one, found.offers))]


def _onsets(found: Findings, state: Stating) -> Iterator[Statement]:
    """Since when: first sightings, then the change before them. Why is another question. Where nobody said of what, no
    time may stand as the answer."""
    if not found.question.names_something:
        yield from (state.kind(kind, is_dated=False) for kind in found.kinds())
        return
    yield from (state.kind(kind) for kind in found.kinds() if kind.is_new)
    yield from (statement for one in found.series() if (statement := state.series(one)))
    yield from (state.alert(alert) for alert in found.alerts())
    yield from (state.log_line(cited) for cited in found.record_lines())
    yield from (state.telling(line) for line in found.telling)
    change = found.last_change()
    if change:
        yield state.change(change)


def _causes(found: Findings, state: Stating) -> Iterator[Statement]:
    if found.explained:
        yield state.cause(found.explained[0])
        if found.explained[0].change:
            yield state.change(found.explained[0].change)
    elif found.changed:
        yield state.cause_change(found.changed[0])
    elif found.changed_line:
        yield state.cause_change_line(*found.changed_line)
    else:
        yield from (state.runbook(chunk, code) for chunk, code in found.explaining_chunks())
