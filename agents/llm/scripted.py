"""A model that replays a transcript: what each role answered, call by call. For tests and benchmarks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from agents.errors import ModelRefused, ModelUnavailable
from agents.llm.base import Backend, Model, ModelReply, ModelRequest, ModelSettings, ToolCall, Usage


class ScriptedCall(BaseModel):
    """`raw` stands for arguments that are no JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    arguments: dict[str, Any] | None = None
    raw: str = ""


class Turn(BaseModel):
    """One model call: `reply` (text, or an object that is sent as JSON), `tool_calls`, or an `error`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: str
    reply: str | dict[str, Any] = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    error: Literal["unavailable", "refused"] | None = None
    retry_after_seconds: float | None = None
    thought: str = ""
    prompt_tokens: int = 100
    completion_tokens: int = 20
    cost: float | None = None


class Scripted:
    """Gives each role its turns in order. `asked` holds what it was asked, for tests that look at what a role sees.

    `skip` leaves out the first turns of a role: those that a run already had before it was resumed.
    """

    name = "scripted"
    uses_model = True

    def __init__(self, turns: Sequence[Turn], skip: Mapping[str, int] | None = None) -> None:
        self.asked: list[ModelRequest] = []
        self._turns: dict[str, list[Turn]] = {}
        for turn in turns:
            self._turns.setdefault(turn.role, []).append(turn)
        self._next = dict(skip or {})

    @classmethod
    def from_file(cls, path: Path, skip: Mapping[str, int] | None = None) -> Scripted:
        """Raises ModelRefused where the file is unreadable or no transcript."""
        try:
            return cls([Turn.model_validate(item) for item in json.loads(path.read_text(encoding="utf-8"))], skip)
        except (OSError, ValueError, TypeError, ValidationError) as error:
            raise ModelRefused(f"{path} is no readable transcript: {error}") from error

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        turn = self._turn(request.role)
        if turn.error == "unavailable":
            raise ModelUnavailable("the script says unavailable", turn.retry_after_seconds)
        if turn.error == "refused":
            raise ModelRefused("the script says refused")
        return ModelReply(
            text=turn.reply if isinstance(turn.reply, str) else json.dumps(turn.reply, ensure_ascii=False),
            tool_calls=tuple(self._call(call, index) for index, call in enumerate(turn.tool_calls)),
            usage=Usage(turn.prompt_tokens, turn.completion_tokens, 0, turn.cost),
            thought=turn.thought,
        )

    async def close(self) -> None:
        return None

    def _turn(self, role: str) -> Turn:
        index = self._next.get(role, 0)
        self._next[role] = index + 1
        turns = self._turns.get(role, [])
        if index >= len(turns):
            raise ModelRefused(f"the transcript has {len(turns)} turns of the {role}, and it was asked once more")
        return turns[index]

    def _call(self, call: ScriptedCall, index: int) -> ToolCall:
        raw = call.raw or json.dumps(call.arguments or {}, ensure_ascii=False)
        arguments = None if call.raw else call.arguments or {}
        return ToolCall(id=f"call-{len(self.asked)}-{index}", name=call.name, arguments=arguments, raw_arguments=raw)


def _build(settings: ModelSettings) -> Model:
    return Scripted.from_file(Path(settings.model.partition(":")[2]))


BACKEND = Backend(name="scripted", build=_build)
