"""The whole graph with the real model client, over HTTP against a loopback endpoint, and offline when it fails."""

import json

from small_incident import LOOK_UPS, good_run, plan, request, world

from agents.contracts import Verdict
from agents.ledger import RunLimits
from agents.llm import build_model
from agents.llm.base import ModelSettings
from agents.llm.scripted import Turn
from bot.emulator.chat_completions import Answer, calls, chat_server, refuses, says
from bot.jobs import ask
from storage.engine import Database
from storage.trace import TraceStore

USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100}


def on_the_wire(turn: Turn) -> Answer:
    if turn.tool_calls:
        return calls(*((call.name, json.dumps(call.arguments)) for call in turn.tool_calls))
    return says(json.dumps(turn.reply), usage=USAGE)


def settings(url: str) -> ModelSettings:
    return ModelSettings(model="m-1", base_url=url, api_key="k", price_in=1.0, price_out=2.0)


async def test_a_run_passes_through_the_real_client(sqlite_database: Database) -> None:
    with chat_server(*(on_the_wire(turn) for turn in good_run())) as server:
        model = build_model("m-1", settings(server.url))
        outcome = await ask(request(), world(sqlite_database, model).place)
        await model.close()
    assert outcome.verdict is Verdict.PASS
    assert outcome.usage.model == "m-1"
    assert outcome.usage.prompt_tokens == 4_000
    assert outcome.usage.cost is not None
    sent = [body["messages"] for body in server.requests]
    assert sent[1][0] == sent[2][0]
    assert sent[2][: len(sent[1])] == sent[1]  # append-only: the endpoint's cache keeps what it has read
    assert [message["role"] for message in sent[2]] == ["system", "user", "assistant", "tool", "tool", "tool"]


async def test_prose_and_thoughts_are_repaired_over_http(sqlite_database: Database) -> None:
    answers = [says("Let me look."), *map(on_the_wire, good_run())]
    answers[1] = says(f"<think>a {{brace}}</think>```json\n{json.dumps(plan().reply)}\n```")
    with chat_server(*answers) as server:
        model = build_model("m-1", settings(server.url))
        outcome = await ask(request(), world(sqlite_database, model).place)
        await model.close()
    assert outcome.verdict is Verdict.PASS
    assert not outcome.orchestration_trace.degraded


async def test_a_dead_endpoint_leaves_the_run_to_the_offline_backend(sqlite_database: Database) -> None:
    with chat_server(refuses(500, "down")) as server:
        model = build_model("m-1", settings(server.url))
        made = world(sqlite_database, model, offline=build_model("offline", settings(server.url)))
        outcome = await ask(request("Why does order-service fail?"), made.place)
        await model.close()
    trace = outcome.orchestration_trace
    assert trace.degraded
    assert outcome.verdict is not Verdict.PASS
    assert outcome.status == "SUCCESS"
    assert outcome.answer
    assert {row.tool_name for row in TraceStore(sqlite_database).invocations(outcome.run_id)}
    assert len(server.requests) >= 3


async def test_a_bad_key_is_not_asked_again(sqlite_database: Database) -> None:
    with chat_server(refuses(401, "bad key")) as server:
        model = build_model("m-1", settings(server.url))
        made = world(sqlite_database, model, offline=build_model("offline", settings(server.url)))
        outcome = await ask(request("Why does order-service fail?"), made.place)
        await model.close()
    planner = [step.reason for step in outcome.orchestration_trace.transitions if step.source == "PLANNER"]
    assert planner[0] == "degraded:refused"
    assert made.slept == []
    assert "k" not in outcome.answer.split()


async def test_a_model_that_dies_after_its_look_ups_keeps_them(sqlite_database: Database) -> None:
    answers = [on_the_wire(plan()), on_the_wire(LOOK_UPS), refuses(401, "quota")]
    with chat_server(*answers) as server:
        model = build_model("m-1", settings(server.url))
        made = world(sqlite_database, model, offline=build_model("offline", settings(server.url)))
        outcome = await ask(request("Why does order-service fail?"), made.place)
        await model.close()
    rows = TraceStore(sqlite_database).invocations(outcome.run_id)
    assert [row.tool_name for row in rows[:3]] == ["query_logs", "query_metrics", "query_changes"]
    assert outcome.orchestration_trace.degraded
    assert outcome.status == "SUCCESS"


async def test_a_model_that_only_writes_prose_leaves_every_node_to_the_offline_backend(sqlite_database: Database) -> None:
    with chat_server(says("I think it is DNS. PASS.")) as server:
        model = build_model("m-1", settings(server.url))
        limits = RunLimits(poll_seconds=0.01, steps=14)
        made = world(sqlite_database, model, offline=build_model("offline", settings(server.url)), limits=limits)
        outcome = await ask(request("Why does order-service fail?"), made.place)
        await model.close()
    assert len(server.requests) == 12  # two nodes, three tries, each with its repair turn
    assert outcome.usage.steps > limits.steps
    assert outcome.orchestration_trace.termination_reason == "completed"


async def test_an_endpoint_that_repeats_the_key_does_not_get_it_into_the_trace(sqlite_database: Database) -> None:
    key = "sk-" + "a1B2c3D4" * 5
    with chat_server(refuses(401, f"Incorrect API key provided: {key}")) as server:
        model = build_model("m-1", settings(server.url))
        outcome = await ask(request("Why?"), world(sqlite_database, model).place)
        await model.close()
    errors = [step.error or "" for step in TraceStore(sqlite_database).steps(outcome.run_id)]
    assert "Incorrect API key" in errors[0]
    assert key not in "".join(errors)
