"""Executor: looks up what the plan names, and drafts claims that are expanded to executor_evidence_v2."""

from __future__ import annotations

from dataclasses import replace

from agents.citations import exchanges_of, expanded, merged
from agents.contracts import ExecutorDraft, ExecutorInput, ParseStatus, ToolPermissions
from agents.deps import RunDeps
from agents.llm.base import Message
from agents.prompts import as_json, block, history_block
from agents.state import RunState
from agents.tool_loop import Investigation, investigate

NODE = "EXECUTOR"
# One more turn, the conclusion, the verifier and the composer.
RESERVED_STEPS = 4


async def run(state: RunState, deps: RunDeps) -> RunState:
    assert state.plan is not None
    draft = await investigate(_investigation(state, deps), state, deps)
    found = expanded(draft, exchanges_of(deps.door.invocations()), state.round)
    return replace(
        state,
        executor_output=merged(state.executor_output if state.round > 1 else None, found),
        executor_parse_status=ParseStatus(status="valid", detail="parsed executor evidence contract"),
    )


def _investigation(state: RunState, deps: RunDeps) -> Investigation[ExecutorDraft]:
    plan = state.plan
    assert plan is not None

    def given(permissions: ToolPermissions) -> ExecutorInput:
        return ExecutorInput(
            question=state.question,
            planner_plan=plan,
            history=state.history,
            available_knowledge_domains=deps.domains,
            retry_context=state.retry_context,
            tool_permissions=permissions,
        )

    def opening(earlier: str) -> tuple[Message, ...]:
        return deps.prompts.messages(
            "executor",
            now=state.now.isoformat(),
            zone=state.zone,
            language=state.language,
            question=block("question", state.question, state.fence),
            history=history_block(state.history, state.fence),
            plan=block("plan", as_json(plan), state.fence),
            knowledge_domains=as_json(deps.domains),
            retry_context=block("retry_context", as_json(state.retry_context), state.fence),
            earlier=earlier,
        )

    return Investigation("executor", NODE, ExecutorDraft, plan.selected_skill, given, opening, RESERVED_STEPS)
