"""Executor: the loop of model calls and tool calls, and the draft expanded to executor_evidence_v2."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from agents.citations import answering, exchanges_of, expanded, merged
from agents.contracts import ExecutorDraft, ExecutorInput, ParseStatus, PlannerPlan, ToolPermissions
from agents.deps import RunDeps
from agents.errors import ContractBroken, LimitReached
from agents.events import RunEvent
from agents.fences import shortened
from agents.llm.base import Exchange, Message, ModelReply, ToolCall, ToolOffer
from agents.model_call import Answered, NodeRequest, ask
from agents.prompts import as_json, block, history_block
from agents.state import RunState
from agents.tool_text import tool_text
from tools.contracts import EvidenceStatus
from tools.errors import ToolBudgetSpent
from tools.invoke import CallKey, Invocation

NODE = "EXECUTOR"
READ_SKILL = "read_skill"
DETAIL_CHARS = 200
CHARS_A_TOKEN = 3
# One more turn, the conclusion, the verifier and the composer.
RESERVED_STEPS = 4
RESERVED_TOKENS = 8_000


async def run(state: RunState, deps: RunDeps) -> RunState:
    assert state.plan is not None
    deps.door.select_skill(state.plan.selected_skill)
    draft = await _Investigation(state, deps, state.plan).draft()
    found = expanded(draft, exchanges_of(deps.door.invocations()), state.round)
    return replace(
        state,
        executor_output=merged(state.executor_output if state.round > 1 else None, found),
        executor_parse_status=ParseStatus(status="valid", detail="parsed executor evidence contract"),
    )


@dataclass(frozen=True)
class _Investigation:
    state: RunState
    deps: RunDeps
    plan: PlannerPlan

    async def draft(self) -> ExecutorDraft:
        """Ask, call what is asked for, ask again, until the model concludes or a cap ends the run."""
        base, left = self._base(), self._calls_left()
        offers = self._offers() if left > 0 else ()
        given = self._input(offers)
        messages = self._opening(given)
        after: Answered[ExecutorDraft] | None = None
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
        """The executor alone gets tools, and read_skill only for the skill that the planner selected."""
        return tuple(offer for offer in self.deps.offers if offer.name != READ_SKILL or self.plan.selected_skill)

    def _input(self, offers: tuple[ToolOffer, ...]) -> ExecutorInput:
        return ExecutorInput(
            question=self.state.question,
            planner_plan=self.plan,
            history=self.state.history,
            available_knowledge_domains=self.deps.domains,
            retry_context=self.state.retry_context,
            tool_permissions=ToolPermissions(
                method_tools=tuple(offer.name for offer in offers if offer.origin == "builtin"),
                tool_callbacks=tuple(offer.name for offer in offers if offer.origin == "external"),
            ),
        )

    def _opening(self, given: ExecutorInput) -> tuple[Message, ...]:
        state = self.state
        return self.deps.prompts.messages(
            "executor",
            now=state.now.isoformat(),
            zone=state.zone,
            language=state.language,
            question=block("question", given.question, state.fence),
            history=history_block(given.history, state.fence),
            plan=block("plan", as_json(given.planner_plan), state.fence),
            knowledge_domains=as_json(given.available_knowledge_domains),
            retry_context=block("retry_context", as_json(given.retry_context), state.fence),
            earlier=self._earlier(),
        )

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
        given: ExecutorInput,
        messages: tuple[Message, ...],
        offers: tuple[ToolOffer, ...],
        turn: int,
        after: Answered[ExecutorDraft] | None,
    ) -> Answered[ExecutorDraft]:
        question = NodeRequest(
            "executor",
            NODE,
            ExecutorDraft,
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

    async def _run_calls(self, answered: Answered[ExecutorDraft], base: int) -> tuple[Message, ...]:
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
        self.deps.tell(RunEvent(run_id, "tool_finished", call.name, _found(made), made.error is None, number))
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
        return f"{NODE}/taken" if NODE in self.state.walk.taken_over else NODE

    def _calls(self) -> tuple[Invocation, ...]:
        return self.deps.door.invocations()

    def _is_short(self, answered: Answered[ExecutorDraft], results: Sequence[Message]) -> bool:
        """Whether one more turn of look-ups would leave too little to conclude, verify and compose."""
        limits, left = self.deps.limits, self.deps.ledger.left_after(answered.step_id)
        read = sum(len(message.content) for message in results) // CHARS_A_TOKEN
        next_turn = answered.reply.usage.total + read
        reserve = min(RESERVED_TOKENS, limits.tokens // 6)
        return left.steps < RESERVED_STEPS or left.tokens < 2 * next_turn + reserve

    def _others(self) -> list[CallKey]:
        """Calls of earlier rounds, and of the model that failed in this one: the same however often a run resumes."""
        here = (self._node, self.state.round)
        return [call.key for call in self._calls() if (call.key.node, call.key.round) != here]

    def _base(self) -> int:
        """Numbers go on where those of the model that failed in this round ended, so that handles never move."""
        return max((key.sequence for key in self._others() if key.round == self.state.round), default=0)

    def _calls_left(self) -> int:
        return self.deps.door.max_calls - len(self._others())


def _said(reply: ModelReply) -> Message:
    return Message("assistant", reply.text, reply.tool_calls)


def _raised_or(outcome: Invocation | BaseException | None) -> Invocation | None:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _found(made: Invocation) -> str:
    if made.error is not None:
        return shortened(made.error, DETAIL_CHARS)
    if made.evidence_status is EvidenceStatus.SUPPORTED:
        pieces = len(made.refs)
        return f"{pieces} quotable piece{'s' * (pieces > 1)}" if pieces else "done"
    return {EvidenceStatus.NO_EVIDENCE: "nothing found", EvidenceStatus.DEDUPED: "asked before"}[made.evidence_status]


def _asked(call: ToolCall) -> str:
    """The arguments in one line, as people write them."""
    if call.arguments is None:
        return shortened(call.raw_arguments, DETAIL_CHARS)
    pairs = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items())
    return shortened(", ".join(pairs), DETAIL_CHARS)
