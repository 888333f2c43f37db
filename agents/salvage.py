"""A run that a cap ends in the middle of its look-ups has evidence and no claims yet: code states what it can of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from agents.aiops_draft import with_draft
from agents.citations import exchanges_of, expanded, merged
from agents.contracts import AiopsDraft, AiopsExecutorInput, ExecutorDraft, ExecutorInput, ToolPermissions
from agents.deps import RunDeps
from agents.errors import ContractBroken, ModelRefused, ModelUnavailable
from agents.gating import gated, projected
from agents.llm.base import Model, ModelRequest, Role
from agents.llm.parse import parse_answer
from agents.state import RunState
from tools.invocation import Invocation

Draft = TypeVar("Draft", bound=BaseModel)


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
    if model is None or not any(call.refs and call.key.round == state.round for call in calls):
        return state
    by_rules = (deps.replies.text(state.language, "degraded"),)
    try:
        if state.plan is not None:
            draft = await _draft(model, state, calls, "executor", ExecutorDraft, _chat_input(state))
            found = expanded(draft.model_copy(update={"missing_info": by_rules}), exchanges_of(calls), state.round)
            return replace(state, executor_output=merged(state.executor_output, found))
        if state.aiops_plan is not None:
            alert = await _draft(model, state, calls, "aiops_executor", AiopsDraft, _aiops_input(state))
            return with_draft(state, alert.model_copy(update={"missing_info": by_rules}), calls)
    except (ContractBroken, ModelRefused, ModelUnavailable):
        pass
    return state


async def _draft(
    model: Model,
    state: RunState,
    calls: Sequence[Invocation],
    role: Role,
    contract: type[Draft],
    payload: BaseModel,
) -> Draft:
    reply = await model.complete(
        ModelRequest(
            role=role,
            messages=(),
            output=contract,
            payload=payload,
            language=state.language,
            now=state.now,
            zone=ZoneInfo(state.zone),
            exchanges=exchanges_of(calls),
        )
    )
    return parse_answer(reply.text, contract)


def _chat_input(state: RunState) -> ExecutorInput:
    assert state.plan is not None
    return ExecutorInput(
        question=state.question,
        planner_plan=state.plan,
        history=state.history,
        retry_context=state.retry_context,
        tool_permissions=ToolPermissions(method_tools=()),
    )


def _aiops_input(state: RunState) -> AiopsExecutorInput:
    assert state.mode is not None
    assert state.aiops_plan is not None
    return AiopsExecutorInput(
        mode=state.mode,
        alerts=state.alerts,
        planner_plan=state.aiops_plan,
        retry_context=state.retry_context,
        tool_permissions=ToolPermissions(method_tools=()),
    )
