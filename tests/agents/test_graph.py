"""The walker: retries, take-over, caps, Stop and lost leases, whatever the nodes do."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from small_incident import (
    CAUSE,
    CHANGE,
    GOOD_VOTES,
    LOOK_UPS,
    POOL_LINE,
    Clock,
    World,
    composed,
    draft,
    good_run,
    looks,
    plan,
    request,
    scripted,
    specs,
    votes,
    world,
)

from agents.contracts import RunOutcome, Verdict
from agents.errors import ModelTimedOut
from agents.ledger import RunLimits
from agents.llm.base import ModelReply, ModelRequest
from agents.llm.scripted import Scripted, Turn
from bot.jobs import ask, execute, submit
from storage.engine import Database
from storage.errors import LeaseLost
from storage.trace import TraceStore
from tools.contracts import CallContext, ToolDeps, ToolResult
from tools.invoke import ToolLimits

LIMITS = RunLimits(poll_seconds=0.01)


def down(role: str, retry_after: float | None = None) -> Turn:
    return Turn(role=role, error="unavailable", retry_after_seconds=retry_after)


def offline(*turns: Turn) -> Scripted:
    """Stands in for the offline backend: it takes over nodes under its own name."""
    backend = scripted(*turns)
    backend.name = "offline"
    backend.uses_model = False
    return backend


def reasons(outcome: RunOutcome) -> list[str]:
    return [step.reason for step in outcome.orchestration_trace.transitions]


# ---------------------------------------------------------------- technical retry


async def test_a_model_that_is_down_twice_is_asked_a_third_time(sqlite_database: Database) -> None:
    model = scripted(down("planner"), down("planner"), *good_run())
    made = world(sqlite_database, model)
    outcome = await ask(request(), made.place, made.events.append)
    assert outcome.verdict is Verdict.PASS
    assert reasons(outcome)[:3] == ["technical_retry:unavailable", "technical_retry:unavailable", "ok"]
    assert not outcome.orchestration_trace.degraded
    assert made.told("retry") == ["PLANNER", "PLANNER"]


async def test_the_servers_retry_after_is_waited_for(sqlite_database: Database) -> None:
    made = world(sqlite_database, scripted(down("planner", 7.5), *good_run()))
    await ask(request(), made.place)
    assert made.slept == [7.5]


async def test_a_retry_after_beyond_the_deadline_is_not_waited_for(sqlite_database: Database) -> None:
    made = world(sqlite_database, scripted(down("planner", 3600.0), *good_run()[1:]), offline=offline(plan()))
    outcome = await ask(request(), made.place)
    assert made.slept == []
    assert reasons(outcome)[0] == "degraded:unavailable"


async def test_one_budget_covers_every_kind_of_failure(sqlite_database: Database) -> None:
    prose = Turn(role="planner", reply="I would look at the logs.")
    model = scripted(down("planner"), prose, prose, down("planner"), *good_run()[1:])
    made = world(sqlite_database, model, offline=offline(plan()))
    outcome = await ask(request(), made.place)
    assert reasons(outcome)[:4] == ["technical_retry:unavailable", "technical_retry:bad_output", "degraded:unavailable", "ok"]


async def test_the_offline_backend_takes_a_node_over_and_caps_the_verdict(sqlite_database: Database) -> None:
    model = scripted(down("planner"), down("planner"), down("planner"), *good_run()[1:])
    made = world(sqlite_database, model, offline=offline(plan()))
    outcome = await ask(request(), made.place, made.events.append)
    assert outcome.orchestration_trace.degraded
    assert outcome.verdict is Verdict.LOW_CONFID
    assert outcome.status == "SUCCESS"
    assert made.told("degraded") == ["PLANNER"]


async def test_a_model_that_hangs_leaves_the_offline_backend_its_time(sqlite_database: Database) -> None:
    clock = Clock()

    class Hangs(Scripted):
        async def complete(self, asked: ModelRequest) -> ModelReply:
            clock.advance(asked.timeout_seconds)
            raise ModelTimedOut("no word")

    made = world(sqlite_database, Hangs([]), offline=offline(*good_run()), clock=clock)
    outcome = await ask(request(), made.place, made.events.append)
    assert outcome.orchestration_trace.termination_reason == "completed"
    assert outcome.verdict is Verdict.LOW_CONFID
    assert made.told("degraded") == ["PLANNER", "EXECUTOR", "VERIFIER", "COMPOSER"]


async def test_a_refusal_is_not_retried(sqlite_database: Database) -> None:
    made = world(sqlite_database, scripted(Turn(role="planner", error="refused"), *good_run()[1:]), offline=offline(plan()))
    outcome = await ask(request(), made.place)
    assert reasons(outcome)[0] == "degraded:refused"
    assert made.slept == []


async def test_the_verifiers_place_is_taken_by_the_codes_checks(sqlite_database: Database) -> None:
    model = scripted(plan(), LOOK_UPS, draft(CAUSE, CHANGE), Turn(role="verifier", error="refused"), composed())
    made = world(sqlite_database, model)
    outcome = await ask(request(), made.place)
    assert outcome.verdict is Verdict.LOW_CONFID
    assert outcome.verifier_output is not None
    assert "code" in outcome.verifier_output.rationale


async def test_where_nothing_can_serve_the_run_falls_back_with_what_is_proven(sqlite_database: Database) -> None:
    model = scripted(plan(), LOOK_UPS, draft(CAUSE, CHANGE), GOOD_VOTES, Turn(role="composer", error="refused"))
    outcome = await ask(request(), world(sqlite_database, model).place)
    assert (outcome.verdict, outcome.status) == (Verdict.REJECT, "FAILED")
    assert outcome.orchestration_trace.final_node == "FALLBACK"
    assert "maximum-pool-size changed from 30 to 5 [2]" in outcome.answer
    assert "The model gave no usable answer" in outcome.answer


async def test_the_executors_finished_calls_are_not_made_again_on_a_retry(sqlite_database: Database) -> None:
    model = scripted(plan(), LOOK_UPS, down("executor"), draft(CAUSE, CHANGE), GOOD_VOTES, composed())
    made = world(sqlite_database, model)
    outcome = await ask(request(), made.place)
    assert outcome.verdict is Verdict.PASS
    assert outcome.usage.tool_calls == 3
    assert [asked.role for asked in model.asked].count("executor") == 3


async def test_a_take_over_keeps_the_handles_of_what_was_found_before(sqlite_database: Database) -> None:
    model = scripted(plan(), looks(("query_logs", "order-service")), Turn(role="executor", error="refused"), GOOD_VOTES, composed())
    rest = offline(looks(("query_metrics", "order-service"), ("query_changes", "order-service")), draft(CAUSE, CHANGE))
    outcome = await ask(request(), world(sqlite_database, model, offline=rest).place)
    assert [allowed.claim.claim_id for allowed in outcome.claims] == ["r1-c1", "r1-c2"]
    assert outcome.verdict is Verdict.LOW_CONFID


# ---------------------------------------------------------------- caps


def test_every_cap_has_its_words(sqlite_database: Database) -> None:
    replies = world(sqlite_database, scripted()).place.replies
    for ending in ("seconds", "steps", "tool_calls", "tokens", "cost", "cancelled", "model", "error"):
        for language in ("zh", "en"):
            assert replies.text(language, f"ended_{ending}")
            assert replies.text(language, f"step_ended_{ending}")


@pytest.mark.parametrize(
    ("limits", "ending"),
    [
        (replace(LIMITS, steps=3), "steps"),
        (replace(LIMITS, tokens=300), "tokens"),
        (replace(LIMITS, cost=0.25), "cost"),
    ],
)
async def test_a_spent_cap_ends_the_run_before_the_next_call(
    sqlite_database: Database, limits: RunLimits, ending: str
) -> None:
    turns = [turn.model_copy(update={"cost": 0.1}) for turn in good_run()]
    outcome = await ask(request(), world(sqlite_database, scripted(*turns), limits=limits).place)
    assert (outcome.verdict, outcome.status) == (Verdict.REJECT, "FAILED")
    assert outcome.orchestration_trace.termination_reason == ending
    assert outcome.usage.steps == 3
    assert outcome.answer


async def test_the_deadline_ends_a_run_with_what_the_gate_has_passed(sqlite_database: Database) -> None:
    clock = Clock()

    class LateVerifier(Scripted):
        async def complete(self, asked: ModelRequest) -> ModelReply:
            if asked.role == "verifier":
                clock.advance(400)
            return await super().complete(asked)

    made = world(sqlite_database, LateVerifier(good_run()), clock=clock)
    outcome = await ask(request(), made.place)
    assert outcome.orchestration_trace.termination_reason == "seconds"
    assert "maximum-pool-size changed from 30 to 5" in outcome.answer


async def test_a_cap_in_the_middle_of_the_look_ups_still_states_what_they_prove(sqlite_database: Database) -> None:
    model = scripted(plan(), LOOK_UPS, LOOK_UPS, LOOK_UPS)
    rules = offline(draft(CAUSE, CHANGE))
    outcome = await ask(request(), world(sqlite_database, model, offline=rules, limits=replace(LIMITS, steps=2)).place)
    assert outcome.orchestration_trace.termination_reason == "steps"
    assert (outcome.verdict, outcome.status) == (Verdict.REJECT, "FAILED")
    assert "maximum-pool-size changed from 30 to 5" in outcome.answer
    assert outcome.usage.steps == 2


async def test_the_tool_cap_makes_the_executor_conclude(sqlite_database: Database) -> None:
    services = ("order-service", "recommendation-service", "a", "b", "c")
    model = scripted(plan(), looks(*(("query_logs", s) for s in services)), draft(
        {**CHANGE, "claim_text": "HikariPool-1 Connection is not available", "claim_type": "symptom",
         "evidence": [{"ref": "E1", "excerpt": "HikariPool-1 Connection is not available"}]}
    ), votes(("r1-c2", "direct_evidence"), answered=True), composed("HikariPool-1 Connection is not available [1]"))
    outcome = await ask(request(), world(sqlite_database, model, tool_limits=ToolLimits(max_calls=2)).place)
    assert outcome.usage.tool_calls == 2
    last = [asked for asked in model.asked if asked.role == "executor"][1]
    assert last.tools == ()
    assert "tool calls are spent" in last.messages[-1].content
    assert outcome.status == "SUCCESS"


async def test_a_model_that_will_not_conclude_ends_at_the_tool_cap(sqlite_database: Database) -> None:
    more = looks(("query_logs", "a"))
    model = scripted(plan(), LOOK_UPS, *[more] * 12)
    outcome = await ask(request(), world(sqlite_database, model, tool_limits=ToolLimits(max_calls=3)).place)
    assert outcome.orchestration_trace.termination_reason == "tool_calls"
    assert outcome.usage.tool_calls == 3
    assert outcome.status == "FAILED"


# ---------------------------------------------------------------- Stop and lost leases


class Waiting(Scripted):
    """Answers until the verifier, then waits for ever; `reached` says that it is there."""

    def __init__(self) -> None:
        super().__init__(good_run())
        self.reached = asyncio.Event()

    async def complete(self, asked: ModelRequest) -> ModelReply:
        if asked.role == "verifier":
            self.reached.set()
            await asyncio.Event().wait()
        return await super().complete(asked)


async def _started(made: World, model: Waiting) -> tuple[str, "asyncio.Task[RunOutcome]"]:
    run_id = await submit(request(), made.place)
    task = asyncio.create_task(execute(run_id, made.place))
    await model.reached.wait()
    return run_id, task


async def test_stop_cancels_the_model_call_and_says_what_is_proven(sqlite_database: Database) -> None:
    model = Waiting()
    run_id, task = await _started(world(sqlite_database, model), model)
    TraceStore(sqlite_database).request_cancel(run_id)
    outcome = await task
    assert (outcome.status, outcome.verdict) == ("CANCELLED", Verdict.REJECT)
    assert "maximum-pool-size changed from 30 to 5" in outcome.answer
    assert "stopped" in outcome.answer
    assert TraceStore(sqlite_database).run(run_id).status == "CANCELLED"


async def test_stop_cuts_a_tool_call_and_keeps_its_row(sqlite_database: Database) -> None:
    reached = asyncio.Event()

    async def hang(_: Any, __: ToolDeps, ___: CallContext) -> ToolResult:
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    tools = [replace(spec, run=hang) if spec.name == "query_metrics" else spec for spec in specs()]
    made = world(sqlite_database, scripted(*good_run()), tools=tools)
    run_id = await submit(request(), made.place)
    task = asyncio.create_task(execute(run_id, made.place))
    await reached.wait()
    TraceStore(sqlite_database).request_cancel(run_id)
    outcome = await task
    assert outcome.status == "CANCELLED"
    row = next(row for row in TraceStore(sqlite_database).invocations(run_id) if row.tool_name == "query_metrics")
    assert not row.success
    assert "stopped" in (row.error_message or "")


async def test_stop_cuts_the_wait_before_a_retry(sqlite_database: Database) -> None:
    waiting = asyncio.Event()

    async def for_ever(_: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    made = world(sqlite_database, scripted(down("planner", 100.0), *good_run()))
    place = replace(made.place, sleep=for_ever)
    run_id = await submit(request(), place)
    task = asyncio.create_task(execute(run_id, place))
    await waiting.wait()
    TraceStore(sqlite_database).request_cancel(run_id)
    assert (await task).status == "CANCELLED"


async def test_a_run_whose_lease_is_lost_stops_without_a_word(sqlite_database: Database) -> None:
    model = Waiting()
    limits = replace(LIMITS, lease_seconds=0)
    run_id, task = await _started(world(sqlite_database, model, limits=limits), model)
    other = None
    while other is None:
        other = TraceStore(sqlite_database).claim(run_id, "other", 60)
        await asyncio.sleep(0.01)
    with pytest.raises(LeaseLost):
        await task
    assert TraceStore(sqlite_database).run(run_id).status == "RUNNING"


async def test_a_working_run_keeps_its_lease(sqlite_database: Database) -> None:
    model = Waiting()
    limits = replace(LIMITS, lease_seconds=1)
    run_id, task = await _started(world(sqlite_database, model, limits=limits), model)
    first = TraceStore(sqlite_database).run(run_id).lease_until
    while TraceStore(sqlite_database).run(run_id).lease_until == first:
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert TraceStore(sqlite_database).run(run_id).status == "RUNNING"


async def test_a_fault_of_ours_ends_the_run_with_an_answer(sqlite_database: Database, caplog: Any) -> None:
    class Faulty(Scripted):
        async def complete(self, asked: ModelRequest) -> ModelReply:
            if asked.role == "verifier":
                raise ZeroDivisionError("a bug")
            return await super().complete(asked)

    outcome = await ask(request(), world(sqlite_database, Faulty(good_run())).place)
    assert (outcome.status, outcome.orchestration_trace.termination_reason) == ("FAILED", "error")
    assert "maximum-pool-size changed from 30 to 5" in outcome.answer
    assert "ZeroDivisionError" not in outcome.answer
    assert "ZeroDivisionError" in caplog.text


async def test_a_tool_that_breaks_unexpectedly_is_only_a_failed_call(sqlite_database: Database) -> None:
    async def explode(_: Any, __: ToolDeps, ___: CallContext) -> ToolResult:
        raise KeyError("boom")

    tools = [replace(spec, run=explode) if spec.name == "query_metrics" else spec for spec in specs()]
    only_log = {**CHANGE, "evidence": [{"ref": "E1", "excerpt": POOL_LINE}], "claim_text": POOL_LINE[20:80], "claim_type": "symptom"}
    model = scripted(plan(), LOOK_UPS, draft(only_log), votes(("r1-c2", "direct_evidence")), composed("HikariPool-1 [1]"))
    outcome = await ask(request(), world(sqlite_database, model, tools=tools).place)
    assert outcome.status == "SUCCESS"
    assert "query_metrics gave no answer" in outcome.answer
