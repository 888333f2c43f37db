"""An alert's run that dies anywhere is taken up by another process: nothing finished is done twice."""

from collections import Counter

import pytest
from dying_runs import SHORT, Calls, DiesAt, Killed, died_then_resumed, killed_process, resumed
from small_alert import alert_draft, alert_looks, alert_plan, alert_request
from small_incident import CAUSE, CHANGE, Clock, scripted, world

from agents.contracts import Verdict
from agents.llm.base import ModelReply, ModelRequest
from agents.llm.scripted import Scripted
from bot.jobs import execute, submit
from storage.engine import Database
from storage.trace import TraceStore

NODES = ["AIOPS_PLANNER", "AIOPS_EXECUTOR", "GATEKEEPER", "VERIFIED_INPUT", "RULE_EVALUATION", "REPORT"]
PATH = ["SUPERVISOR", "AIOPS_PLANNER", "SUPERVISOR", "AIOPS_EXECUTOR", "SUPERVISOR", *NODES[2:]]
TURNS = [
    alert_plan(),
    alert_looks(("query_logs", "order-service")),
    alert_looks(("query_metrics", "order-service"), ("query_changes", "order-service")),
    alert_draft(CAUSE, CHANGE),
]


@pytest.mark.parametrize("node", [*NODES, "SUPERVISOR"])
@pytest.mark.parametrize("kind", ["node_started", "node_finished"])
async def test_an_alerts_run_that_dies_at_a_node_boundary_resumes_there(
    sqlite_database: Database, kind: str, node: str
) -> None:
    outcome, model = await died_then_resumed(sqlite_database, alert_request(), TURNS, DiesAt(kind, node))
    assert outcome.verdict is Verdict.PASS
    assert set(model.live.values()) == {1}
    assert len(TraceStore(sqlite_database).steps(outcome.run_id)) == len(TURNS)
    assert [step.source for step in outcome.orchestration_trace.transitions] == PATH
    assert outcome.report is not None


@pytest.mark.parametrize("tool", ["query_logs", "query_metrics", "query_changes"])
@pytest.mark.parametrize("kind", ["tool_started", "tool_finished"])
async def test_an_alerts_run_that_dies_among_its_tool_calls_repeats_none_that_finished(
    sqlite_database: Database, kind: str, tool: str
) -> None:
    outcome, model = await died_then_resumed(sqlite_database, alert_request(), TURNS, DiesAt(kind, tool))
    assert outcome.verdict is Verdict.PASS
    assert set(model.live.values()) == {1}
    rows = TraceStore(sqlite_database).invocations(outcome.run_id)
    assert [row.tool_name for row in rows] == ["query_logs", "query_metrics", "query_changes"]


async def test_an_alerts_run_past_its_deadline_resumes_only_to_report_what_is_proven(sqlite_database: Database) -> None:
    model = Calls(TURNS)
    first = world(sqlite_database, model, limits=SHORT).place
    run_id = await submit(alert_request(), first)
    with pytest.raises(Killed):
        await execute(run_id, first, DiesAt("node_started", "GATEKEEPER"))
    late = Clock()
    late.advance(3600)
    outcome = await resumed(sqlite_database, run_id, model, clock=late)
    assert outcome.orchestration_trace.termination_reason == "seconds"
    assert "maximum-pool-size changed from 30 to 5" in outcome.answer
    assert outcome.report is not None
    assert outcome.verdict is Verdict.REJECT


async def test_a_fault_of_ours_ends_an_alerts_run_in_its_own_fallback(sqlite_database: Database) -> None:
    class Faulty(Scripted):
        async def complete(self, request: ModelRequest) -> ModelReply:
            raise RuntimeError("a bug")

    place = world(sqlite_database, Faulty([])).place
    outcome = await execute(await submit(alert_request(), place), place)
    assert (outcome.status, outcome.verdict) == ("FAILED", Verdict.REJECT)
    assert outcome.report is not None
    assert "The program failed" in outcome.answer


async def test_a_process_that_is_killed_in_a_triage_loses_nothing(sqlite_database: Database, sqlite_url: str) -> None:
    place = world(sqlite_database, scripted(), owner="parent").place
    run_id = await submit(alert_request(), place)
    killed_process(sqlite_url, run_id, TURNS, "tool_finished", "query_changes")
    had = Counter(step.agent_name for step in TraceStore(sqlite_database).steps(run_id))
    outcome = await resumed(sqlite_database, run_id, Scripted(TURNS, skip=had))
    assert outcome.verdict is Verdict.PASS
    assert outcome.usage.steps == len(TURNS)
