"""self_evaluation: the score's formula, and every audit field of the seeds."""

from small_incident import (
    CAUSE,
    CHANGE,
    LOOK_UPS,
    claim,
    composed,
    draft,
    good_run,
    looks,
    plan,
    request,
    scripted,
    votes,
    world,
)

from agents.contracts import VerifierEvaluation
from agents.llm.scripted import Turn
from bot.jobs import ask
from storage.engine import Database
from storage.trace import TraceStore


async def evaluations(db: Database, *turns: Turn, prefix: str = "id") -> dict[str, dict[str, object]]:
    outcome = await ask(request(), world(db, scripted(*turns), prefix=prefix).place)
    stored = TraceStore(db).run(outcome.run_id).self_evaluation
    assert stored is not None
    return stored


async def test_the_rule_score_is_the_weighted_sum_of_its_shares(sqlite_database: Database) -> None:
    indirect = {**CHANGE, "support_level": "indirect"}
    misquoted = claim(3, "symptom", "x", ("E1", "no tool ever said this"))
    turns = (
        plan(),
        looks(("query_logs", "order-service"), ("query_metrics", "order-service"), ("query_changes", "order-service"), ("broken_metrics", "a")),
        draft(CAUSE, indirect, misquoted),
        votes(("r1-c1", "direct_evidence"), ("r1-c2", "direct_evidence")),
        composed(),
    )
    rule = (await evaluations(sqlite_database, *turns))["rule_evaluation"]
    assert rule["evidence_tools_answered"] == 0.75
    assert rule["claims_verified"] == 0.6667
    assert rule["claims_direct"] == 0.5
    assert rule["score"] == round(0.4 * 0.75 + 0.4 * 0.6667 + 0.2 * 0.5, 4)
    assert rule["reasons"] == ["3 of 4 evidence tools answered", "2 of 3 claims verified", "1 of 2 verified claims direct"]


async def test_the_verifier_evaluation_holds_every_audit_field(sqlite_database: Database) -> None:
    stored = (await evaluations(sqlite_database, *good_run()))["verifier_evaluation"]
    parsed = VerifierEvaluation.model_validate(stored)
    assert parsed.traceability_version == "v1"
    assert parsed.executor_output_parse_status.status == "valid"
    assert parsed.executor_structured_output is not None
    assert parsed.executor_structured_output.user_facing_answer == "never shown"
    assert parsed.gatekeeper_result is not None
    assert parsed.composer_output is not None
    assert parsed.composer_output_parse_status.status == "valid"
    assert [item.tool_name for item in parsed.tool_trace_summary] == ["query_logs", "query_metrics", "query_changes"]


async def test_prose_is_recorded_as_missing_and_a_wrong_object_as_malformed(sqlite_database: Database) -> None:
    prose = Turn(role="executor", reply="The pool is full.")
    wrong = Turn(role="executor", reply={"claims": "none"})
    for broken, status in ((prose, "missing"), (wrong, "malformed")):
        stored = (await evaluations(sqlite_database, plan(), LOOK_UPS, *[broken] * 6, prefix=status))["verifier_evaluation"]
        parsed = VerifierEvaluation.model_validate(stored)
        assert parsed.executor_output_parse_status.status == status
        assert parsed.executor_structured_output is None
        assert parsed.composer_output_parse_status.status == "missing"
        assert "ended before the verifier" in parsed.rationale
