"""The model client against a loopback server, over HTTP: every way an endpoint is known to differ or to fail."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from agents.contracts import PlannerInput, PlannerPlan
from agents.errors import ModelRefused, ModelUnavailable
from agents.llm.base import Message, ModelReply, ModelRequest, ModelSettings, ToolCall, ToolOffer
from agents.llm.openai_compatible import OpenAICompatible
from bot.emulator.chat_completions import Answer, ChatServer, calls, chat_server, refuses, says, streams

PLAN = '{"selected_skill": null, "selection_reason": "none fits", "plan": ["look"], "reasoning": "r"}'
TOOL = ToolOffer("query_logs", "Search logs", {"type": "object", "properties": {"text": {"type": "string"}}})


def request(*, tools: tuple[ToolOffer, ...] = (), messages: tuple[Message, ...] = (), seconds: float = 10) -> ModelRequest:
    return ModelRequest(
        role="planner",
        messages=messages or (Message("system", "fixed"), Message("user", "why 504?")),
        output=PlannerPlan,
        payload=PlannerInput(question="why 504?"),
        language="en",
        now=datetime(2026, 11, 30, 9, tzinfo=UTC),
        zone=ZoneInfo("UTC"),
        tools=tools,
        timeout_seconds=seconds,
    )


async def ask(server: ChatServer, *requests: ModelRequest, **settings: object) -> list[ModelReply]:
    model = OpenAICompatible(ModelSettings(model="m-1", base_url=server.url, api_key="k", **settings))  # type: ignore[arg-type]
    try:
        return [await model.complete(each) for each in requests or (request(),)]
    finally:
        await model.close()


async def test_the_contract_goes_out_as_a_strict_schema_and_the_text_comes_back() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100, "prompt_tokens_details": {"cached_tokens": 400}}
    with chat_server(says(PLAN, usage=usage)) as server:
        (reply,) = await ask(server, price_in=2.0, price_out=10.0, price_cached=0.5)
    schema = server.requests[0]["response_format"]["json_schema"]
    assert PlannerPlan.model_validate_json(reply.text).plan == ("look",)
    assert schema["strict"] is True
    assert schema["schema"]["required"] == ["selected_skill", "selection_reason", "plan", "reasoning"]
    assert reply.usage.cached_tokens == 400
    assert reply.usage.cost == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6)


async def test_an_unknown_price_is_no_price() -> None:
    with chat_server(says(PLAN, usage={"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6})) as server:
        (reply,) = await ask(server)
    assert reply.usage.cost is None


async def test_a_server_that_reports_no_usage_counts_as_zero() -> None:
    with chat_server(says(PLAN)) as server:
        (reply,) = await ask(server)
    assert reply.usage.total == 0


async def test_the_ladder_is_climbed_down_once_and_remembered() -> None:
    unavailable = "This response_format type is unavailable now"
    with chat_server(
        refuses(400, unavailable),
        refuses(400, "tool_choice 'function' is not supported"),
        refuses(400, "tools are not supported by this model"),
        says(PLAN),
        says(PLAN),
    ) as server:
        replies = await ask(server, request(), request())
    forms = [("response_format" in body and body["response_format"]["type"]) or ("tools" in body and "tool") for body in server.requests]
    assert forms == ["json_schema", "tool", "tool", "json_object", "json_object"]
    assert [reply.text for reply in replies] == [PLAN, PLAN]


async def test_the_last_rung_is_the_prompt_alone() -> None:
    with chat_server(
        refuses(400, "response_format json_schema is not supported"),
        refuses(400, "function calling is not supported"),
        refuses(422, "response_format json_object is not supported"),
        says(PLAN),
    ) as server:
        (reply,) = await ask(server)
    assert reply.text == PLAN
    assert not {"response_format", "tools"} & set(server.requests[-1])


@pytest.mark.parametrize(
    ("complaint", "gone", "new"),
    [
        ("Unsupported value: 'temperature' does not support 0", "temperature", None),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens", "max_completion_tokens"),
    ],
)
async def test_a_refused_parameter_is_left_out(complaint: str, gone: str, new: str | None) -> None:
    with chat_server(refuses(400, complaint), says(PLAN)) as server:
        (reply,) = await ask(server)
    assert reply.text == PLAN
    assert gone not in server.requests[1]
    assert new is None or new in server.requests[1]


async def test_a_model_that_only_streams_is_streamed() -> None:
    pieces = [{"role": "assistant", "content": PLAN[:20]}, {"content": PLAN[20:]}]
    with chat_server(refuses(400, "This model only support stream mode"), streams(pieces)) as server:
        (reply,) = await ask(server)
    assert reply.text == PLAN
    assert server.requests[1]["stream"] is True


async def test_a_server_without_stream_options_still_streams() -> None:
    whole = streams([{"content": PLAN}])
    with chat_server(refuses(400, "unknown field stream_options"), whole) as server:
        (reply,) = await ask(server, stream=True)
    assert reply.text == PLAN
    assert "stream_options" not in server.requests[1]


async def test_a_complaint_about_an_upstream_teaches_nothing() -> None:
    with chat_server(refuses(400, "upstream connect error")) as server, pytest.raises(ModelRefused):
        await ask(server)
    assert len(server.requests) == 1


async def test_streamed_tool_calls_are_put_together() -> None:
    first = {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "query_logs", "arguments": '{"te'}}]}
    second = {"tool_calls": [{"index": 0, "function": {"arguments": 'xt": "504"}'}}]}
    with chat_server(streams([first, second], finish="tool_calls")) as server:
        (reply,) = await ask(server, request(tools=(TOOL,)), stream=True)
    assert reply.tool_calls == (ToolCall("c1", "query_logs", {"text": "504"}, '{"text": "504"}'),)


@pytest.mark.parametrize("answer", [streams([{"content": "{"}], finish=None), streams([{"content": "{"}], finish=None, cut=True)])
async def test_a_cut_stream_is_worth_another_try(answer: Answer) -> None:
    with chat_server(answer) as server, pytest.raises(ModelUnavailable):
        await ask(server, stream=True)


async def test_evidence_tools_go_out_beside_an_answer_function() -> None:
    with chat_server(calls(("query_logs", '{"text": "504"}')), calls(("submit_answer", PLAN))) as server:
        first, last = await ask(server, request(tools=(TOOL,)), request(tools=(TOOL,)))
    offered = [tool["function"]["name"] for tool in server.requests[0]["tools"]]
    assert offered == ["query_logs", "submit_answer"]
    assert "response_format" not in server.requests[0]
    assert first.tool_calls[0].arguments == {"text": "504"}
    assert (last.text, last.tool_calls) == (PLAN, ())


async def test_an_answer_beside_a_tool_call_waits_for_the_tool() -> None:
    with chat_server(calls(("query_logs", "{}"), ("submit_answer", PLAN))) as server:
        (reply,) = await ask(server, request(tools=(TOOL,)))
    assert reply.text == ""
    assert [call.name for call in reply.tool_calls] == ["query_logs"]


async def test_unreadable_arguments_are_kept_and_not_guessed() -> None:
    with chat_server(calls(("query_logs", '{"text": "50'))) as server:
        (reply,) = await ask(server, request(tools=(TOOL,)))
    assert reply.tool_calls[0].arguments is None
    assert reply.tool_calls[0].raw_arguments == '{"text": "50'


async def test_reasoning_goes_back_with_the_tool_turn_it_came_with() -> None:
    thinking = says(
        "",
        finish_reason="tool_calls",
        reasoning_content="first the logs",
        tool_calls=[{"id": "c9", "type": "function", "function": {"name": "query_logs", "arguments": "{}"}}],
    )
    with chat_server(thinking, says(PLAN)) as server:
        turn = (
            Message("user", "why?"),
            Message("assistant", "", tool_calls=(ToolCall("c9", "query_logs", {}, "{}"),)),
            Message("tool", "E1 …", tool_call_id="c9"),
        )
        first, _ = await ask(server, request(tools=(TOOL,)), request(tools=(TOOL,), messages=turn))
    assert first.thought == "first the logs"
    assert server.requests[1]["messages"][1]["reasoning_content"] == "first the logs"
    assert server.requests[1]["messages"][2]["tool_call_id"] == "c9"


async def test_leading_system_messages_become_one() -> None:
    with chat_server(says(PLAN)) as server:
        await ask(server, request(messages=(Message("system", "a"), Message("system", "b"), Message("user", "q"))))
    assert [message["role"] for message in server.requests[0]["messages"]] == ["system", "user"]


async def test_a_role_may_have_its_own_model() -> None:
    with chat_server(says(PLAN)) as server:
        await ask(server, role_models={"planner": "small"})
    assert server.requests[0]["model"] == "small"


async def test_429_says_how_long_to_wait() -> None:
    with chat_server(refuses(429, "slow down", headers=[("Retry-After", "7")])) as server, pytest.raises(ModelUnavailable) as caught:
        await ask(server)
    assert caught.value.retry_after_seconds == 7
    assert len(server.requests) == 1, "the client's own retries are off"


async def test_a_spent_quota_is_not_retried() -> None:
    with chat_server(refuses(429, "You exceeded your quota", code="insufficient_quota")) as server, pytest.raises(ModelRefused, match="quota"):
        await ask(server)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529, 408])
async def test_a_server_fault_is_worth_another_try(status: int) -> None:
    with chat_server(refuses(status, "oops")) as server, pytest.raises(ModelUnavailable, match=str(status)):
        await ask(server)


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "PROOFTHREAD_API_KEY"), (404, "PROOFTHREAD_BASE_URL"), (403, "may not use"), (400, "refused")]
)
async def test_a_refusal_says_who_must_act(status: int, advice: str) -> None:
    with chat_server(refuses(status, "no")) as server, pytest.raises(ModelRefused, match=advice):
        await ask(server)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"<html>bad gateway</html>", headers=(("Content-Type", "text/html"),)),
        Answer(b'{"id": "x", "choi'),
        Answer(b'{"error": {"message": "overloaded"}}'),
        Answer(b'{"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": null}'),
        Answer(b'{"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": []}'),
        Answer(b'"pong"'),
        Answer(b""),
    ],
    ids=["html", "cut-json", "error-in-200", "null-choices", "no-choices", "string", "empty"],
)
async def test_what_is_no_completion_is_worth_another_try(answer: Answer) -> None:
    with chat_server(answer) as server, pytest.raises(ModelUnavailable):
        await ask(server)


async def test_a_hang_ends_at_the_call_s_own_deadline() -> None:
    with chat_server(Answer(hang=True)) as server, pytest.raises(ModelUnavailable, match="no answer within"):
        await ask(server, request(seconds=0.3))


async def test_nobody_at_the_address_is_worth_another_try(free_port: int) -> None:
    server = ChatServer(f"http://127.0.0.1:{free_port}/v1", [])
    with pytest.raises(ModelUnavailable, match="cannot reach"):
        await ask(server)


@pytest.mark.parametrize("answer", [says("", refusal="I cannot help"), says("", finish_reason="content_filter")])
async def test_a_model_that_declines_is_not_asked_again(answer: Answer) -> None:
    with chat_server(answer) as server, pytest.raises(ModelRefused, match="declined|refused"):
        await ask(server)


