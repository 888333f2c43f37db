"""An alert on the small incident, and the turns of a model that triages it."""

from __future__ import annotations

from typing import Any

from small_incident import CAUSE, CHANGE, NOW, claim, looks

from agents.contracts import Alert
from agents.llm.scripted import Turn
from agents.state import RunRequest

ALERT = Alert(
    sender="alertmanager",
    alert_name="CheckoutSlow",
    status="firing",
    severity="critical",
    severity_raw="critical",
    labels={"alertname": "CheckoutSlow", "service": "order-service", "severity": "critical"},
    annotations={"summary": "p99 of order-service above 2 s"},
    starts_at="2026-11-30T08:44:00Z",
    links={"runbook": "https://runbooks.example/checkout"},
    fingerprint="f1",
)
LATER_ALERT = Alert(
    sender="alertmanager",
    alert_name="QueueLong",
    status="firing",
    labels={"alertname": "QueueLong", "service": "payment-service"},
    fingerprint="f2",
)
HEALTH = claim(
    3, "healthy", "recommendation-service falling back to defaults", ("E4", "feature cache miss, falling back to defaults")
)


def alert_request(*alerts: Alert, language: str = "en", **changes: Any) -> RunRequest:
    values: dict[str, Any] = {
        "session_id": "session-1",
        "question": "CheckoutSlow · critical · order-service: p99 of order-service above 2 s",
        "language": language,
        "zone": "UTC",
        "now": NOW,
        "agent_flow": "AI_OPS",
        "deadline_seconds": 300,
        "mode": "PAYLOAD_TARGETED",
        "alerts": alerts or (ALERT,),
    }
    return RunRequest(**(values | changes))


def alert_plan(skill: str | None = None, entities: tuple[str, ...] = ("order-service",)) -> Turn:
    return Turn(
        role="aiops_planner",
        reply={
            "selected_skill": skill,
            "selection_reason": "pool words",
            "plan": ["logs of order-service", "metrics of order-service"],
            "entities": list(entities),
            "reasoning": "start at the order service",
        },
    )


def alert_looks(*calls: tuple[str, str]) -> Turn:
    return looks(*calls).model_copy(update={"role": "aiops_executor"})


LOOK_UPS = alert_looks(
    ("query_logs", "order-service"), ("query_metrics", "order-service"), ("query_changes", "order-service")
)
AFFECTED = {"entity": "order-service", "group": "affected", "claim_ids": ["c1"]}


def alert_draft(*claims: dict[str, Any], **changes: Any) -> Turn:
    reply: dict[str, Any] = {
        "diagnosis_summary": "The pool is exhausted.",
        "claims": list(claims),
        "blast_radius": [AFFECTED],
        "not_checked": [],
        "hypotheses": [],
        "recommended_actions": [{"action_text": "Set maximum-pool-size back", "reason": "undo", "evidence": []}],
        "missing_info": ["No traces were available"],
    }
    return Turn(role="aiops_executor", reply=reply | changes)


def good_triage() -> list[Turn]:
    """Three calls of a model that does everything right, and ends in PASS."""
    return [alert_plan(), LOOK_UPS, alert_draft(CAUSE, CHANGE)]
