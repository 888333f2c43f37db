"""Reports of an invented incident, one a verdict, and its end: golden files in tests, and what `doctor --slack` sends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from agents.contracts import (
    AiopsReport,
    AiopsRuleEvaluation,
    Alert,
    AllowedClaim,
    AnswerSections,
    BlastEntry,
    RecommendedAction,
    RunOutcome,
    RunUsage,
    SimilarCase,
    Verdict,
)
from agents.contracts.chat import ClaimType
from bot.blocks.resolved import Resolved
from bot.blocks.sample_run import sample_claim, sample_outcome

_WINDOW = {"window_from": "2026-11-30T02:40:00Z", "window_to": "2026-11-30T03:12:00Z"}
_QUOTES: tuple[tuple[ClaimType, str, str, str, str], ...] = (
    (
        "root_cause",
        "order-service has no free connection in HikariPool-1 since maximum-pool-size went from 30 to 5",
        "query_logs",
        "ERROR HikariPool-1 - Connection is not available, request timed out after 30000ms",
        "order-service",
    ),
    (
        "symptom",
        "http_request_duration_seconds p99 of checkout-service rose from 0.21 s to 4.8 s at 02:55",
        "query_metrics",
        "checkout-service p99 first=0.21 last=4.8 change=2026-11-30T02:55:00Z",
        "checkout-service",
    ),
    (
        "change",
        "order-service got maximum-pool-size=5 at 02:51",
        "query_changes",
        "time=2026-11-30T02:51:00Z service=order-service kind=config summary=maximum-pool-size 30 -> 5",
        "order-service",
    ),
    ("healthy", "payment-service answers with p99 0.08 s", "query_metrics", "payment-service p99 last=0.08", "payment-service"),
    (
        "change",
        "search-service was restarted by its nightly job at 03:00",
        "query_changes",
        "time=2026-11-30T03:00:00Z service=search-service kind=restart summary=nightly reindex",
        "search-service",
    ),
)


def sample_alert(**changes: object) -> Alert:
    alert = Alert(
        sender="alertmanager",
        alert_name="CheckoutLatencyHigh",
        status="firing",
        severity="critical",
        severity_raw="critical",
        labels={"service": "checkout-service", "severity": "critical"},
        annotations={"summary": "p99 of checkout is above 1 s"},
        value="4.8",
        starts_at="2026-11-30T02:57:00Z",
        links={"runbook": "https://runbooks.example.org/checkout-latency"},
        fingerprint="f1",
    )
    return alert.model_copy(update=changes)


def sample_report(run_id: str = "run-1") -> RunOutcome:
    """A critical incident of three alerts with a proven cause."""
    claims = _claims()
    lead = claims[0].claim.claim_text
    run = sample_outcome()
    trace = {"final_node": "REPORT", **_WINDOW}
    return run.model_copy(
        update={
            "run_id": run_id,
            "question": "CheckoutLatencyHigh: p99 of checkout is above 1 s",
            "answer": lead,
            "sections": AnswerSections(lead=lead, confirmed=(), gaps=(), next_steps=()),
            "claims": claims,
            "missing_info": (),
            "orchestration_trace": run.orchestration_trace.model_copy(update=trace),
            "usage": RunUsage(model="offline", steps=4, tool_calls=6),
            "duration_ms": 8_400,
            "report": _report(),
        }
    )


def sample_unproven(run_id: str = "run-1") -> RunOutcome:
    """The same with its cause unproven."""
    outcome = sample_report(run_id)
    assert outcome.report is not None
    evaluation = outcome.report.evaluation.model_copy(
        update={
            "cause_verified": False,
            "score": 0.8,
            "verdict": Verdict.LOW_CONFID,
            "reasons": ("No cause has the evidence of two tools.",),
        }
    )
    report = outcome.report.model_copy(
        update={"probable_cause": (), "evaluation": evaluation, "missing_info": ("Logs of order-service before 02:51.",)}
    )
    return outcome.model_copy(
        update={"verdict": Verdict.LOW_CONFID, "claims": outcome.claims[1:], "report": report, "language": "zh"}
    )


def sample_rejected(run_id: str = "run-1") -> RunOutcome:
    """Nothing about the alert was verified."""
    outcome = sample_report(run_id)
    assert outcome.report is not None
    evaluation = AiopsRuleEvaluation(
        focused=True,
        tools_answered=False,
        claims_verified=False,
        cause_verified=False,
        actions_present=False,
        score=0.2,
        verdict=Verdict.REJECT,
        reasons=("No tool answered.",),
    )
    empty: dict[str, object] = dict.fromkeys(
        ("probable_cause", "affected", "healthy", "other_reason", "changes", "actions", "similar_cases"), ()
    )
    report = outcome.report.model_copy(
        update={
            **empty,
            "not_checked": ("checkout-service",),
            "missing_info": ("The tool query_metrics gave no answer: timed out.",),
            "evaluation": evaluation,
            "alerts": (sample_alert(),),
        }
    )
    return outcome.model_copy(update={"verdict": Verdict.REJECT, "claims": (), "report": report})


def sample_healthy(run_id: str = "run-1") -> RunOutcome:
    """A false alarm: what the alert speaks of is healthy."""
    outcome = sample_report(run_id)
    assert outcome.report is not None
    health = _allowed(1, 3)
    report = outcome.report.model_copy(
        update={
            "headline": "Alertmanager reports: PaymentLatencyHigh is firing (warning), since 2026-11-30 02:57 UTC",
            "alerts": (sample_alert(alert_name="PaymentLatencyHigh", severity="warning"),),
            "probable_cause": (),
            "affected": (),
            "healthy": (BlastEntry(entity="payment-service", claim_ids=(health.claim.claim_id,)),),
            "other_reason": (),
            "changes": (),
            "actions": (),
            "similar_cases": (),
        }
    )
    return outcome.model_copy(update={"claims": (health,), "report": report})


def sample_resolved() -> Resolved:
    return Resolved(
        name="CheckoutLatencyHigh",
        ended_at=datetime(2026, 11, 30, 3, 9, tzinfo=UTC),
        lasted=timedelta(minutes=12),
        at_end=("CheckoutLatencyHigh: value 0.2",),
        alerts=3,
        turns=3,
    )


def _report() -> AiopsReport:
    more = sample_alert(alert_name="OrderErrorsHigh", severity="high", fingerprint="f2", links={})
    return AiopsReport(
        headline="Alertmanager reports: CheckoutLatencyHigh is firing (critical) on checkout-service, since 2026-11-30 10:57 "
        "(02:57 UTC); 2 more alert(s) of this incident",
        mode="PAYLOAD_TARGETED",
        alerts=(sample_alert(), more, more.model_copy(update={"fingerprint": "f3"})),
        probable_cause=("c1",),
        affected=(
            BlastEntry(entity="checkout-service", claim_ids=("c2",)),
            BlastEntry(entity="order-service", claim_ids=("c1", "c3")),
        ),
        healthy=(BlastEntry(entity="payment-service", claim_ids=("c4",)),),
        other_reason=(BlastEntry(entity="search-service", claim_ids=("c5",)),),
        not_checked=("inventory-service",),
        changes=("c3",),
        actions=(
            RecommendedAction(action_text="Set maximum-pool-size of order-service back to 30.", reason="It was 30 before."),
            RecommendedAction(action_text="Restart the pods that still wait: `kubectl rollout restart`.", reason=""),
        ),
        similar_cases=(SimilarCase(case_id="case-1", title="CheckoutLatencyHigh", detail="pool too small, 2026-10-02"),),
        missing_info=(),
        evaluation=AiopsRuleEvaluation(
            focused=True,
            tools_answered=True,
            claims_verified=True,
            cause_verified=True,
            actions_present=True,
            score=1.0,
            verdict=Verdict.PASS,
            reasons=(),
        ),
    )


def _claims() -> tuple[AllowedClaim, ...]:
    return tuple(_allowed(number, index) for index, number in enumerate(range(1, len(_QUOTES) + 1)))


def _allowed(number: int, index: int) -> AllowedClaim:
    """The claim of that quote, with that number in the answer."""
    kind, text, tool, quote, service = _QUOTES[index]
    scope = {"service": service, **_WINDOW}
    claim = sample_claim(index + 1, text, quote, scope=scope, tool=tool, call=index + 1, kind=kind)
    return claim.model_copy(update={"number": number})
