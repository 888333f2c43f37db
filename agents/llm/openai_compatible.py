"""Chat Completions at any OpenAI-compatible endpoint (OpenAI, Azure v1, vLLM, Ollama, DashScope, DeepSeek).

Servers differ in what they take, so each (endpoint, model) starts with the richest request and learns from its 400s:
the answer's form goes down json_schema → tool → json_object → prompt, and a parameter that is refused is left out.
Where evidence tools are offered the answer is one more function, `submit_answer`: a response_format would keep some
servers from calling tools at all, without an error.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from agents.errors import ModelRefused, ModelTimedOut, ModelUnavailable
from agents.llm.base import Backend, ModelReply, ModelRequest, ModelSettings, Usage
from agents.llm.wire import (
    ANSWER_TOOL,
    Collected,
    answer_schema,
    answer_tool,
    collect,
    collect_stream,
    messages_on_the_wire,
    offered_tool,
)
from tools.redaction import Redactor

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

Form = Literal["json_schema", "tool", "json_object", "prompt"]
LADDER: tuple[Form, ...] = ("json_schema", "tool", "json_object", "prompt")
FORM_WORDS = ("response_format", "json_schema", "json_object", "schema", "structured")
STREAM_ONLY = re.compile(r"\bstream(?!_options)")  # not "upstream"
TOOL_WORDS = ("tool_choice", "tools", "function")
RETRYABLE = frozenset({408, 409, 425, 429})
DEFAULT_BASE_URL = "https://api.openai.com/v1"
MAX_LESSONS = 8
KEPT_REASONING = 256


@dataclass(frozen=True)
class Profile:
    """What one model at one endpoint has been seen to take."""

    form: Form = "json_schema"
    temperature: bool = True
    output_cap: Literal["max_tokens", "max_completion_tokens", "none"] = "max_tokens"
    forced_tool: bool = True
    stream: bool = False
    stream_usage: bool = True


@dataclass
class OpenAICompatible:
    """One client a process: a new one a call costs thirteen times the CPU."""

    settings: ModelSettings
    uses_model: bool = True
    _client: AsyncOpenAI | None = None
    _profiles: dict[str, Profile] = field(default_factory=dict)
    _reasoning: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.settings.model

    async def complete(self, request: ModelRequest) -> ModelReply:
        model = self.settings.model_for(request.role)
        seconds = min(request.timeout_seconds, self.settings.timeout_seconds)
        try:
            async with asyncio.timeout(seconds):
                answer = await self._ask_and_learn(model, request)
        except TimeoutError as error:
            raise ModelTimedOut(f"{model} gave no answer within {seconds:.0f} s") from error
        self._keep_reasoning(answer)
        return _reply(answer, self.settings)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _ask_and_learn(self, model: str, request: ModelRequest) -> Collected:
        from openai import APIConnectionError, APIError, APIStatusError, OpenAIError

        for _ in range(MAX_LESSONS):
            profile = self._profiles.get(model, Profile(stream=self.settings.stream))
            try:
                return await self._ask(model, request, profile)
            except APIStatusError as error:
                lesson = learn(profile, error.status_code, _message(error), bool(request.tools))
                if lesson is None:
                    raise status_error(error, model) from error
                self._profiles[model] = lesson
            except APIConnectionError as error:
                raise ModelUnavailable(f"cannot reach {self._base_url}: {error}") from error
            except APIError as error:  # an error event inside a stream
                raise ModelUnavailable(f"{model} broke off: {error.message}") from error
            except OpenAIError as error:
                raise ModelRefused(f"the client for {model} cannot be set up: {error}") from error
            except (ValueError, TypeError, AttributeError, KeyError) as error:  # HTML, cut JSON, choices: null
                raise ModelUnavailable(
                    f"{self._base_url} answered something that is not a chat completion ({type(error).__name__})"
                ) from error
        raise ModelRefused(f"{model} refused every form of the request; see PROOFTHREAD_BASE_URL")

    async def _ask(self, model: str, request: ModelRequest, profile: Profile) -> Collected:
        body = self._body(model, request, profile)
        completions = self._open().chat.completions
        if profile.stream:
            return await collect_stream(await completions.create(**body, stream=True))
        return collect(await completions.create(**body))

    def _body(self, model: str, request: ModelRequest, profile: Profile) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": model,
            "messages": messages_on_the_wire(request.messages, self._reasoning),
            **_output_form(request, profile),
        }
        if profile.temperature and self.settings.temperature is not None:
            body["temperature"] = self.settings.temperature
        if profile.output_cap != "none":
            body[profile.output_cap] = request.max_output_tokens
        if profile.stream and profile.stream_usage:
            body["stream_options"] = {"include_usage": True}
        if self.settings.extra_body:
            body["extra_body"] = dict(self.settings.extra_body)
        return body

    def _open(self) -> AsyncOpenAI:
        if self._client is None:
            from openai import AsyncOpenAI  # 1.3 s of CPU: never at start-up

            self._client = AsyncOpenAI(
                api_key=self.settings.api_key or "not-set",  # local servers want one, any one
                base_url=self._base_url,
                max_retries=0,  # one retry budget, the walker's
                timeout=self.settings.timeout_seconds,
            )
        return self._client

    @property
    def _base_url(self) -> str:
        return self.settings.base_url or DEFAULT_BASE_URL

    def _keep_reasoning(self, answer: Collected) -> None:
        """DeepSeek refuses a tool turn whose reasoning is not sent back with it."""
        if not answer.reasoning:
            return
        for call in answer.tool_calls:
            self._reasoning[call.id] = answer.reasoning
        while len(self._reasoning) > KEPT_REASONING:
            self._reasoning.pop(next(iter(self._reasoning)))


def _output_form(request: ModelRequest, profile: Profile) -> dict[str, Any]:
    if request.tools:
        return {"tools": [*(offered_tool(tool) for tool in request.tools), answer_tool(request.output)]}
    if profile.form == "json_schema":
        schema = {"name": request.output.__name__, "strict": True, "schema": answer_schema(request.output)}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    if profile.form == "tool":
        forced = {"type": "function", "function": {"name": ANSWER_TOOL}} if profile.forced_tool else "auto"
        return {"tools": [answer_tool(request.output)], "tool_choice": forced}
    if profile.form == "json_object":
        return {"response_format": {"type": "json_object"}}
    return {}


def learn(profile: Profile, status: int, message: str, has_tools: bool) -> Profile | None:
    """The profile to try next after a 400 or 422 that names a parameter, or None where there is nothing to learn."""
    if status not in (400, 422):
        return None
    words = message.lower()
    if "stream_options" in words and profile.stream and profile.stream_usage:
        return replace(profile, stream_usage=False)
    if STREAM_ONLY.search(words) and not profile.stream:
        return replace(profile, stream=True)
    if "temperature" in words and profile.temperature:
        return replace(profile, temperature=False)
    if "max_tokens" in words and profile.output_cap == "max_tokens":
        return replace(profile, output_cap="max_completion_tokens")
    if "max_completion_tokens" in words and profile.output_cap == "max_completion_tokens":
        return replace(profile, output_cap="none")
    return None if has_tools else _step_down(profile, words)


def _step_down(profile: Profile, words: str) -> Profile | None:
    if profile.form == "tool" and "tool_choice" in words and profile.forced_tool:
        return replace(profile, forced_tool=False)
    named = TOOL_WORDS if profile.form == "tool" else FORM_WORDS
    if profile.form == "prompt" or not any(word in words for word in named):
        return None
    return replace(profile, form=LADDER[LADDER.index(profile.form) + 1])


def status_error(error: APIStatusError, model: str) -> ModelUnavailable | ModelRefused:
    """Who must act: 408, 409, 425, 429 and 5xx pass by themselves; the rest is for the operator."""
    status, message = error.status_code, _message(error)
    spent = "insufficient_quota" in message or error.code == "insufficient_quota"
    if (status in RETRYABLE or status >= 500) and not spent:
        return ModelUnavailable(f"{model} answered {status}: {message}", _retry_after(error.response.headers))
    advice = {
        401: "check PROOFTHREAD_API_KEY",
        403: "the key may not use this model",
        404: "check PROOFTHREAD_MODEL and PROOFTHREAD_BASE_URL",
        429: "the account's quota is spent",
    }.get(status, "the request was refused")
    return ModelRefused(f"{model} answered {status}: {message} ({advice})")


def _message(error: APIStatusError) -> str:
    """The endpoint's own words; some repeat the key that they were given."""
    return Redactor().text(_said(error))


def _said(error: APIStatusError) -> str:
    body = error.body
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        named = inner.get("message") if isinstance(inner, Mapping) else inner
        if named:
            param = inner.get("param") if isinstance(inner, Mapping) else None
            return f"{named} (param {param})"[:500] if param else str(named)[:500]
    return str(error.message)[:500]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None  # absent, or an HTTP date: the walker's own pause serves


def _reply(answer: Collected, settings: ModelSettings) -> ModelReply:
    if answer.refusal:
        raise ModelRefused(f"{settings.model} refused to answer: {answer.refusal[:200]}")
    submitted = [call for call in answer.tool_calls if call.name == ANSWER_TOOL]
    calls = tuple(call for call in answer.tool_calls if call.name != ANSWER_TOOL)
    text = "" if calls else submitted[0].raw_arguments if submitted else answer.text
    usage = replace(answer.usage, cost=_cost(answer.usage, settings))
    return ModelReply(text=text, tool_calls=calls, usage=usage, thought=answer.reasoning or (answer.text if calls else ""))


def _cost(usage: Usage, settings: ModelSettings) -> float | None:
    if settings.price_in is None or settings.price_out is None:
        return None
    cached_price = settings.price_in if settings.price_cached is None else settings.price_cached
    fresh = usage.prompt_tokens - usage.cached_tokens
    millionths = fresh * settings.price_in + usage.cached_tokens * cached_price + usage.completion_tokens * settings.price_out
    return millionths / 1_000_000


BACKEND = Backend(name="openai_compatible", build=OpenAICompatible)
