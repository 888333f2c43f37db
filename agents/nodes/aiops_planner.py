"""AIOps planner: which skill fits the alert, and which look-ups would explain it. Sees no evidence."""

from __future__ import annotations

from dataclasses import replace

from agents.alert_text import alerts_block
from agents.contracts import AiopsPlan, AiopsPlannerInput
from agents.deps import RunDeps
from agents.model_call import NodeRequest, ask
from agents.prompts import as_json, block
from agents.state import RunState

NODE = "AIOPS_PLANNER"


async def run(state: RunState, deps: RunDeps) -> RunState:
    assert state.mode is not None
    given = AiopsPlannerInput(
        mode=state.mode,
        alerts=state.alerts,
        round=state.round,
        available_knowledge_domains=deps.domains,
        skill_catalog=deps.skills,
        retry_context=state.retry_context,
    )
    messages = deps.prompts.messages(
        "aiops_planner",
        now=state.now.isoformat(),
        zone=state.zone,
        language=state.language,
        mode=given.mode,
        round=str(given.round),
        skill_catalog=as_json(given.skill_catalog),
        knowledge_domains=as_json(given.available_knowledge_domains),
        alerts=alerts_block(given.alerts, state.fence),
        retry_context=block("retry_context", as_json(given.retry_context), state.fence),
    )
    answered = await ask(NodeRequest("aiops_planner", NODE, AiopsPlan, given, messages), state, deps)
    assert answered.value is not None
    return replace(state, aiops_plan=_of_the_catalogue(answered.value, deps))


def _of_the_catalogue(plan: AiopsPlan, deps: RunDeps) -> AiopsPlan:
    """A skill that does not exist is no skill: the plan's own steps stand."""
    name = plan.selected_skill
    if name is None or name in {card.name for card in deps.skills}:
        return plan
    return plan.model_copy(update={"selected_skill": None, "selection_reason": f"{plan.selection_reason} [{name}: ?]"})
