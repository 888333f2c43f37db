"""What is not proven about an alert: hypotheses, and what to do next."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from agents.contracts import DraftAction, DraftClaim, Hypothesis
from agents.offline.alert_case import AlertCase
from agents.offline.alert_words import alert_words
from agents.offline.causes import advice
from agents.offline.claims import cite
from agents.offline.leads import actions, hypotheses
from agents.offline.quotes import quote
from agents.offline.sentences import Sentences


def alert_hypotheses(case: AlertCase, claims: Sequence[DraftClaim], sentences: Sentences) -> Iterator[Hypothesis]:
    """None beside a proven cause, and none where all is well."""
    if not case.is_well and not any(claim.claim_type == "root_cause" for claim in claims):
        yield from hypotheses(case.found, sentences)


def alert_actions(case: AlertCase, claims: Sequence[DraftClaim], sentences: Sentences) -> Iterator[DraftAction]:
    """The alert's runbook, what helps against what is proven, what the question's engine would do; last, where nothing
    that is proven says what helps, what is usual against such an alert."""
    for chunk, told in advice(case.found.evidence.chunks, case.found.question.alert) if case.found.question.alert else ():
        text, reason = sentences.say("actions", "runbook", advice=told), sentences.say("actions", "runbook_reason")
        yield DraftAction(action_text=text, reason=reason, evidence=(cite(chunk.cited, told),))
    if case.is_well:
        yield DraftAction(
            action_text=sentences.say("actions", "well"), reason=sentences.say("actions", "well_reason"),
            evidence=claims[0].evidence if claims else (),
        )  # fmt: skip
        return
    remedies = list(_remedies(claims, sentences))
    yield from remedies
    yield from _apart(case, sentences)
    if case.is_elsewhere or not (claims or case.found.telling):
        yield from _look_there(case, sentences)
    else:
        yield from actions(case.found, sentences)
    if not remedies:
        yield from _usual(case, sentences)


def _look_there(case: AlertCase, sentences: Sentences) -> Iterator[DraftAction]:
    """At a name that can only mean one thing, where there is one: `db-slave-2`, not `replication`."""
    for name in (*case.found.question.identifiers, *case.found.question.names)[:1]:
        text, reason = sentences.say("actions", "look_there", name=name), sentences.say("actions", "look_there_reason")
        yield DraftAction(action_text=text, reason=reason)


def _apart(case: AlertCase, sentences: Sentences) -> Iterator[DraftAction]:
    """A second load that waits for something else than the first may be another story."""
    for first, other in itertools.pairwise(case.loads[:2]):
        if alert_words().wait(first.wait) != alert_words().wait(other.wait):
            text = sentences.say("actions", "apart", quote=quote(other.statement))
            yield DraftAction(
                action_text=text,
                reason=sentences.say("actions", "apart_reason"),
                evidence=(cite(other.cited, quote(other.statement)),),
            )


def _remedies(claims: Sequence[DraftClaim], sentences: Sentences) -> Iterator[DraftAction]:
    """What usually helps against what the first telling claim says."""
    told = ((alert_words().remedy(claim.claim_text), claim) for claim in claims if claim.claim_type != "healthy")
    for name, claim in [(name, claim) for name, claim in told if name][:1]:
        text, reason = sentences.say("actions", f"remedy_{name}"), sentences.say("actions", "remedy_reason")
        yield DraftAction(action_text=text, reason=reason, evidence=claim.evidence)


def _usual(case: AlertCase, sentences: Sentences) -> Iterator[DraftAction]:
    """Of the alert's words alone: its sentence says that it is no finding."""
    name = alert_words().remedy(case.found.question.text)
    if name:
        text = sentences.say("actions", "usual", remedy=sentences.say("actions", f"remedy_{name}"))
        yield DraftAction(action_text=text, reason=sentences.say("actions", "remedy_alert_reason"))
