"""The one evidence retry: what round 2 is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agents.contracts import RetryContext, RetryHint, Verification
from agents.replies import Replies
from agents.state import RunState

MAX_FACTS = 8
PROVEN = (Verification.DIRECT, Verification.INDIRECT)


def begin_evidence_retry(state: RunState) -> RunState:
    walked = replace(state.walk, evidence_retries=state.walk.evidence_retries + 1)
    return replace(state, round=state.round + 1, retry_context=None, walk=walked)


def retry_context(state: RunState, replies: Replies) -> RetryContext:
    """What the round before left open: the verifier's failed facts where it spoke, else the gate's rejections."""
    facts = list(_failed_facts(state, replies))[:MAX_FACTS]
    if not facts:
        facts = [replies.text(state.language, "retry_unanswered", question=state.question)]
    return RetryContext(
        round=state.round - 1,
        missing_evidence_facts=tuple(facts),
        instruction=replies.text(state.language, "retry_instruction"),
        hints=tuple(hints(state)),
    )


def _failed_facts(state: RunState, replies: Replies) -> Iterable[str]:
    if state.decision is not None:
        for fact in state.decision.facts_checked:
            if fact.verification not in PROVEN:
                yield replies.text(state.language, "retry_unproven", claim=fact.fact)
        return
    yield replies.text(state.language, "retry_nothing")
    for claim in state.executor_output.claims if state.executor_output else ():
        yield replies.text(state.language, "retry_unproven", claim=claim.claim_text)


def hints(state: RunState) -> Iterable[RetryHint]:
    paths = {
        (claim.claim_id, index): binding.raw_path
        for claim in (state.executor_output.claims if state.executor_output else ())
        for index, binding in enumerate(claim.evidence_bindings)
    }
    for checked in state.gatekeeper_result.checked_bindings if state.gatekeeper_result else ():
        if checked.outcome == "rejected":
            detail = f"{checked.rule}: {checked.detail}" + (f" → {checked.hint}" if checked.hint else "")
            ref = paths.get((checked.claim_id, checked.index), "")
            yield RetryHint(claim_id=checked.claim_id, ref=ref, detail=detail)
