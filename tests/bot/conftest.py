"""A finished run to render and to grade."""

from __future__ import annotations

import pytest

from agents.contracts import (
    AllowedClaim,
    AnswerSections,
    Hypothesis,
    OrchestrationTrace,
    RunOutcome,
    RunUsage,
    Verdict,
    VerifiedClaim,
    VerifiedEvidence,
)

QUOTE = "ERROR HikariPool-1 - Connection is not available, request timed out after 30000ms"


@pytest.fixture
def outcome() -> RunOutcome:
    claim = VerifiedClaim(
        claim_id="c1",
        claim_type="root_cause",
        claim_text="order-service waits for connections of HikariPool-1",
        support_level="direct",
    )
    evidence = VerifiedEvidence(
        claim_id="c1",
        index=0,
        source_invocation_id=3,
        tool_name="query_logs",
        raw_path="$.logs[0]",
        span_text=QUOTE,
        span_start=0,
        span_end=len(QUOTE),
        evidence_sha256="0" * 64,
        scope={"service": "order-service", "window_from": "2026-11-30T08:40:00Z", "window_to": "2026-11-30T09:10:00Z"},
    )
    sections = AnswerSections(
        lead="order-service has no free database connection.",
        confirmed=("order-service waits for connections of HikariPool-1 [1]",),
        gaps=("No slow statements were looked at.",),
        next_steps=("Set maximum-pool-size back to 30.",),
    )
    return RunOutcome(
        run_id="run-1",
        session_id="session-1",
        question="Why is checkout slow?",
        language="en",
        verdict=Verdict.PASS,
        status="SUCCESS",
        answer="order-service has no free database connection. [1]",
        sections=sections,
        claims=(AllowedClaim(number=1, claim=claim, evidence=(evidence,)),),
        hypotheses=(Hypothesis(hypothesis_text="A query holds connections", basis="waits"),),
        recommended_actions=(),
        missing_info=("No slow statements were looked at.",),
        gatekeeper_result=None,
        verifier_output=None,
        orchestration_trace=OrchestrationTrace(
            version="v1",
            transitions=(),
            final_node="COMPOSER",
            termination_reason="ok",
            degraded=False,
            evidence_retry_count=0,
        ),
        usage=RunUsage(model="offline", steps=4, tool_calls=3),
        duration_ms=1234,
    )
