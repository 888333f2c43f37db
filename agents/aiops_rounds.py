"""The supervisor's judgement, in code: is what we have enough, and what would another round be for?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agents.aiops_evaluation import evaluated
from agents.contracts import RetryContext, Verdict
from agents.evidence_retry import MAX_FACTS, hints
from agents.gating import gated, projected
from agents.replies import Replies
from agents.state import NOT_YET, RunState
from tools.contracts import EvidenceStatus
from tools.invocation import Invocation

MAX_ROUNDS = 3


def another_round(state: RunState, invocations: Sequence[Invocation], replies: Replies) -> RunState | None:
    """The state at the start of the next round, or None where the report can be written or no round would add to it.

    The gate's code is asked beforehand what of the claims would stand. The first round without a proven cause gets a
    second one; from then on a round that found no new evidence is the last.
    """
    if state.round >= MAX_ROUNDS or not state.alerts:
        return None
    seen = projected(gated(state, invocations))
    verdict = evaluated(seen, invocations).verdict
    if verdict is Verdict.PASS or (state.round > 1 and not _found_anything(state.round, invocations)):
        return None
    return replace(
        state,
        round=state.round + 1,
        aiops_plan=None,
        executor_parse_status=NOT_YET,
        retry_context=_retry_context(seen, replies),
    )


def _found_anything(round: int, invocations: Iterable[Invocation]) -> bool:
    return any(call.key.round == round and call.evidence_status is EvidenceStatus.SUPPORTED for call in invocations)


def _retry_context(seen: RunState, replies: Replies) -> RetryContext:
    rejected = set(seen.gatekeeper_result.rejected_claim_ids) if seen.gatekeeper_result else set()
    stated = seen.executor_output.claims if seen.executor_output else ()
    unproven = [replies.text(seen.language, "retry_unproven", claim=c.claim_text) for c in stated if c.claim_id in rejected]
    facts = [replies.text(seen.language, "retry_alert", alert=seen.question), *unproven]
    return RetryContext(
        round=seen.round,
        missing_evidence_facts=tuple(facts[:MAX_FACTS]),
        instruction=replies.text(seen.language, "retry_instruction"),
        hints=tuple(hints(seen)),
    )
