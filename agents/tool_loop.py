"""The executors' loop: ask, call what is asked for, ask again, until the model concludes or a cap ends the run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

from pydantic import BaseModel

from agents.citations import answering, exchanges_of
from agents.contracts import ToolPermissions
from agents.deps import RunDeps
from agents.errors import ContractBroken, LimitReached
from agents.events import RunEvent
from agents.fences import shortened
from agents.llm.base import Exchange, Message, ModelReply, Role, ToolCall, ToolOffer
from agents.model_call import Answered, NodeRequest, ask
from agents.state import RunState
from agents.tool_text import tool_text
from tools.contracts import EvidenceStatus
from tools.errors import ToolBudgetSpent
from tools.invoke import CallKey, Invocation

READ_SKILL = "read_skill"
DETAIL_CHARS = 200
CHARS_A_TOKEN = 3
RESERVED_TOKENS = 8_000

Draft = TypeVar("Draft", bound=BaseModel)


@dataclass(frozen=True)
class Investigation(Generic[Draft]):
    """What an executor node brings. `given` makes its typed input of the tools on offer, `opening` the first messages, of
    what earlier rounds found. `reserved_steps` are the model calls that a last turn of look-ups must leave: one more turn, the
    conclusion, and whatever nodes come after."""

    role: Role
    node: str
    contract: type[Draft]
    skill: str | None
    given: Callable[[ToolPermissions], BaseModel]
    opening: Callable[[str], tuple[Message, ...]]
    reserved_steps: int


async def investigate(task: Investigation[Draft], state: RunState, deps: RunDeps) -> Draft:
    """The executor alone gets tools, and read_skill only for the skill that the planner selected.

    Raises what a model call raises, and LimitReached where the calls are spent and the model would not conclude.
    """
    deps.door.select_skill(task.skill)
    return await _Loop(task, state, deps).draft()


@dataclass(frozen=True)
class _Loop(Generic[Draft]):
    task: Investigation[Draft]
    state: RunState
    deps: RunDeps

    async def draft(self) -> Draft:
        base, left = self._base(), self._calls_left()
        offers = self._offers() if left > 0 else ()
        given = self.task.given(_permissions(offers))
        messages = self.task.opening(self._earlier())
        after: Answered[Draft] | None = None
        made = 0
        for turn in count(1):
            answered = after = await self._ask(given, messages, offers, turn, after)
            if answered.value is not None:
                return answered.value
            results = await self._run_calls(answered, base + made)
            made += len(results)
            messages = (*answered.messages, _said(answered.reply), *results)
            spent = "calls_spent" if made >= left else "budget_short" if self._is_short(answered, results) else None
            if spent is not None:
                offers = ()
                messages = (*messages, Message("user", self.deps.prompts.note(spent)))
        raise AssertionError("count() does not end")

    # ---------------------------------------------------------------- what it is given

    def _offers(self) -> tuple[ToolOffer, ...]:
        return tuple(offer for offer in self.deps.offers if offer.name != READ_SKILL or self.task.skill)

    def _earlier(self) -> str:
        """What an earlier round found, under the handles it has kept."""
        exchanges = exchanges_of(self._calls())
        texts = [
            tool_text(exchange, exchanges, self.deps.prompts, self.state.fence)
            for exchange in exchanges
            if exchange.node_round < self.state.round
        ]
        return "\n\n".join(texts) or "none"

    # ---------------------------------------------------------------- a turn

    async def _ask(
        self,
        given: BaseModel,
        messages: tuple[Message, ...],
        offers: tuple[ToolOffer, ...],
        turn: int,
        after: Answered[Draft] | None,
    ) -> Answered[Draft]:
        question = NodeRequest(
            self.task.role,
            self.task.node,
            self.task.contract,
            given,
            messages,
            tools=offers,
            exchanges=exchanges_of(self._calls()),
            sequence=turn,
        )
        try:
            return await ask(question, self.state, self.deps, after)
        except ContractBroken as error:
            if offers or not self.deps.offers:
                raise
            raise LimitReached("tool_calls", "the tool calls are spent and the model would not conclude") from error

    async def _run_calls(self, answered: Answered[Draft], base: int) -> tuple[Message, ...]:
        """All calls of one reply at once, numbered in the order in which the model wrote them."""
        calls = answered.reply.tool_calls
        outcomes = await asyncio.gather(
            *(self._run_call(call, base + index, answered.step_id) for index, call in enumerate(calls, 1)),
            return_exceptions=True,
        )
        done = [_raised_or(outcome) for outcome in outcomes]
        exchanges = exchanges_of(self._calls())
        return tuple(self._result(call, made, exchanges) for call, made in zip(calls, done, strict=True))

    async def _run_call(self, call: ToolCall, sequence: int, step_id: int) -> Invocation | None:
        """None where the run has no calls left."""
        run_id, door = self.state.run_id, self.deps.door
        key = CallKey(self._node, self.state.round, sequence)
        number = f"{key.node}/{key.round}/{key.sequence}"
        self.deps.tell(RunEvent(run_id, "tool_started", call.name, _asked(call), call=number))
        try:
            made = await door.call(key, call.name, call.arguments, step_id=step_id, raw_arguments=call.raw_arguments)
        except ToolBudgetSpent as error:
            self.deps.tell(RunEvent(run_id, "tool_finished", call.name, str(error), ok=False, call=number))
            return None
        self.deps.tell(RunEvent(run_id, "tool_finished", call.name, found(made), made.error is None, number))
        return made

    def _result(self, call: ToolCall, made: Invocation | None, exchanges: Sequence[Exchange]) -> Message:
        if made is None:
            return Message("tool", self.deps.prompts.note("not_run"), tool_call_id=call.id)
        exchange = next(exchange for exchange in exchanges if exchange.invocation_id == made.id)
        text = tool_text(answering(exchange, call), exchanges, self.deps.prompts, self.state.fence)
        return Message("tool", text, tool_call_id=call.id)

    # ---------------------------------------------------------------- the record

    @property
    def _node(self) -> str:
        """Calls of the backend that took over are its own: they never stand in for the failed model's."""
        node = self.task.node
        return f"{node}/taken" if node in self.state.walk.taken_over else node

    def _calls(self) -> tuple[Invocation, ...]:
        return self.deps.door.invocations()

    def _is_short(self, answered: Answered[Draft], results: Sequence[Message]) -> bool:
        """Whether one more turn of look-ups would leave too little to conclude and for what comes after."""
        limits, left = self.deps.limits, self.deps.ledger.left_after(answered.step_id)
        read = sum(len(message.content) for message in results) // CHARS_A_TOKEN
        next_turn = answered.reply.usage.total + read
        reserve = min(RESERVED_TOKENS, limits.tokens // 6)
        return left.steps < self.task.reserved_steps or left.tokens < 2 * next_turn + reserve

    def _others(self) -> list[CallKey]:
        """Calls of earlier rounds, and of the model that failed in this one: the same however often a run resumes."""
        here = (self._node, self.state.round)
        return [call.key for call in self._calls() if (call.key.node, call.key.round) != here]

    def _base(self) -> int:
        """Numbers go on where those of the model that failed in this round ended, so that handles never move."""
        return max((key.sequence for key in self._others() if key.round == self.state.round), default=0)

    def _calls_left(self) -> int:
        return self.deps.door.max_calls - len(self._others())


def found(made: Invocation) -> str:
    """A call's result in a few words, as progress shows it."""
    if made.error is not None:
        return shortened(made.error, DETAIL_CHARS)
    if made.evidence_status is EvidenceStatus.SUPPORTED:
        pieces = len(made.refs)
        return f"{pieces} quotable piece{'s' * (pieces > 1)}" if pieces else "done"
    return {EvidenceStatus.NO_EVIDENCE: "nothing found", EvidenceStatus.DEDUPED: "asked before"}[made.evidence_status]


def _permissions(offers: Sequence[ToolOffer]) -> ToolPermissions:
    return ToolPermissions(
        method_tools=tuple(offer.name for offer in offers if offer.origin == "builtin"),
        tool_callbacks=tuple(offer.name for offer in offers if offer.origin == "external"),
    )


def _said(reply: ModelReply) -> Message:
    return Message("assistant", reply.text, reply.tool_calls)


def _raised_or(outcome: Invocation | BaseException | None) -> Invocation | None:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _asked(call: ToolCall) -> str:
    """The arguments in one line, as people write them."""
    if call.arguments is None:
        return shortened(call.raw_arguments, DETAIL_CHARS)
    pairs = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items())
    return shortened(", ".join(pairs), DETAIL_CHARS)
