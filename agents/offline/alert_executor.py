"""One turn of the aiops_executor without a model: the next look-ups, or the draft of the report."""

from __future__ import annotations

from agents.contracts import AiopsDraft, AiopsExecutorInput
from agents.llm.base import ModelRequest, ToolCall
from agents.offline.alert_draft import draft_alert
from agents.offline.alert_subject import subject_of
from agents.offline.asking import Asking, unsaid


def alert_turn(request: ModelRequest) -> tuple[ToolCall, ...] | AiopsDraft:
    """A pure function of the request: a resumed run takes the same way."""
    given = request.payload
    assert isinstance(given, AiopsExecutorInput)
    asking = Asking(
        request,
        question=subject_of(given.alerts, request.now, request.zone),
        skill=given.planner_plan.selected_skill,
        knows=bool(given.available_knowledge_domains),
        round=given.retry_context.round + 1 if given.retry_context else 1,
    )
    return asking.tool_calls() or _draft(asking, given)


def _draft(asking: Asking, given: AiopsExecutorInput) -> AiopsDraft:
    request, earlier, entities = asking.request, asking.earlier(), given.planner_plan.entities
    whole = draft_alert(asking.question, entities, request.tools, request.exchanges, request.language)
    if not earlier:
        return whole
    before = draft_alert(asking.question, entities, request.tools, earlier, request.language)
    claims = unsaid(whole.claims, before.claims)
    kept = {claim.claim_id for claim in claims}
    named = (one.model_copy(update={"claim_ids": tuple(n for n in one.claim_ids if n in kept)}) for one in whole.blast_radius)
    return whole.model_copy(update={"claims": claims, "blast_radius": tuple(one for one in named if one.claim_ids)})
