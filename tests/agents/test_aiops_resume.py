"""An alert's run that dies anywhere is taken up by another process: nothing finished is done twice."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_alert import alert_draft, alert_looks, alert_plan, alert_request
from small_incident import CAUSE, CHANGE, Clock, scripted, world

from agents.contracts import RunOutcome, Verdict
from agents.events import RunEvent
from agents.ledger import RunLimits
from agents.llm.base import ModelReply, ModelRequest
from agents.llm.scripted import Scripted, Turn
from bot.jobs import RunNotClaimed, execute, submit
from storage.engine import Database
from storage.trace import TraceStore

SHORT = RunLimits(poll_seconds=0.01, lease_seconds=0)
NODES = ["AIOPS_PLANNER", "AIOPS_EXECUTOR", "GATEKEEPER", "VERIFIED_INPUT", "RULE_EVALUATION", "REPORT"]
PATH = ["SUPERVISOR", "AIOPS_PLANNER", "SUPERVISOR", "AIOPS_EXECUTOR", "SUPERVISOR", *NODES[2:]]
TURNS = [
    alert_plan(),
    alert_looks(("query_logs", "order-service")),
    alert_looks(("query_metrics", "order-service"), ("query_changes", "order-service")),
    alert_draft(CAUSE, CHANGE),
]


class Killed(BaseException):
    """Stands for kill -9 inside one process: nothing may catch it."""


class DiesAt:
    """An event listener that dies at the first event of a kind and name."""

    def __init__(self, kind: str, name: str) -> None:
        self._at = (kind, name)

    def __call__(self, event: RunEvent) -> None:
        if (event.kind, event.name) == self._at:
            raise Killed


class Calls(Scripted):
    """Counts live calls a role and length, so that a repeated call shows."""

    def __init__(self, turns: list[Turn]) -> None:
        super().__init__(turns)
        self.live: Counter[tuple[str, int]] = Counter()

    async def complete(self, asked: ModelRequest) -> ModelReply:
        self.live[asked.role, len(asked.messages)] += 1
        return await super().complete(asked)


async def _die_then_resume(db: Database, dies: DiesAt) -> tuple[RunOutcome, Calls]:
    model = Calls(TURNS)
    first = world(db, model, limits=SHORT, owner="first").place
    run_id = await submit(alert_request(), first)
    with pytest.raises(Killed):
        await execute(run_id, first, dies)
    return await _resumed(db, run_id, model), model


async def _resumed(db: Database, run_id: str, model: Scripted, **changes: Any) -> RunOutcome:
    """As soon as the dead owner's lease has run out."""
    second = replace(world(db, model, owner="second").place, **changes)
    while True:
        try:
            return await execute(run_id, second)
        except RunNotClaimed:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("node", [*NODES, "SUPERVISOR"])
@pytest.mark.parametrize("kind", ["node_started", "node_finished"])
async def test_an_alerts_run_that_dies_at_a_node_boundary_resumes_there(
    sqlite_database: Database, kind: str, node: str
) -> None:
    outcome, model = await _die_then_resume(sqlite_database, DiesAt(kind, node))
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
    outcome, model = await _die_then_resume(sqlite_database, DiesAt(kind, tool))
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
    outcome = await _resumed(sqlite_database, run_id, model, clock=late)
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


CHILD = """
import asyncio, os, signal, sys
from small_incident import world
from agents.llm.scripted import Scripted, Turn
from agents.ledger import RunLimits
from bot.jobs import execute
from storage.engine import Database

url, run_id, kind, name = sys.argv[1:5]

def die(event):
    if (event.kind, event.name) == (kind, name):
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    db = Database(url)
    turns = [Turn.model_validate_json(line) for line in sys.stdin]
    place = world(db, Scripted(turns), limits=RunLimits(poll_seconds=0.01, lease_seconds=1), owner="child").place
    await execute(run_id, place, die)

asyncio.run(main())
"""


async def test_a_process_that_is_killed_in_a_triage_loses_nothing(sqlite_database: Database, sqlite_url: str) -> None:
    place = world(sqlite_database, scripted(), owner="parent").place
    run_id = await submit(alert_request(), place)
    root = Path(__file__).parents[2]
    child = subprocess.run(
        [sys.executable, "-c", CHILD, sqlite_url, run_id, "tool_finished", "query_changes"],
        input="\n".join(turn.model_dump_json() for turn in TURNS),
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "tests" / "support"), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        timeout=60,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    had = Counter(step.agent_name for step in TraceStore(sqlite_database).steps(run_id))
    outcome = await _resumed(sqlite_database, run_id, Scripted(TURNS, skip=had))
    assert outcome.verdict is Verdict.PASS
    assert outcome.usage.steps == len(TURNS)
