"""A run that a cap ends in the middle of its look-ups has evidence and no claims yet: code states what it can of it."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

from agents.citations import exchanges_of, expanded, merged
from agents.contracts import ExecutorDraft, ExecutorInput, ToolPermissions
from agents.deps import RunDeps
from agents.errors import ContractBroken, ModelRefused, ModelUnavailable
from agents.gating import gated, projected
from agents.llm.base import Model, ModelRequest
from agents.llm.parse import parse_answer
from agents.state import RunState


async def salvaged(state: RunState, deps: RunDeps) -> RunState:
    """The state with all that the gate passes: of the executor's claims where it had stated any in this round, else of
    claims by the backend that needs no model. After a fault of ours nothing is run again."""
    if state.walk.ending == "error":
        return state
    if not _stated_this_round(state):
        state = await _drafted(state, deps)
    return state if state.executor_output is None else projected(gated(state, deps.door.invocations()))


def _stated_this_round(state: RunState) -> bool:
    claims = state.executor_output.claims if state.executor_output else ()
    return any(claim.claim_id.startswith(f"r{state.round}-") for claim in claims)


async def _drafted(state: RunState, deps: RunDeps) -> RunState:
    """No step of the run: no model is asked. As it was where there is nothing to state, or nobody to state it."""
    model, calls = deps.without_model, deps.door.invocations()
    if model is None or state.plan is None or not any(call.refs and call.key.round == state.round for call in calls):
        return state
    try:
        draft = await _draft(model, state, deps)
    except (ContractBroken, ModelRefused, ModelUnavailable):
        return state
    by_rules = deps.replies.text(state.language, "degraded")
    found = expanded(draft.model_copy(update={"missing_info": (by_rules,)}), exchanges_of(calls), state.round)
    return replace(state, executor_output=merged(state.executor_output, found))


async def _draft(model: Model, state: RunState, deps: RunDeps) -> ExecutorDraft:
    assert state.plan is not None
    reply = await model.complete(
        ModelRequest(
            role="executor",
            messages=(),
            output=ExecutorDraft,
            payload=ExecutorInput(
                question=state.question,
                planner_plan=state.plan,
                history=state.history,
                retry_context=state.retry_context,
                tool_permissions=ToolPermissions(method_tools=()),
            ),
            language=state.language,
            now=state.now,
            zone=ZoneInfo(state.zone),
            exchanges=exchanges_of(deps.door.invocations()),
        )
    )
    return parse_answer(reply.text, ExecutorDraft)
