"""What the engine asks next, of our tools and of those from outside, for a question or an alert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.contracts import DraftClaim
from agents.llm.base import Exchange, ModelRequest, ToolCall
from agents.offline.external_calls import next_calls
from agents.offline.question import Question
from agents.offline.steps import Call, Look
from agents.offline.telling import ADDED_TOOL


@dataclass(frozen=True)
class Asking:
    """`knows`: whether there is anything to look up; `round` the round that is being asked."""

    request: ModelRequest
    question: Question
    skill: str | None
    knows: bool
    round: int

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The next batch; empty where all is asked, or no tools are left."""
        calls = self.calls(self.request.exchanges, self.round) if self.request.tools else []
        first = len(self.request.exchanges) + 1
        return tuple(ToolCall(f"call-{first + at}", name, arguments) for at, (name, arguments) in enumerate(calls))

    def calls(self, exchanges: Sequence[Exchange], round: int) -> list[Call]:
        """A question about what somebody added, that names nothing else, is answered from that where it can be read."""
        outside = [(call.tool, call.arguments) for call in next_calls(self.question, self.request.tools, exchanges)]
        if self._is_of_added(exchanges):
            return [call for call in outside if call[0] == ADDED_TOOL]
        offers = [offer for offer in self.request.tools if offer.name != "lookup_knowledge" or self.knows]
        return [*Look(self.question, offers, exchanges, self.request.now, self.skill, round).next_calls(), *outside]

    def _is_of_added(self, exchanges: Sequence[Exchange]) -> bool:
        asks = self.question.asks_of_added and self.question.ask != "why" and not self.question.names_something
        unread = any(one.call.name == ADDED_TOOL and one.error for one in exchanges)
        return asks and not unread and any(offer.name == ADDED_TOOL for offer in self.request.tools)

    def earlier(self) -> list[Exchange]:
        """The look-ups of earlier rounds, where they were ours: a model whose second round we take over has chosen other
        calls, and other claims."""
        before = [one for one in self.request.exchanges if one.node_round < self.round]
        made = [(one.call.name, one.call.arguments) for one in before]
        return before if all(call in made for call in self.calls((), 1)) else []


def unsaid(claims: Sequence[DraftClaim], said: Sequence[DraftClaim]) -> tuple[DraftClaim, ...]:
    """What an earlier round of ours has said already is not said again."""
    texts = {claim.claim_text for claim in said}
    return tuple(claim for claim in claims if claim.claim_text not in texts)
