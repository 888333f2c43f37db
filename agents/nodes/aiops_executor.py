"""AIOps executor: looks up what the plan names, and drafts claims and the blast radius."""

from __future__ import annotations

from dataclasses import replace

from agents.aiops_draft import with_draft
from agents.alert_text import alerts_block
from agents.contracts import AiopsDraft, AiopsExecutorInput, ParseStatus, ToolPermissions
from agents.deps import RunDeps
from agents.llm.base import Message
from agents.prompts import as_json, block
from agents.state import RunState
from agents.tool_loop import Investigation, investigate

NODE = "AIOPS_EXECUTOR"
# One more turn and the conclusion: no model speaks after it.
RESERVED_STEPS = 2


async def run(state: RunState, deps: RunDeps) -> RunState:
    draft = await investigate(_investigation(state, deps), state, deps)
    status = ParseStatus(status="valid", detail="parsed aiops executor contract")
    return replace(with_draft(state, draft, deps.door.invocations()), executor_parse_status=status)


def _investigation(state: RunState, deps: RunDeps) -> Investigation[AiopsDraft]:
    plan, mode = state.aiops_plan, state.mode
    assert plan is not None
    assert mode is not None

    def given(permissions: ToolPermissions) -> AiopsExecutorInput:
        return AiopsExecutorInput(
            mode=mode,
            alerts=state.alerts,
            planner_plan=plan,
            available_knowledge_domains=deps.domains,
            retry_context=state.retry_context,
            tool_permissions=permissions,
        )

    def opening(earlier: str) -> tuple[Message, ...]:
        return deps.prompts.messages(
            "aiops_executor",
            now=state.now.isoformat(),
            zone=state.zone,
            language=state.language,
            mode=mode,
            alerts=alerts_block(state.alerts, state.fence),
            plan=block("plan", as_json(plan), state.fence),
            knowledge_domains=as_json(deps.domains),
            retry_context=block("retry_context", as_json(state.retry_context), state.fence),
            earlier=earlier,
        )

    return Investigation("aiops_executor", NODE, AiopsDraft, plan.selected_skill, given, opening, RESERVED_STEPS)
