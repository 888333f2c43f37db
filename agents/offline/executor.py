"""One turn of the executor without a model: the next look-ups, or the draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.contracts import ExecutorDraft, ExecutorInput
from agents.llm.base import Exchange, ModelRequest, ToolCall
from agents.offline.diagnosis import draft
from agents.offline.external_calls import next_calls
from agents.offline.follow_up import read_in_context
from agents.offline.question import Question
from agents.offline.steps import Look


def turn(request: ModelRequest) -> tuple[ToolCall, ...] | ExecutorDraft:
    """A pure function of the request: a resumed run takes the same way."""
    assert isinstance(request.payload, ExecutorInput)
    question = read_in_context(request.payload.question, request.payload.history, request.now, request.zone)
    asking = _Asking(request, request.payload, question)
    calls = asking.calls(request.exchanges, asking.round) if request.tools else []
    if calls:
        first = len(request.exchanges) + 1
        return tuple(ToolCall(f"call-{first + at}", name, arguments) for at, (name, arguments) in enumerate(calls))
    return asking.draft()


@dataclass(frozen=True)
class _Asking:
    request: ModelRequest
    given: ExecutorInput
    question: Question

    @property
    def round(self) -> int:
        """The round that is being asked; a retry context counts those before it."""
        return self.given.retry_context.round + 1 if self.given.retry_context else 1

    def calls(self, exchanges: Sequence[Exchange], round: int) -> list[tuple[str, dict[str, Any]]]:
        outside = [(call.tool, call.arguments) for call in next_calls(self.question, self.request.tools, exchanges)]
        knows = bool(self.given.available_knowledge_domains)
        offers = [offer for offer in self.request.tools if offer.name != "lookup_knowledge" or knows]
        skill = self.given.planner_plan.selected_skill
        return [*Look(self.question, offers, exchanges, self.request.now, skill, round).next_calls(), *outside]

    def draft(self) -> ExecutorDraft:
        """What an earlier round of ours has said already is not said again."""
        whole = draft(self.question, self.request.tools, self.request.exchanges, self.request.language)
        earlier = [one for one in self.request.exchanges if one.node_round < self.round]
        if not earlier or not self._made_by_us(earlier):
            return whole
        before = draft(self.question, self.request.tools, earlier, self.request.language)
        said = {claim.claim_text for claim in before.claims}
        return whole.model_copy(update={"claims": tuple(claim for claim in whole.claims if claim.claim_text not in said)})

    def _made_by_us(self, exchanges: Sequence[Exchange]) -> bool:
        """A model whose second round we take over has chosen other calls, and other claims."""
        made = [(one.call.name, one.call.arguments) for one in exchanges]
        return all(call in made for call in self.calls((), 1))
