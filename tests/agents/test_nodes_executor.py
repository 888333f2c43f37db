"""The executor's loop: parallel calls, unreadable arguments, repeated calls, and when it must conclude."""

import asyncio
from dataclasses import replace
from typing import Any

from small_incident import (
    CAUSE,
    CHANGE,
    GOOD_VOTES,
    LOOK_UPS,
    World,
    composed,
    draft,
    good_run,
    looks,
    plan,
    request,
    scripted,
    specs,
    world,
)

from agents.contracts import RunOutcome
from agents.ledger import RunLimits
from agents.llm.scripted import Scripted, ScriptedCall, Turn
from bot.jobs import ask
from storage.engine import Database
from storage.trace import StoredInvocation, TraceStore
from tools.contracts import CallContext, ToolDeps, ToolResult


async def played(made: World, db: Database) -> tuple[RunOutcome, list[StoredInvocation]]:
    outcome = await ask(request(), made.place, made.events.append)
    return outcome, TraceStore(db).invocations(outcome.run_id)


def executor_requests(model: Scripted) -> list[Any]:
    return [asked for asked in model.asked if asked.role == "executor"]


async def test_calls_of_one_reply_run_at_once_and_are_numbered_in_order(sqlite_database: Database) -> None:
    """The logs tool waits for the metrics tool, which the model named after it."""
    metrics_done = asyncio.Event()

    def waiting(run: Any) -> Any:
        async def after_metrics(arguments: Any, deps: ToolDeps, context: CallContext) -> ToolResult:
            await metrics_done.wait()
            result: ToolResult = await run(arguments, deps, context)
            return result

        return after_metrics

    def telling(run: Any) -> Any:
        async def then_tell(arguments: Any, deps: ToolDeps, context: CallContext) -> ToolResult:
            result: ToolResult = await run(arguments, deps, context)
            metrics_done.set()
            return result

        return then_tell

    wrap = {"query_logs": waiting, "query_metrics": telling}
    tools = [replace(spec, run=wrap[spec.name](spec.run)) if spec.name in wrap else spec for spec in specs()]
    made = world(sqlite_database, scripted(*good_run()), tools=tools)
    outcome, rows = await played(made, sqlite_database)
    assert outcome.verdict == "PASS"
    assert [(row.sequence, row.tool_name) for row in rows] == [(1, "query_logs"), (2, "query_metrics"), (3, "query_changes")]
    assert made.told("tool_finished")[0] != "query_logs"


async def test_unreadable_arguments_are_recorded_and_fed_back(sqlite_database: Database) -> None:
    broken = Turn(role="executor", tool_calls=(ScriptedCall(name="query_logs", raw='{"service": "order-'),))
    model = scripted(plan(), broken, *good_run()[1:])
    outcome, rows = await played(world(sqlite_database, model), sqlite_database)
    assert outcome.verdict == "PASS"
    assert not rows[0].success
    told = executor_requests(model)[1].messages[-1]
    assert told.role == "tool"
    assert "not readable JSON" in told.content
    assert "service" in told.content


async def test_wrong_arguments_and_unknown_tools_are_answers_not_failures(sqlite_database: Database) -> None:
    odd = Turn(
        role="executor",
        tool_calls=(
            ScriptedCall(name="query_logs", arguments={"servise": "order-service"}),
            ScriptedCall(name="drop_tables", arguments={}),
        ),
    )
    model = scripted(plan(), odd, *good_run()[1:])
    made = world(sqlite_database, model)
    outcome, rows = await played(made, sqlite_database)
    assert outcome.verdict == "PASS"
    assert [row.success for row in rows[:2]] == [False, False]
    texts = [message.content for message in executor_requests(model)[1].messages[-2:]]
    assert "did you mean 'service'" in texts[0]
    assert "there is no tool named 'drop_tables'" in texts[1]


async def test_a_repeated_call_gets_its_first_handles(sqlite_database: Database) -> None:
    model = scripted(plan(), LOOK_UPS, looks(("query_logs", "order-service")), *good_run()[2:])
    outcome, rows = await played(world(sqlite_database, model), sqlite_database)
    assert outcome.verdict == "PASS"
    assert rows[3].dedup_reason
    assert "stands under E1" in executor_requests(model)[2].messages[-1].content


async def test_a_step_is_linked_to_its_calls(sqlite_database: Database) -> None:
    outcome, rows = await played(world(sqlite_database, scripted(*good_run())), sqlite_database)
    steps = TraceStore(sqlite_database).steps(outcome.run_id)
    assert {row.step_id for row in rows} == {steps[1].id}


async def test_calls_without_evidence_are_no_part_of_the_answer(sqlite_database: Database) -> None:
    gap = {
        "claim_id": "c9",
        "claim_type": "gap",
        "claim_text": "no logs of ghost-service in 30 min",
        "support_level": "direct",
        "evidence": [{"ref": "E4", "excerpt": "no logs of ghost-service in 30 min"}],
    }
    health = {**gap, "claim_id": "c8", "claim_type": "healthy", "claim_text": "ghost-service is healthy"}
    model = scripted(plan(), LOOK_UPS, looks(("query_logs", "ghost-service")), draft(CAUSE, CHANGE, gap, health), GOOD_VOTES, composed())
    outcome, _ = await played(world(sqlite_database, model), sqlite_database)
    assert outcome.gatekeeper_result is not None
    assert "r1-c9" in outcome.gatekeeper_result.passed_claim_ids
    assert "r1-c8" in outcome.gatekeeper_result.rejected_claim_ids


async def test_the_executor_concludes_while_tokens_for_an_answer_are_left(sqlite_database: Database) -> None:
    heavy = LOOK_UPS.model_copy(update={"prompt_tokens": 3_000})
    model = scripted(plan(), heavy, *good_run()[2:])
    limits = RunLimits(poll_seconds=0.01, tokens=9_000)
    outcome, _ = await played(world(sqlite_database, model, limits=limits), sqlite_database)
    assert outcome.verdict == "PASS"
    last = executor_requests(model)[1]
    assert last.tools == ()
    assert "budget is nearly spent" in last.messages[-1].content


async def test_an_action_keeps_its_citations(sqlite_database: Database) -> None:
    action = {"action_text": "Undo", "reason": "r", "evidence": [{"ref": "E3", "excerpt": "maximum-pool-size changed from 30 to 5"}]}
    turns = good_run()
    turns[2] = draft(CAUSE, CHANGE, recommended_actions=[action])
    outcome, rows = await played(world(sqlite_database, scripted(*turns)), sqlite_database)
    [binding] = outcome.recommended_actions[0].evidence_bindings
    assert (binding.source_invocation_id, binding.raw_path) == (rows[2].id, "$.changes[0]")
