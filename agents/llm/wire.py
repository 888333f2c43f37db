"""Our values on the Chat Completions wire, and back. No network, no openai import: plain dicts and what they mean."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from agents.llm.base import Message, ToolCall, ToolOffer, Usage

ANSWER_TOOL = "submit_answer"


@dataclass(frozen=True)
class Collected:
    """One answer, however it came: whole or in pieces."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()


def messages_on_the_wire(messages: Sequence[Message], reasoning: Mapping[str, str]) -> list[dict[str, Any]]:
    """Leading system messages become one: some deployments accept no second."""
    head = [message.content for message in _leading_system(messages)]
    wire: list[dict[str, Any]] = [{"role": "system", "content": "\n\n".join(head)}] if head else []
    wire += [_message(message, reasoning) for message in messages[len(head) :]]
    return wire


def _leading_system(messages: Sequence[Message]) -> list[Message]:
    head: list[Message] = []
    for message in messages:
        if message.role != "system":
            break
        head.append(message)
    return head


def _message(message: Message, reasoning: Mapping[str, str]) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.role == "tool":
        wire["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        wire["tool_calls"] = [_call(call) for call in message.tool_calls]
        thought = next((reasoning[call.id] for call in message.tool_calls if call.id in reasoning), None)
        if thought is not None:
            wire["reasoning_content"] = thought
    return wire


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = call.raw_arguments if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def offered_tool(offer: ToolOffer) -> dict[str, Any]:
    function = {"name": offer.name, "description": offer.description, "parameters": offer.parameters}
    return {"type": "function", "function": function}


def answer_tool(output: type[BaseModel]) -> dict[str, Any]:
    """The final answer as a function, for servers without response_format and for turns that offer evidence tools."""
    function = {
        "name": ANSWER_TOOL,
        "description": "Hand in the final answer. Call it once, alone, when no further tool call is needed.",
        "parameters": answer_schema(output),
    }
    return {"type": "function", "function": function}


def answer_schema(output: type[BaseModel]) -> dict[str, Any]:
    """The contract as strict mode wants it: every property required, nothing extra, no defaults, no titles."""
    strict = _strict(output.model_json_schema())
    assert isinstance(strict, dict)
    return strict


def _strict(node: Any, *, of_names: bool = False) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    if of_names:  # a mapping of property or definition names: "title" may be one of them
        return {name: _strict(value) for name, value in node.items()}
    clean = {
        key: _strict(value, of_names=key in ("properties", "$defs"))
        for key, value in node.items()
        if key not in ("default", "title")
    }
    if "properties" in clean:
        clean |= {"required": list(clean["properties"]), "additionalProperties": False}
    return clean


def collect(completion: Any) -> Collected:
    """A whole answer. Raises ValueError, TypeError or AttributeError where it is none (HTML, an error in a 200)."""
    if not completion.choices:
        raise ValueError("no choices in the answer")
    message = completion.choices[0].message
    calls = tuple(
        tool_call(call.id or f"call-{index}", call.function.name, call.function.arguments)
        for index, call in enumerate(message.tool_calls or ())
    )
    return Collected(
        text=message.content or "",
        reasoning=getattr(message, "reasoning_content", None) or "",
        refusal=_refusal(message, completion.choices[0].finish_reason),
        tool_calls=calls,
        usage=usage_of(completion.usage),
    )


def _refusal(message: Any, finish_reason: str | None) -> str:
    if finish_reason == "content_filter":
        return "the endpoint's content filter stopped the answer"
    return getattr(message, "refusal", None) or ""


@dataclass
class _Pieces:
    """A streamed tool call while it grows."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


async def collect_stream(stream: AsyncIterable[Any]) -> Collected:
    """An answer in pieces. Raises ValueError where the stream ends without a finish reason: it was cut."""
    text: list[str] = []
    reasoning: list[str] = []
    refusal: list[str] = []
    calls: dict[int, _Pieces] = {}
    usage, finished = Usage(), None
    async for chunk in stream:
        if chunk.usage is not None:
            usage = usage_of(chunk.usage)
        for choice in chunk.choices or ():
            delta = choice.delta
            text.append(delta.content or "")
            reasoning.append(getattr(delta, "reasoning_content", None) or "")
            refusal.append(getattr(delta, "refusal", None) or "")
            _add_calls(calls, delta.tool_calls or ())
            finished = choice.finish_reason or finished
    if finished is None:
        raise ValueError("the stream ended before the answer did")
    if finished == "content_filter":
        refusal.append("the endpoint's content filter stopped the answer")
    done = tuple(
        tool_call(call.id or f"call-{index}", call.name, "".join(call.arguments))
        for index, call in sorted(calls.items())
    )
    return Collected("".join(text), "".join(reasoning), "".join(refusal), done, usage)


def _add_calls(calls: dict[int, _Pieces], deltas: Sequence[Any]) -> None:
    for delta in deltas:
        piece = calls.setdefault(delta.index, _Pieces())
        piece.id = delta.id or piece.id
        if delta.function is not None:
            piece.name = delta.function.name or piece.name
            piece.arguments.append(delta.function.arguments or "")


def tool_call(call_id: str, name: str, raw: str | None) -> ToolCall:
    """Unreadable arguments stay None beside the raw text: a call must never run with a guess."""
    text = (raw or "").strip() or "{}"
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = None
    return ToolCall(
        id=call_id,
        name=name,
        arguments=arguments if isinstance(arguments, dict) else None,
        raw_arguments=text,
    )


def usage_of(usage: Any) -> Usage:
    """Every count is optional on the wire."""
    if usage is None:
        return Usage()
    details = getattr(usage, "prompt_tokens_details", None)
    return Usage(
        prompt_tokens=usage.prompt_tokens or 0,
        completion_tokens=usage.completion_tokens or 0,
        cached_tokens=(getattr(details, "cached_tokens", None) or 0) if details is not None else 0,
    )
