"""Score, counts, criticality and verdict are recomputed by code."""

from typing import Any

import pytest

from agents.contracts import (
    ClaimCheck,
    Verdict,
    Verification,
    VerifiedClaim,
    VerifiedEvidence,
    VerifierDecision,
    VerifierDraft,
)
from agents.question_kind import question_kind
from agents.verification import checks_by_code, decide

WHY = "Why is checkout slow?"
TEXTS = {
    "cause": "order-service has no free connection in HikariPool-1",
    "symptom": "checkout-service latency p99 reached 4270 ms",
    "health": "payment-service answered every health check",
    "gap": "no deploys of payment-service in the window",
}
KINDS: dict[str, Any] = {"cause": "root_cause", "symptom": "symptom", "health": "healthy", "gap": "gap"}


def claim(name: str, support: Any = "direct") -> VerifiedClaim:
    return VerifiedClaim(claim_id=name, claim_type=KINDS[name], claim_text=TEXTS[name], support_level=support)


def proof(name: str, text: str | None = None, tool: str = "query_logs") -> VerifiedEvidence:
    return VerifiedEvidence(
        claim_id=name,
        index=0,
        source_invocation_id=7,
        tool_name=tool,
        raw_path="$.logs[0]",
        span_text=TEXTS[name] if text is None else text,
        span_start=0,
        span_end=1,
        evidence_sha256="0",
    )


def vote(name: str, verification: str, *, critical: bool = True) -> ClaimCheck:
    return ClaimCheck(claim_id=name, verification=Verification(verification), is_critical=critical, detail="d")


def decision(
    *checks: ClaimCheck,
    claims: tuple[str, ...] = ("cause", "symptom"),
    question: str = WHY,
    answered: bool = True,
    proofs: tuple[VerifiedEvidence, ...] | None = None,
) -> VerifierDecision:
    given = VerifierDraft(claim_checks=checks, question_answered=answered, rationale="r")
    evidence = proofs if proofs is not None else tuple(proof(name) for name in claims)
    return decide(given, [claim(name) for name in claims], evidence, question, (), 1)


DIRECT, INDIRECT, NONE, CONTRADICTED = "direct_evidence", "indirect_support", "no_evidence", "contradicted"


def test_the_score_is_direct_plus_half_indirect_over_critical() -> None:
    made = decision(vote("cause", DIRECT), vote("symptom", INDIRECT))
    assert (made.groundedness_score, made.critical_fact_count) == (0.75, 2)
    assert made.verdict is Verdict.PASS


def test_uncritical_claims_do_not_count() -> None:
    made = decision(vote("cause", DIRECT), vote("symptom", NONE, critical=False))
    assert (made.groundedness_score, made.critical_fact_count, made.verdict) == (1.0, 1, Verdict.PASS)


def test_a_cause_is_critical_whatever_the_model_says() -> None:
    made = decision(vote("cause", NONE, critical=False), vote("symptom", DIRECT))
    assert made.claim_checks[0].is_critical
    assert made.verdict is Verdict.LOW_CONFID


def test_an_unchecked_claim_is_without_evidence() -> None:
    made = decision(vote("symptom", DIRECT))
    assert made.claim_checks[0].verification is Verification.NONE
    assert made.verdict is Verdict.LOW_CONFID


def test_votes_on_unknown_claims_and_second_votes_are_dropped() -> None:
    made = decision(vote("cause", NONE), vote("cause", DIRECT), vote("invented", DIRECT), vote("symptom", DIRECT))
    assert [check.claim_id for check in made.claim_checks] == ["cause", "symptom"]
    assert made.claim_checks[0].verification is Verification.NONE


def test_a_contradicted_critical_fact_rejects() -> None:
    assert decision(vote("cause", CONTRADICTED), vote("symptom", DIRECT)).verdict is Verdict.REJECT


def test_no_claim_at_all_rejects() -> None:
    made = decision(claims=(), proofs=())
    assert (made.verdict, made.groundedness_score) == (Verdict.REJECT, 0.0)


def test_nothing_critical_is_low_confidence() -> None:
    assert decision(vote("symptom", DIRECT, critical=False), claims=("symptom",)).verdict is Verdict.LOW_CONFID


def test_support_without_one_direct_fact_is_low_confidence() -> None:
    assert decision(vote("cause", INDIRECT), vote("symptom", INDIRECT)).verdict is Verdict.LOW_CONFID


def test_the_model_can_vote_the_question_unanswered_but_not_answered() -> None:
    assert decision(vote("cause", DIRECT), vote("symptom", DIRECT), answered=False).verdict is Verdict.LOW_CONFID
    assert decision(vote("symptom", DIRECT), claims=("symptom",), answered=True).verdict is Verdict.LOW_CONFID


def test_proven_health_answers_a_why() -> None:
    assert decision(vote("health", DIRECT), claims=("health",)).verdict is Verdict.PASS


def test_a_gap_is_never_critical_and_answers_nothing() -> None:
    made = decision(vote("gap", DIRECT), claims=("gap",), question="Which deploys of payment-service were there?")
    assert (made.critical_fact_count, made.verdict) == (0, Verdict.LOW_CONFID)


def test_a_fact_question_is_answered_by_a_claim_about_what_was_asked() -> None:
    asked = "What p99 latency did checkout-service reach?"
    assert decision(vote("symptom", DIRECT), claims=("symptom",), question=asked).verdict is Verdict.PASS
    other = "How many invoices were printed?"
    assert decision(vote("symptom", DIRECT), claims=("symptom",), question=other).verdict is Verdict.LOW_CONFID


def test_a_pass_needs_half_the_claims_words_in_its_quotes() -> None:
    unrelated = (proof("cause", "nothing of the kind was printed here today"), proof("symptom"))
    made = decision(vote("cause", DIRECT), vote("symptom", DIRECT), proofs=unrelated)
    assert made.verdict is Verdict.LOW_CONFID


def test_each_fact_points_into_the_tool_trace() -> None:
    from agents.contracts import ToolTraceItem

    item = ToolTraceItem(
        trace_ref="trace-3",
        tool_name="query_logs",
        success=True,
        input_summary="",
        output_summary="",
        evidence_level="direct",
        topic_domain="orders",
        source_invocation_ids=(7,),
        invocation_count=1,
        failed_invocation_count=0,
        no_hit_invocation_count=0,
        query_samples=(),
        retrieval_layers=(),
        relevance_levels=(),
        source_documents=(),
    )
    given = VerifierDraft(claim_checks=(vote("cause", DIRECT),), question_answered=True, rationale="r")
    [fact] = decide(given, [claim("cause")], [proof("cause")], WHY, [item], 2).facts_checked
    [ref] = fact.evidence_refs
    assert (ref.trace_ref, ref.topic_domain, ref.source_invocation_ids) == ("trace-3", "orders", (7,))
    assert ref.note == TEXTS["cause"]


def test_code_alone_judges_by_shared_words() -> None:
    proofs = [proof("cause"), proof("symptom", "entirely different words over there")]
    made = checks_by_code([claim("cause", "indirect"), claim("symptom")], proofs, "by code")
    assert [check.verification.value for check in made.claim_checks] == [INDIRECT, NONE]


@pytest.mark.parametrize(
    "question",
    [
        "Why is checkout slow?",
        "checkout is slow",
        "What is wrong with payment-service?",
        "What is the issue with redis?",
        "HarborProbeFailure (critical, prod): readiness probes are failing",
        "为什么下单很慢？",
        "结算很慢",
        "支付报错怎么回事",
        "what's causing the 504s",
        "what broke checkout?",
        "what is going on with checkout?",
        "结账怎么变慢了？",
    ],
)
def test_these_ask_why(question: str) -> None:
    assert question_kind(question) == "why"


@pytest.mark.parametrize(
    "question",
    [
        "How many pods are in the test-1 namespace?",
        "What does ERR_TIMEOUT mean?",
        "list all clusterroles in the cluster",
        "Is payment-service healthy?",
        "post last 10 logs that contain ERROR from payment-service",
        "错误码 ORD-5031 是什么意思？",
        "昨晚有多少订单失败？",
        "Check rabbitmq's health",
        "how do I restart order-service?",
        "what's the p99 of checkout-service now?",
        "订单服务怎么重启？",
        "如何回滚 order-service？",
    ],
)
def test_these_ask_for_a_fact(question: str) -> None:
    assert question_kind(question) == "fact"
