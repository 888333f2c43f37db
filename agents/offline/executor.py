"""One turn of the executor without a model: the next look-ups, or the draft."""

from __future__ import annotations

from agents.contracts import ExecutorDraft, ExecutorInput
from agents.llm.base import ModelRequest, ToolCall
from agents.offline.asking import Asking, unsaid
from agents.offline.diagnosis import draft
from agents.offline.follow_up import read_in_context


def turn(request: ModelRequest) -> tuple[ToolCall, ...] | ExecutorDraft:
    """A pure function of the request: a resumed run takes the same way."""
    given = request.payload
    assert isinstance(given, ExecutorInput)
    asking = Asking(
        request,
        question=read_in_context(given.question, given.history, request.now, request.zone),
        skill=given.planner_plan.selected_skill,
        knows=bool(given.available_knowledge_domains),
        round=given.retry_context.round + 1 if given.retry_context else 1,
    )
    return asking.tool_calls() or _draft(asking)


def _draft(asking: Asking) -> ExecutorDraft:
    request, earlier = asking.request, asking.earlier()
    whole = draft(asking.question, request.tools, request.exchanges, request.language)
    if not earlier:
        return whole
    before = draft(asking.question, request.tools, earlier, request.language)
    return whole.model_copy(update={"claims": unsaid(whole.claims, before.claims)})
