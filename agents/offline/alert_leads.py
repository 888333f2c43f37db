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
    yield from _apart(case, sentences)
    if case.is_elsewhere or not (claims or case.found.telling):
        for name in case.found.question.names[:1]:
            reason = sentences.say("actions", "look_there_reason")
            yield DraftAction(action_text=sentences.say("actions", "look_there", name=name), reason=reason)
    else:
        yield from actions(case.found, sentences)


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


def _remedy(case: AlertCase, claims: Sequence[DraftClaim], sentences: Sentences) -> Iterator[DraftAction]:
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
