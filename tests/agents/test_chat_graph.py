"""The chat graph end to end, on a real SQLite trace with a scripted model."""

import asyncio
from dataclasses import replace

import pytest
from small_incident import (
    CAUSE,
    CHANGE,
    HERRING_LINE,
    LOOK_UPS,
    QUESTION,
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

from agents.chat_graph import after_gatekeeper, after_verifier
from agents.contracts import (
    GatekeeperResult,
    RunOutcome,
    Verdict,
    VerifierDecision,
)
from agents.llm.scripted import Turn
from agents.state import RunState, first_state
from bot.jobs import RunNotClaimed, ask, execute, submit
from storage.engine import Database
from storage.trace import TraceStore


def path(outcome: RunOutcome) -> list[str]:
    return [step.source for step in outcome.orchestration_trace.transitions]


def reasons(outcome: RunOutcome) -> list[str]:
    return [step.reason for step in outcome.orchestration_trace.transitions]


STRAIGHT = ["PLANNER", "EXECUTOR", "GATEKEEPER", "VERIFIED_INPUT", "VERIFIER", "COMPOSER"]


# ---------------------------------------------------------------- the way through


async def test_a_proven_cause_passes_and_every_claim_keeps_its_quote(sqlite_database: Database) -> None:
    outcome = await ask(request(), world(sqlite_database, scripted(*good_run())).place)
    assert (outcome.verdict, outcome.status) == (Verdict.PASS, "SUCCESS")
    assert path(outcome) == STRAIGHT
    quoted = [proof.span_text for allowed in outcome.claims for proof in allowed.evidence]
    assert "order-service config maximum-pool-size changed from 30 to 5" in quoted
    assert outcome.orchestration_trace.termination_reason == "completed"
    assert outcome.orchestration_trace.final_node == "COMPOSER"


async def test_the_run_is_stored_with_its_totals_and_its_evaluations(sqlite_database: Database) -> None:
    outcome = await ask(request(), world(sqlite_database, scripted(*good_run())).place)
    run = TraceStore(sqlite_database).run(outcome.run_id)
    assert (run.status, run.verdict, run.answer) == ("SUCCESS", "PASS", outcome.answer)
    assert (run.total_token_count, run.step_count, run.tool_call_count) == (600, 5, 3)
    assert run.cost is None
    assert run.orchestration_trace == outcome.orchestration_trace.model_dump(mode="json")
    assert run.self_evaluation is not None
    assert set(run.self_evaluation) == {"rule_evaluation", "verifier_evaluation"}
    assert run.self_evaluation["rule_evaluation"]["score"] == 1.0


async def test_a_rejected_first_round_gets_one_retry_and_is_told_why(sqlite_database: Database) -> None:
    misquoted = claim(1, "symptom", "The pool is empty", ("E1", "HikariPool-1 Connection was not available at all"))
    model = scripted(plan(), LOOK_UPS, draft(misquoted), plan(), draft(CAUSE, CHANGE), _second_round_votes(), composed())
    outcome = await ask(request(), world(sqlite_database, model).place)
    assert outcome.orchestration_trace.evidence_retry_count == 1
    assert path(outcome)[:4] == ["PLANNER", "EXECUTOR", "GATEKEEPER", "PLANNER"]
    assert outcome.verdict is Verdict.PASS
    second_plan = [asked for asked in model.asked if asked.role == "planner"][1]
    context = second_plan.payload.model_dump()["retry_context"]
    assert context["instruction"] == "only these; do not repeat finished look-ups"
    assert context["hints"][0]["claim_id"] == "r1-c1"


def _second_round_votes() -> Turn:
    return votes(("r2-c1", "direct_evidence"), ("r2-c2", "direct_evidence"))


async def test_round_two_starts_with_round_ones_claims_and_refs(sqlite_database: Database) -> None:
    symptom = claim(1, "symptom", "HikariPool-1 Connection is not available", ("E1", "HikariPool-1 Connection is not available"))
    model = scripted(
        plan(),
        looks(("query_logs", "order-service")),
        draft(symptom),
        votes(("r1-c1", "indirect_support"), answered=False),
        plan(),
        looks(("query_metrics", "order-service"), ("query_changes", "order-service")),
        draft(CAUSE, CHANGE),
        votes(("r1-c1", "direct_evidence"), ("r2-c1", "direct_evidence"), ("r2-c2", "direct_evidence")),
        composed(),
    )
    outcome = await ask(request(), world(sqlite_database, model).place)
    assert {allowed.claim.claim_id for allowed in outcome.claims} == {"r1-c1", "r2-c1", "r2-c2"}
    assert outcome.verifier_output is not None
    assert outcome.verifier_output.round == 2
    opening = [asked for asked in model.asked if asked.role == "executor"][2].messages[1].content
    assert "E1: 2026-11-30 08:43:12 ERROR order-service HikariPool-1" in opening


async def test_there_is_never_a_second_evidence_retry(sqlite_database: Database) -> None:
    bad = claim(1, "symptom", "It is slow", ("E9", "nothing like this was ever returned"))
    model = scripted(plan(), LOOK_UPS, draft(bad), plan(), draft(bad))
    outcome = await ask(request(), world(sqlite_database, model).place)
    assert outcome.orchestration_trace.evidence_retry_count == 1
    assert (outcome.verdict, outcome.status) == (Verdict.REJECT, "SUCCESS")
    assert outcome.claims == ()
    assert "2 statement(s) were dropped" in outcome.answer


async def test_a_contradicted_cause_is_rejected_and_left_out(sqlite_database: Database) -> None:
    model = scripted(
        plan(), LOOK_UPS, draft(CAUSE, CHANGE), votes(("r1-c1", "contradicted"), ("r1-c2", "direct_evidence")), composed()
    )
    outcome = await ask(request(), world(sqlite_database, model).place)
    assert outcome.verdict is Verdict.REJECT
    assert [allowed.claim.claim_id for allowed in outcome.claims] == ["r1-c2"]
    assert outcome.answer.startswith("The evidence found so far does not allow a reliable conclusion.")


async def test_a_red_herring_without_a_second_tool_is_no_cause(sqlite_database: Database) -> None:
    herring = claim(
        1,
        "root_cause",
        "recommendation-service feature cache miss causes the slow checkout",
        ("E1", HERRING_LINE),
    )
    model = scripted(
        plan(),
        looks(("query_logs", "recommendation-service")),
        draft(herring),
        votes(("r1-c1", "direct_evidence")),
        plan(),
        draft(),
        votes(("r1-c1", "direct_evidence")),
        composed("recommendation-service shows a feature cache miss [1]", "feature cache miss [1]"),
    )
    outcome = await ask(request(), world(sqlite_database, model).place)
    assert outcome.verdict is not Verdict.PASS
    assert all(allowed.claim.claim_type != "root_cause" for allowed in outcome.claims)


async def test_a_question_in_chinese_is_answered_under_chinese_words(sqlite_database: Database) -> None:
    model = scripted(plan(), LOOK_UPS, draft(CAUSE, CHANGE), votes(("r1-c1", "direct_evidence")), composed())
    outcome = await ask(request("为什么下单很慢？", "zh"), world(sqlite_database, model).place)
    assert "已确认信息：" in outcome.answer


# ---------------------------------------------------------------- edges as sentences


def state() -> RunState:
    return first_state(request(), "run-1", "fence", "PLANNER")


def gate(*passed: str) -> GatekeeperResult:
    return GatekeeperResult(
        ruleset_version="1", checked_bindings=(), passed_claim_ids=passed, rejected_claim_ids=(), failed_rules=()
    )


def decided(verdict: Verdict, score: float) -> VerifierDecision:
    return VerifierDecision(
        verdict=verdict,
        groundedness_score=score,
        critical_fact_count=1,
        claim_checks=(),
        facts_checked=(),
        rationale="",
        round=1,
    )


def having(**changes: object) -> RunState:
    return replace(state(), **changes)  # type: ignore[arg-type]


def test_the_gatekeeper_sends_a_run_without_a_passed_claim_back_once() -> None:
    first = after_gatekeeper(having(gatekeeper_result=gate()))
    assert (first.target, first.reason) == ("PLANNER", "evidence_retry")
    assert first.state.round == 2
    assert after_gatekeeper(first.state).target == "VERIFIED_INPUT"
    assert after_gatekeeper(having(gatekeeper_result=gate("c1"))).target == "VERIFIED_INPUT"


@pytest.mark.parametrize(
    ("verdict", "score", "target"),
    [
        (Verdict.PASS, 1.0, "COMPOSER"),
        (Verdict.LOW_CONFID, 0.69, "PLANNER"),
        (Verdict.LOW_CONFID, 0.7, "COMPOSER"),
        (Verdict.REJECT, 0.0, "COMPOSER"),
    ],
)
def test_the_verifier_asks_for_more_evidence_only_below_the_threshold(
    verdict: Verdict, score: float, target: str
) -> None:
    route = after_verifier(having(decision=decided(verdict, score)))
    assert route.target == target
    if target == "PLANNER":
        assert after_verifier(route.state).target == "COMPOSER"


# ---------------------------------------------------------------- jobs of the run


async def test_a_run_is_executed_once(sqlite_database: Database) -> None:
    place = world(sqlite_database, scripted(*good_run())).place
    run_id = await submit(request(), place)
    await execute(run_id, place)
    with pytest.raises(RunNotClaimed):
        await execute(run_id, place)


async def test_two_runs_at_once_do_not_mix(sqlite_database: Database) -> None:
    places = [world(sqlite_database, scripted(*good_run()), prefix=name).place for name in "ab"]
    ids = [await submit(request(), place) for place in places]
    outcomes = await asyncio.gather(*(execute(run_id, place) for run_id, place in zip(ids, places, strict=True)))
    own = [{proof.source_invocation_id for c in outcome.claims for proof in c.evidence} for outcome in outcomes]
    assert own[0].isdisjoint(own[1])
    assert [outcome.verdict for outcome in outcomes] == [Verdict.PASS, Verdict.PASS]


async def test_the_asked_question_reaches_the_planner_between_fences(sqlite_database: Database) -> None:
    model = scripted(*good_run())
    await ask(request(), world(sqlite_database, model).place)
    text = model.asked[0].messages[1].content
    mark = "id0000000002"[:12]
    assert f"<<<question {mark}\n{QUESTION}\n{mark} question>>>" in text
