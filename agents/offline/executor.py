"""One turn of the executor without a model: the next look-ups, or the draft."""

from __future__ import annotations

from agents.contracts import ExecutorDraft, ExecutorInput
from agents.llm.base import ModelRequest, ToolCall
from agents.offline.asking import Asking, unsaid
from agents.offline.diagnosis import draft
from agents.offline.follow_up import read_in_context
from agents.offline.question import Question, read
from agents.offline.telling import ADDED_TOOL


def turn(request: ModelRequest) -> tuple[ToolCall, ...] | ExecutorDraft:
    """A pure function of the request: a resumed run takes the same way."""
    given = request.payload
    assert isinstance(given, ExecutorInput)
    asking = Asking(
        request,
        question=_question(request, given),
        skill=given.planner_plan.selected_skill,
        knows=bool(given.available_knowledge_domains),
        round=given.retry_context.round + 1 if given.retry_context else 1,
    )
    return asking.tool_calls() or _draft(asking)


def _question(request: ModelRequest, given: ExecutorInput) -> Question:
    """A question about what somebody put beside it takes up no earlier subject."""
    question = read(given.question, request.now, request.zone)
    has_added = any(offer.name == ADDED_TOOL for offer in request.tools) or any(
        exchange.call.name == ADDED_TOOL for exchange in request.exchanges
    )
    if has_added and question.asks_of_added:
        return question
    return read_in_context(given.question, given.history, request.now, request.zone)


def _draft(asking: Asking) -> ExecutorDraft:
    request, earlier = asking.request, asking.earlier()
    whole = draft(asking.question, request.tools, request.exchanges, request.language)
    if not earlier:
        return whole
    before = draft(asking.question, request.tools, earlier, request.language)
    return whole.model_copy(update={"claims": unsaid(whole.claims, before.claims)})
