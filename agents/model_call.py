"""The one door to models: every model call of a run passes here, is recorded, and is replayed when a run is resumed."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from agents.deps import RunDeps
from agents.errors import ContractBroken, LimitReached, ModelRefused, ModelTimedOut, ModelUnavailable
from agents.fences import shortened
from agents.ledger import StepKey
from agents.llm.base import Exchange, Message, Model, ModelReply, ModelRequest, Role, ToolCall, ToolOffer, Usage
from agents.llm.parse import parse_answer
from agents.state import Walk
from storage.trace import NewStep, Step

SUMMARY_CHARS = 2_000
RESERVE_SECONDS = 10.0

Value = TypeVar("Value", bound=BaseModel)


@dataclass(frozen=True)
class Answered(Generic[Value]):
    """A reply that is good: tool calls (`value` None), or the contract's value.

    `messages` is the conversation up to the reply, a repair turn included; `fingerprint` stands for it, so that the next
    request needs to record and hash only what is new.
    """

    reply: ModelReply
    value: Value | None
    step_id: int
    messages: tuple[Message, ...]
    fingerprint: str


class Asking(Protocol):
    """What a model call needs to know of its run."""

    @property
    def session_id(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def now(self) -> datetime: ...
    @property
    def zone(self) -> str: ...
    @property
    def round(self) -> int: ...
    @property
    def walk(self) -> Walk: ...


@dataclass(frozen=True)
class NodeRequest(Generic[Value]):
    """One request as a node states it. `sequence` numbers a node's calls within a round."""

    role: Role
    node: str
    contract: type[Value]
    payload: BaseModel
    messages: tuple[Message, ...]
    tools: tuple[ToolOffer, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    sequence: int = 1


async def ask(
    question: NodeRequest[Value], state: Asking, deps: RunDeps, after: Answered[Value] | None = None
) -> Answered[Value]:
    """The model's answer, from the record where this very request was answered before.

    An answer out of contract gets one repair turn. Raises ModelUnavailable, ModelRefused, ContractBroken, LimitReached,
    and storage's errors.
    """
    model = deps.model(question.role, taken_over=question.node in state.walk.taken_over)
    request = _request(question, state, deps)
    before, fresh = _what_is_new(request, model, after)
    key = StepKey(question.node, state.round, question.sequence)
    spoken = _spoken(fresh)
    fingerprint = _hash(before, spoken)
    call = _Call(request, question.contract, key, model, state.session_id, deps, before, fresh, spoken, fingerprint)
    recorded = call.recorded()
    if recorded is not None:
        return recorded
    try:
        return await call.live()
    except _OutOfContract as broken:
        return await call.repairing(broken).live()


def _request(question: NodeRequest[Value], state: Asking, deps: RunDeps) -> ModelRequest:
    return ModelRequest(
        role=question.role,
        messages=question.messages,
        output=question.contract,
        payload=question.payload,
        language=state.language,
        now=state.now,
        zone=ZoneInfo(state.zone),
        tools=question.tools,
        exchanges=question.exchanges,
        timeout_seconds=deps.limits.model_seconds,
    )


class _OutOfContract(ContractBroken):
    def __init__(self, error: ContractBroken, reply: ModelReply) -> None:
        super().__init__(str(error), error.status)
        self.reply = reply


@dataclass(frozen=True)
class _Call(Generic[Value]):
    request: ModelRequest
    contract: type[Value]
    key: StepKey
    model: Model
    session_id: str
    deps: RunDeps
    before: str
    fresh: tuple[Message, ...]
    spoken: str
    fingerprint: str

    def recorded(self) -> Answered[Value] | None:
        step = self.deps.ledger.answer(self.key, self.fingerprint)
        if step is not None:
            return self._replayed(step, ())
        step = self.deps.ledger.answer(self.key, _repaired(self.fingerprint))
        if step is None:
            return None
        return self._replayed(step, tuple(_message_of(item) for item in json.loads(step.request_whole)["messages"]))

    def repairing(self, broken: _OutOfContract) -> _Call[Value]:
        """The one turn in which a broken answer may be put right. It is found again by the request it repairs: what the
        broken answer said is not known beforehand."""
        note = self.deps.prompts.note("repair", errors=str(broken))
        turns = (Message("assistant", broken.reply.text or "(no text)"), Message("user", note))
        request = replace(self.request, messages=(*self.request.messages, *turns))
        return replace(
            self,
            request=request,
            before=self.fingerprint,
            fresh=turns,
            spoken=_spoken(turns),
            fingerprint=_repaired(self.fingerprint),
        )

    async def live(self) -> Answered[Value]:
        self.deps.ledger.check()
        started = self.deps.clock()
        try:
            reply = await self._complete()
        except (ModelUnavailable, ModelRefused, LimitReached) as error:
            await self._record(started, error=f"{type(error).__name__}: {error}")
            raise
        try:
            value = self._value(reply)
        except ContractBroken as error:
            await self._record(started, reply, f"ContractBroken: {error}")
            raise _OutOfContract(error, reply) from error
        step = await self._record(started, reply)
        return Answered(reply, value, step.id, self.request.messages, self.fingerprint)

    async def _complete(self) -> ModelReply:
        remaining = self.deps.ledger.remaining_seconds()
        # Where the offline backend can take over, a hanging model must not use up its time.
        reserve = min(RESERVE_SECONDS, remaining / 2) if self.deps.offline else 0.0
        seconds = min(self.request.timeout_seconds, remaining - reserve)
        try:
            async with asyncio.timeout(seconds):
                return _encodable(await self.model.complete(replace(self.request, timeout_seconds=seconds)))
        except TimeoutError as error:
            if self.deps.ledger.remaining_seconds() <= 0:
                raise LimitReached("seconds", "the run's time ended during a model call") from error
            raise ModelTimedOut(f"{self.model.name} gave no answer within {seconds:.0f} s") from error

    def _value(self, reply: ModelReply) -> Value | None:
        if not reply.tool_calls:
            return parse_answer(reply.text, self.contract)
        if not self.request.tools:
            raise ContractBroken(self.deps.prompts.note("no_tools"))
        return None

    def _replayed(self, step: Step, turns: tuple[Message, ...]) -> Answered[Value]:
        reply = _reply_of(step)
        return Answered(reply, self._value(reply), step.id, (*self.request.messages, *turns), step.request_hash)

    async def _record(self, started: datetime, reply: ModelReply | None = None, error: str | None = None) -> Step:
        reply = reply or ModelReply("")
        duration = round((self.deps.clock() - started).total_seconds() * 1000)
        step = NewStep(
            session_id=self.session_id,
            node=self.key.node,
            round=self.key.round,
            sequence=self.key.sequence,
            request_hash=self.fingerprint,
            agent_name=self.request.role,
            model_name=self.model.name,
            model_input=shortened(_heard(self.fresh), SUMMARY_CHARS),
            model_output=shortened(reply.text or _calls_in_words(reply), SUMMARY_CHARS),
            thought=shortened(reply.thought, SUMMARY_CHARS),
            has_tool_call=bool(reply.tool_calls),
            duration_ms=duration,
            prompt_tokens=reply.usage.prompt_tokens,
            completion_tokens=reply.usage.completion_tokens,
            cached_tokens=reply.usage.cached_tokens,
            cost=reply.usage.cost,
            request_whole=_request_whole(self.before, self.spoken, self.request),
            reply_whole=_reply_whole(reply) if error is None or reply.text else "",
            ok=error is None,
            error=error,
        )
        stored = await self.deps.db.call(self.deps.store.add_step, self.deps.lease, step)
        self.deps.ledger.add(stored)
        return stored


def _what_is_new(
    request: ModelRequest, model: Model, after: Answered[Any] | None
) -> tuple[str, tuple[Message, ...]]:
    """The fingerprint of what was said before, and the messages since. Another model or other tools start anew."""
    setting = "\n".join([request.role, model.name, request.language, *(tool.name for tool in request.tools)])
    if after is None:
        return _hash(setting), request.messages
    return _hash(after.fingerprint, setting), request.messages[len(after.messages) :]


def _spoken(messages: tuple[Message, ...]) -> str:
    return json.dumps([_message(message) for message in messages], ensure_ascii=False)


def _repaired(fingerprint: str) -> str:
    return _hash(fingerprint, "repair")


def _hash(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _request_whole(before: str, spoken: str, request: ModelRequest) -> str:
    """What this call added to the conversation: whole requests would grow with the square of a run's turns."""
    head = json.dumps({"continues": before, "tools": [tool.name for tool in request.tools]}, ensure_ascii=False)
    return f'{head[:-1]}, "messages": {spoken}}}'


def _reply_whole(reply: ModelReply) -> str:
    usage = {field.name: getattr(reply.usage, field.name) for field in fields(reply.usage)}
    calls = [_call(call) for call in reply.tool_calls]
    whole = {"text": reply.text, "tool_calls": calls, "usage": usage, "thought": reply.thought}
    return json.dumps(whole, ensure_ascii=False)


def _message(message: Message) -> dict[str, Any]:
    whole: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        whole["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        whole["tool_call_id"] = message.tool_call_id
    return whole


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "name": call.name, "arguments": call.arguments, "raw_arguments": call.raw_arguments}


def _message_of(whole: dict[str, Any]) -> Message:
    calls = tuple(ToolCall(**call) for call in whole.get("tool_calls", ()))
    return Message(whole["role"], whole["content"], calls, whole.get("tool_call_id"))


def _reply_of(step: Step) -> ModelReply:
    whole = json.loads(step.reply_whole)
    return ModelReply(
        text=whole["text"],
        tool_calls=tuple(ToolCall(**call) for call in whole["tool_calls"]),
        usage=Usage(**whole["usage"]),
        thought=whole["thought"],
    )


def _heard(messages: tuple[Message, ...]) -> str:
    """What is new to the model, without the fixed part that every run repeats."""
    return "\n\n".join(message.content for message in messages if message.role != "system" and message.content)


def _encodable(reply: ModelReply) -> ModelReply:
    """Half a surrogate pair can be neither stored nor sent on."""
    return replace(reply, text=reply.text.encode("utf-8", "replace").decode())


def _calls_in_words(reply: ModelReply) -> str:
    return "\n".join(f"{call.name}({call.raw_arguments or json.dumps(call.arguments)})" for call in reply.tool_calls)
