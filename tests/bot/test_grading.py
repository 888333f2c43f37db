"""A run is graded by what its answer says and what its quotes hold, without a judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agents.contracts import RunOutcome
from bot.evaluation.grading import Failure, grade, summarise
from bot.evaluation.scenarios import BrokenScenario, Scenario, ScenarioFile


def scenario(**expect: Any) -> Scenario:
    file = ScenarioFile.model_validate({"id": "s1", "input": {"kind": "question", "text": "why?"}, "expect": expect})
    return Scenario(Path("s1"), file)


def test_mentions_count_in_the_answer_alone_and_quotes_in_verified_bindings_alone(outcome: RunOutcome) -> None:
    wanted = scenario(
        must_mention=[["DATABASE", "db"], ["HikariPool-1"]],
        must_quote=["request timed out", "no free database"],
        must_not_mention=["payment", "database"],
    )
    result = grade(wanted, outcome, ["query_logs", "query_logs"])
    assert result.met == ("must_mention: DATABASE | db", "must_quote: request timed out")
    assert result.missed == ("must_mention: HikariPool-1", "must_quote: no free database")
    assert result.false_mentions == ("database",)
    assert (result.verified_quotes, result.invocations) == (1, 2)


def test_verdict_cause_tools_and_call_count_are_checked(outcome: RunOutcome) -> None:
    wanted = scenario(
        verdict_in=["PASS"], root_cause_service="order-service", tools_called=["query_logs", "read"], max_tool_calls=1
    )
    result = grade(wanted, outcome, ["query_logs", "query_metrics"])
    assert result.met == ("verdict_in: PASS", "root_cause_service: order-service", "tools_called: query_logs")
    assert result.missed == ("tools_called: read", "max_tool_calls: 1")


def test_the_summary_counts_shares_and_names_what_did_not_run(outcome: RunOutcome) -> None:
    good = grade(scenario(must_mention=[["database"]], verdict_in=["PASS"]), outcome, [])
    bad = grade(scenario(must_mention=[["x"], ["y"], ["z"]]), outcome, [])
    summary = summarise([good, bad], [Failure(id="a", reason="alert")], [BrokenScenario("b", "no JSON")])
    assert summary.must_mention_share == 0.25
    assert summary.verdict_share == 1.0
    assert (summary.scenarios, summary.all_met, summary.with_verified_quote) == (2, 1, 2)
    assert [one.id for one in (*summary.skipped, *summary.broken)] == ["a", "b"]
