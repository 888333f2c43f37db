"""An invented run, for what is made of one: samples, golden files, tests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from agents.contracts import (
    AllowedClaim,
    AnswerSections,
    OrchestrationTrace,
    RunOutcome,
    RunUsage,
    Verdict,
    VerifiedClaim,
    VerifiedEvidence,
)
from agents.contracts.chat import ClaimType
from agents.events import RunEvent
from bot.blocks.evidence import Proof, Quote
from storage.trace import Run, Step, StoredInvocation

RUN = "run-1"
SAMPLE_AT = datetime(2026, 11, 30, 8, 40, tzinfo=UTC)
SAMPLE_GAP = "No slow statements were looked at."
_QUOTE = "ERROR HikariPool-1 - Connection is not available, request timed out after 30000ms"
_LINE = f"2026-11-30T08:43:12Z {_QUOTE} service=order-service"
_WINDOW = {"window_from": "2026-11-30T08:40:00Z", "window_to": "2026-11-30T09:10:00Z"}

def sample_events() -> list[RunEvent]:
    """Two calls side by side: the second answers first, the first fails."""
    return [
        RunEvent(RUN, "node_started", "PLANNER"),
        RunEvent(RUN, "node_finished", "PLANNER"),
        RunEvent(RUN, "node_started", "EXECUTOR"),
        RunEvent(RUN, "tool_started", "query_logs", 'level="ERROR"', call="a"),
        RunEvent(RUN, "tool_started", "query_logs", 'level="WARN"', call="b"),
        RunEvent(RUN, "tool_finished", "query_logs", "5 quotable pieces", call="b"),
        RunEvent(RUN, "tool_finished", "query_logs", "timed out after 10 s", ok=False, call="a"),
    ]


def sample_outcome() -> RunOutcome:
    return RunOutcome(
        run_id=RUN,
        session_id="session-1",
        question="Why is checkout slow?",
        language="en",
        verdict=Verdict.PASS,
        status="SUCCESS",
        answer="order-service has no free database connection.",
        sections=AnswerSections(
            lead="order-service has no free database connection.",
            confirmed=("order-service waits for connections of HikariPool-1 [1]",),
            gaps=(SAMPLE_GAP,),
            next_steps=("Set maximum-pool-size back to 30.",),
        ),
        claims=(_cause(),),
        hypotheses=(),
        recommended_actions=(),
        missing_info=(SAMPLE_GAP,),
        gatekeeper_result=None,
        verifier_output=None,
        orchestration_trace=OrchestrationTrace(
            version="1",
            transitions=(),
            final_node="COMPOSER",
            termination_reason="completed",
            degraded=False,
            evidence_retry_count=0,
            **_WINDOW,
        ),
        usage=RunUsage(model="offline", steps=4, tool_calls=3),
        duration_ms=1234,
    )


def _cause() -> AllowedClaim:
    text = "order-service waits for connections of HikariPool-1"
    return sample_claim(1, text, _QUOTE, scope={"service": "order-service", **_WINDOW}, line=_LINE, call=3)


def sample_claim(
    number: int,
    text: str,
    quote: str,
    *,
    scope: Mapping[str, str],
    line: str = "",
    tool: str = "query_logs",
    call: int = 1,
    kind: ClaimType = "root_cause",
) -> AllowedClaim:
    """Claim `c<number>` with one quote; `line` is what the tool returned, the quote alone where it is empty."""
    claim = VerifiedClaim(claim_id=f"c{number}", claim_type=kind, claim_text=text, support_level="direct")
    start = (line or quote).index(quote)
    evidence = VerifiedEvidence(
        claim_id=claim.claim_id,
        index=0,
        source_invocation_id=call,
        tool_name=tool,
        raw_path="$.logs[0]",
        span_text=quote,
        span_start=start,
        span_end=start + len(quote),
        evidence_sha256="0" * 64,
        scope=dict(scope),
    )
    return AllowedClaim(number=number, claim=claim, evidence=(evidence,))


def sample_proofs() -> list[Proof]:
    claim = sample_outcome().claims[0]
    query = 'query_logs(level="ERROR", service="order-service")'
    return [Proof(claim, tuple(Quote(one, _LINE, query) for one in claim.evidence))]


def sample_run() -> Run:
    transitions = [
        {"source": "START", "target": "PLANNER", "reason": "ok"},
        {"source": "VERIFIER", "target": "PLANNER", "reason": "evidence_retry"},
    ]
    return Run(
        run_id=RUN, session_id="session-1", agent_flow="CHAT", query="Why is checkout slow?", language="en", zone="UTC",
        status="SUCCESS", verdict="PASS", answer=None, total_duration_ms=1234, total_token_count=150, step_count=1,
        tool_call_count=1, cost=None, self_evaluation=None, orchestration_trace={"transitions": transitions},
        feedback=None, state="", next_node=None, attempt=1, lease_owner=None, lease_until=None, deadline_seconds=180,
        deadline=None, cancel_requested_at=None, created_at=SAMPLE_AT, started_at=SAMPLE_AT, finished_at=SAMPLE_AT,
    )  # fmt: skip


def sample_step() -> Step:
    return Step(
        session_id="session-1", node="PLANNER", round=1, sequence=1, request_hash="", agent_name="planner",
        model_name="qwen-max", model_input="", model_output="", thought="", has_tool_call=False, duration_ms=900,
        prompt_tokens=100, completion_tokens=50, cached_tokens=0, cost=None, request_whole="", reply_whole="", ok=True,
        error=None, id=1, run_id=RUN, step_index=1,
    )  # fmt: skip


def sample_call() -> StoredInvocation:
    details = {"evidence_status": "supported", "evidence_refs": [{"raw_path": "$.logs[0]", "text": _LINE, "scope": {}}]}
    return StoredInvocation(
        session_id="session-1", step_id=1, node="EXECUTOR", round=1, sequence=1, arguments_hash="",
        tool_name="query_logs", input_params={"level": "ERROR", "service": "order-service"}, output_preview="1 line",
        output_length=10, retrieval_layer=None, l0_match_count=None, l1_match_count=None, is_truncated=False,
        relevance_level=None, dedup_reason=None, retrieval_details=details, payload={}, duration_ms=12, success=True,
        error_message=None, id=3, run_id=RUN, finished=True,
    )  # fmt: skip
