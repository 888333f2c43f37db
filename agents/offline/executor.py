"""One turn of the executor without a model: the next look-ups, or the draft."""

from __future__ import annotations

from agents.contracts import ExecutorDraft, ExecutorInput
from agents.llm.base import ModelRequest, ToolCall
from agents.offline.diagnosis import draft
from agents.offline.external_calls import next_calls
from agents.offline.question import Question, read
from agents.offline.steps import Look


def turn(request: ModelRequest) -> tuple[ToolCall, ...] | ExecutorDraft:
    """A pure function of the request: a resumed run takes the same way."""
    assert isinstance(request.payload, ExecutorInput)
    question = read(request.payload.question, request.now, request.zone)
    calls = _next(request, request.payload, question)
    if calls and request.tools:
        first = len(request.exchanges) + 1
        return tuple(ToolCall(f"call-{first + index}", name, arguments) for index, (name, arguments) in enumerate(calls))
    return draft(question, request.tools, request.exchanges, request.language)


def _next(request: ModelRequest, given: ExecutorInput, question: Question) -> list[tuple[str, dict[str, object]]]:
    outside = [(call.tool, call.arguments) for call in next_calls(question, request.tools, request.exchanges)]
    skill = given.planner_plan.selected_skill
    round = given.retry_context.round if given.retry_context else 1
    offers = [offer for offer in request.tools if offer.name != "lookup_knowledge" or given.available_knowledge_domains]
    look = Look(question, offers, request.exchanges, request.now, skill, round)
    return [*look.next_calls(), *outside]
