"""The seam between nodes and models: typed input in, text or tool calls out, usage back.

A backend never runs a tool, writes a row or retries: `agents/model_call.py` records and repairs, the walker retries,
the executor node runs the calls. A request carries two forms of the same input: `messages` for models that read text,
and `payload` + `exchanges` for backends that work on the typed values (offline).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from tools.contracts import EvidenceRef, EvidenceStatus

Role = Literal["planner", "executor", "verifier", "composer", "aiops_planner", "aiops_executor"]


@dataclass(frozen=True)
class ToolCall:
    """`id` is the model's own (echoed back to it); `arguments` is None where the model sent unreadable JSON,
    and `raw_arguments` is then what it sent."""

    id: str
    name: str
    arguments: dict[str, Any] | None
    raw_arguments: str = ""


@dataclass(frozen=True)
class Message:
    """`role` assistant may carry tool_calls; role tool answers `tool_call_id`. A fixed prefix stays byte-identical."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True)
class CitedRef:
    """An evidence ref under the short handle (E12) by which a model cites it."""

    handle: str
    invocation_id: int
    tool_name: str
    ref: EvidenceRef


@dataclass(frozen=True)
class Exchange:
    """One finished tool call of this run as the executor sees it. `error` is set where the call failed."""

    call: ToolCall
    invocation_id: int
    evidence_status: EvidenceStatus
    refs: tuple[CitedRef, ...]
    payload: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    node_round: int = 1


@dataclass(frozen=True)
class ToolOffer:
    """A tool as offered to the model. `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]
    origin: Literal["builtin", "external"] = "builtin"
    gives_evidence: bool = True


@dataclass(frozen=True)
class ModelRequest:
    """`output` is the contract that the final text must meet. `language` is the answer's ("zh" or "en")."""

    role: Role
    messages: tuple[Message, ...]
    output: type[BaseModel]
    payload: BaseModel
    language: str
    now: datetime
    zone: ZoneInfo
    tools: tuple[ToolOffer, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    max_output_tokens: int = 4096
    timeout_seconds: float = 60.0


@dataclass(frozen=True)
class Usage:
    """Token counts as the server reported them, 0 where it reported none. `cost` None = price unknown."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class ModelReply:
    """Either tool calls or the final `text` (JSON of the request's contract). `thought` is what the model said aside."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    thought: str = ""


class Model(Protocol):
    """Raises ModelUnavailable or ModelRefused (agents/errors.py), nothing else but CancelledError.

    `name` is shown to people and stored ("offline", "gpt-5-mini"). `uses_model` is False for backends in code.
    """

    @property
    def name(self) -> str: ...

    @property
    def uses_model(self) -> bool: ...

    async def complete(self, request: ModelRequest) -> ModelReply: ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class ModelSettings:
    """What an operator sets about models. Prices are per million tokens; None = unknown, shown as tokens alone.

    `role_models` names another model for a role. `extra_body` goes into each request as it is (enable_thinking …).
    `stream` is for servers that only stream; the answer is the same.
    """

    model: str
    role_models: Mapping[str, str] = field(default_factory=dict)
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    price_in: float | None = None
    price_out: float | None = None
    price_cached: float | None = None
    timeout_seconds: float = 60.0
    temperature: float | None = 0.0
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = False

    def model_for(self, role: str) -> str:
        return self.role_models.get(role, self.model)


@dataclass(frozen=True)
class Backend:
    """What a module of agents/llm offers as BACKEND. `build` does no I/O."""

    name: str
    build: Callable[[ModelSettings], Model]
