"""From the aiops_executor's draft to the run's state: bindings for handles, and both in run-wide claim ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.citations import exchanges_of, expanded, merged
from agents.contracts import AiopsDraft, DraftBlast, ExecutorDraft
from agents.state import RunState
from tools.invocation import Invocation


def with_draft(state: RunState, draft: AiopsDraft, invocations: Sequence[Invocation]) -> RunState:
    """What earlier rounds stated stands beside it; on the blast radius the later round speaks first."""
    found = expanded(_as_executor_draft(draft), exchanges_of(invocations), state.round)
    return replace(
        state,
        executor_output=merged(state.executor_output, found),
        blast_radius=(*(_run_wide(blast, state.round) for blast in draft.blast_radius), *state.blast_radius),
        not_checked=tuple(dict.fromkeys((*draft.not_checked, *state.not_checked))),
    )


def _as_executor_draft(draft: AiopsDraft) -> ExecutorDraft:
    return ExecutorDraft(
        diagnosis_summary=draft.diagnosis_summary,
        claims=draft.claims,
        hypotheses=draft.hypotheses,
        recommended_actions=draft.recommended_actions,
        missing_info=draft.missing_info,
        user_facing_answer="",
    )


def _run_wide(blast: DraftBlast, round: int) -> DraftBlast:
    """Claim ids carry their round, as the expanded claims' do."""
    return blast.model_copy(update={"claim_ids": tuple(f"r{round}-{name}" for name in blast.claim_ids)})
