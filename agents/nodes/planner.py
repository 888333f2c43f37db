"""Planner: which skill fits, and which look-ups would settle the question. Sees skill names and descriptions alone."""

from __future__ import annotations

from dataclasses import replace

from agents.contracts import PlannerInput, PlannerPlan
from agents.deps import RunDeps
from agents.evidence_retry import retry_context
from agents.model_call import NodeRequest, ask
from agents.prompts import as_json, block, history_block
from agents.state import RunState

NODE = "PLANNER"


async def run(state: RunState, deps: RunDeps) -> RunState:
    if state.round > 1:
        state = replace(state, retry_context=retry_context(state, deps.replies))
    given = PlannerInput(
        question=state.question,
        history=state.history,
        available_knowledge_domains=deps.domains,
        skill_catalog=deps.skills,
        retry_context=state.retry_context,
    )
    messages = deps.prompts.messages(
        "planner",
        now=state.now.isoformat(),
        zone=state.zone,
        language=state.language,
        skill_catalog=as_json(given.skill_catalog),
        knowledge_domains=as_json(given.available_knowledge_domains),
        history=history_block(given.history, state.fence),
        question=block("question", given.question, state.fence),
        retry_context=block("retry_context", as_json(given.retry_context), state.fence),
    )
    answered = await ask(NodeRequest("planner", NODE, PlannerPlan, given, messages), state, deps)
    assert answered.value is not None
    return replace(state, plan=_of_the_catalogue(answered.value, deps))


def _of_the_catalogue(plan: PlannerPlan, deps: RunDeps) -> PlannerPlan:
    """A skill that does not exist is no skill: the plan's own steps stand."""
    name = plan.selected_skill
    if name is None or name in {card.name for card in deps.skills}:
        return plan
    return plan.model_copy(update={"selected_skill": None, "selection_reason": f"{plan.selection_reason} [{name}: ?]"})
