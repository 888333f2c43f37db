"""A run that dies anywhere is taken up by another process: nothing finished is done twice."""

from collections import Counter

import pytest
from dying_runs import SHORT, Calls, DiesAt, Killed, died_then_resumed, killed_process, resumed
from small_incident import (
    CAUSE,
    CHANGE,
    GOOD_VOTES,
    Clock,
    composed,
    draft,
    good_run,
    looks,
    plan,
    request,
    scripted,
    world,
)

from agents.contracts import Verdict
from agents.llm.scripted import Scripted, Turn
from bot.jobs import execute, submit
from storage.engine import Database
from storage.trace import TraceStore

NODES = ["PLANNER", "EXECUTOR", "GATEKEEPER", "VERIFIED_INPUT", "VERIFIER", "COMPOSER"]
TURNS = [
    plan(),
    looks(("query_logs", "order-service")),
    looks(("query_metrics", "order-service"), ("query_changes", "order-service")),
    draft(CAUSE, CHANGE),
    GOOD_VOTES,
    composed(),
]


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("kind", ["node_started", "node_finished"])
async def test_a_run_that_dies_at_a_node_boundary_resumes_there(sqlite_database: Database, kind: str, node: str) -> None:
    outcome, model = await died_then_resumed(sqlite_database, request(), TURNS, DiesAt(kind, node))
    assert outcome.verdict is Verdict.PASS
    assert set(model.live.values()) == {1}
    assert outcome.usage.steps == len(TURNS)
    assert len(TraceStore(sqlite_database).steps(outcome.run_id)) == len(TURNS)
    assert [step.source for step in outcome.orchestration_trace.transitions] == NODES


@pytest.mark.parametrize("tool", ["query_logs", "query_metrics", "query_changes"])
@pytest.mark.parametrize("kind", ["tool_started", "tool_finished"])
async def test_a_run_that_dies_in_the_middle_of_its_tool_calls_repeats_none_that_finished(
    sqlite_database: Database, kind: str, tool: str
) -> None:
    outcome, model = await died_then_resumed(sqlite_database, request(), TURNS, DiesAt(kind, tool))
    assert outcome.verdict is Verdict.PASS
    assert set(model.live.values()) == {1}
    rows = TraceStore(sqlite_database).invocations(outcome.run_id)
    assert [row.tool_name for row in rows] == ["query_logs", "query_metrics", "query_changes"]
    assert all(row.finished for row in rows)


async def test_a_resumed_run_keeps_its_deadline_and_bumps_its_attempt(sqlite_database: Database) -> None:
    store = TraceStore(sqlite_database)
    model = Calls(TURNS)
    first = world(sqlite_database, model, limits=SHORT).place
    run_id = await submit(request(), first)
    with pytest.raises(Killed):
        await execute(run_id, first, DiesAt("node_finished", "EXECUTOR"))
    before = store.run(run_id)
    await resumed(sqlite_database, run_id, model)
    after = store.run(run_id)
    assert after.deadline == before.deadline
    assert (before.attempt, after.attempt) == (1, 2)


async def test_a_run_past_its_deadline_resumes_only_to_say_what_is_proven(sqlite_database: Database) -> None:
    model = Calls(TURNS)
    first = world(sqlite_database, model, limits=SHORT).place
    run_id = await submit(request(), first)
    with pytest.raises(Killed):
        await execute(run_id, first, DiesAt("node_started", "COMPOSER"))
    late = Clock()
    late.advance(3600)
    outcome = await resumed(sqlite_database, run_id, model, clock=late)
    assert outcome.orchestration_trace.termination_reason == "seconds"
    assert "maximum-pool-size changed from 30 to 5" in outcome.answer
    assert model.live["composer", 2] == 0


async def test_a_failed_call_is_recorded_and_never_replayed_as_an_answer(sqlite_database: Database) -> None:
    model = scripted(Turn(role="planner", error="unavailable"), *good_run())
    place = world(sqlite_database, model).place
    run_id = await submit(request(), place)
    await execute(run_id, place)
    steps = TraceStore(sqlite_database).steps(run_id)
    assert [step.ok for step in steps] == [False, True, True, True, True, True]
    assert steps[0].error is not None
    assert "unavailable" in steps[0].error
    assert steps[0].request_hash == steps[1].request_hash


async def test_a_repair_turn_is_replayed_as_well(sqlite_database: Database) -> None:
    turns = [Turn(role="planner", reply="no json here"), *TURNS]
    model = Calls(turns)
    first = world(sqlite_database, model, limits=SHORT).place
    run_id = await submit(request(), first)
    # dies after the planner's repair was recorded and before the node's checkpoint
    with pytest.raises(Killed):
        await execute(run_id, first, DiesAt("node_finished", "PLANNER"))
    outcome = await resumed(sqlite_database, run_id, model)
    assert outcome.verdict is Verdict.PASS
    assert [one.role for one in model.asked].count("planner") == 2


@pytest.mark.parametrize(("kind", "name"), [("tool_finished", "query_changes"), ("node_started", "VERIFIER")])
async def test_a_process_that_is_killed_loses_nothing(sqlite_database: Database, sqlite_url: str, kind: str, name: str) -> None:
    place = world(sqlite_database, scripted(), owner="parent").place
    run_id = await submit(request(), place)
    killed_process(sqlite_url, run_id, TURNS, kind, name)
    had = Counter(step.agent_name for step in TraceStore(sqlite_database).steps(run_id))
    outcome = await resumed(sqlite_database, run_id, Scripted(TURNS, skip=had))
    assert outcome.verdict is Verdict.PASS
    assert outcome.usage.steps == len(TURNS)
