"""Alerts and outside answers for tests of the offline backend."""

import json
from collections.abc import Sequence
from typing import Any

from offline_world import NOW, UTC_ZONE, Answers, offer

from agents.citations import expanded
from agents.contracts import (
    AiopsDraft,
    AiopsExecutorInput,
    AiopsPlan,
    AiopsPlannerInput,
    Alert,
    ExecutorDraft,
    InvocationEvidence,
    KnowledgeDomain,
    RetryContext,
    SkillCard,
    ToolPermissions,
)
from agents.gate import check_claims
from agents.llm.base import ModelRequest, ToolOffer
from agents.offline.alert_executor import alert_turn
from agents.offline.alert_planner import plan_alert
from tools.external import wrap_text

POD = "payments-api-7f9dd8b6c4-x7gr9"
SIBLING = "payments-api-7f9dd8b6c4-k2m4p"
EVENTS, PODS, MONITORS, METRICS, LOAD, NODES = (
    offer(name) for name in ("get_events", "get_pods", "get_monitors", "get_metrics", "get_load", "get_node_health")
)
OFFERS = (EVENTS, PODS, MONITORS, METRICS, LOAD, NODES)


def alert(name: str, labels: dict[str, str] | None = None, starts_at: str | None = None, **annotations: str) -> Alert:
    return Alert(
        sender="alertmanager",
        alert_name=name,
        status="firing",
        labels=labels or {},
        annotations=annotations,
        starts_at=starts_at,
        links={"runbook": annotations["runbook_url"]} if "runbook_url" in annotations else {},
        fingerprint="f",
    )


OF_POD = alert("PodCrashLooping", {"namespace": "payments", "pod": POD, "service": "payments-api"})
OF_DATABASE = alert("RDSReplicationLagHigh", {"service": "rds", "db_instance": "orders-prod"})


def outside(answers: Answers, tool: str, **output: Any) -> Answers:
    """A tool's JSON, wrapped as the product wraps it."""
    result = wrap_text(json.dumps(output), {"source": tool})
    return answers.found(tool, {}, list(result.evidence_refs), **result.payload)


def pod(name: str, ready: bool, restarts: int = 0, since: str = "2026-11-29T08:00:00Z", **state: Any) -> dict[str, Any]:
    condition = state or {"running": True, "started_at": since}
    container = {"name": "payments-api", "ready": ready, "restart_count": restarts, "state": condition}
    return {"name": name, "namespace": "payments", "containers": [container]}


def event(reason: str, message: str, thing: str = f"Pod/{POD}", at: str = "2026-11-30T09:05:00Z") -> dict[str, Any]:
    return {"reason": reason, "message": message, "type": "Warning", "involved_object": thing, "last_time": at}


def series(name: str, values: Sequence[float], of: str = "orders-prod", unit: str = "Count") -> dict[str, Any]:
    times = [f"2026-11-30T08:{minute:02d}:00Z" for minute in range(len(values))]
    dimension = [{"Name": "DBInstanceIdentifier", "Value": of}]
    return {"metric_name": name, "dimensions": dimension, "unit": unit, "timestamps": times, "values": list(values)}


def statement(text: str, load: float, wait: str) -> dict[str, Any]:
    return {"statement": text, "db_load_avg": load, "wait_events": [{"name": wait, "db_load_avg": load}]}


def plan(alerts: Sequence[Alert], *cards: SkillCard) -> AiopsPlan:
    given = AiopsPlannerInput(mode="PAYLOAD_TARGETED", alerts=tuple(alerts), round=1, skill_catalog=cards)
    return plan_alert(ModelRequest("aiops_planner", (), AiopsPlan, given, "en", NOW, UTC_ZONE))


def turn_request(
    alerts: Sequence[Alert],
    offers: tuple[ToolOffer, ...],
    answers: Answers,
    *,
    language: str = "en",
    retry: RetryContext | None = None,
) -> ModelRequest:
    domain = KnowledgeDomain(domain_id="runbooks", description="", when_to_retrieve="", document_count=1)
    given = AiopsExecutorInput(
        mode="PAYLOAD_TARGETED",
        alerts=tuple(alerts),
        planner_plan=plan(alerts),
        available_knowledge_domains=(domain,),
        retry_context=retry,
        tool_permissions=ToolPermissions(method_tools=()),
    )
    return ModelRequest("aiops_executor", (), AiopsDraft, given, language, NOW, UTC_ZONE, offers, tuple(answers.exchanges))


def drafted(answers: Answers, *alerts: Alert, language: str = "en", retry: RetryContext | None = None) -> AiopsDraft:
    """Tools are gone, so that the turn has to conclude."""
    reply = alert_turn(turn_request(alerts, (), answers, language=language, retry=retry))
    assert isinstance(reply, AiopsDraft)
    return reply


def said(draft: AiopsDraft, kind: str) -> list[str]:
    return [claim.claim_text for claim in draft.claims if claim.claim_type == kind]


def group(draft: AiopsDraft, name: str) -> set[str]:
    return {one.entity for one in draft.blast_radius if one.group == name}


def rejected(draft: AiopsDraft, answers: Answers) -> list[str]:
    """The claims that the Gatekeeper turns down."""
    plain = ExecutorDraft(
        diagnosis_summary="", claims=draft.claims, hypotheses=(), recommended_actions=(), missing_info=(), user_facing_answer=""
    )
    evidence = [
        InvocationEvidence(
            id=one.invocation_id,
            run_id="run",
            tool_name=one.call.name,
            evidence_status=one.evidence_status,
            evidence_refs=tuple(cited.ref for cited in one.refs),
        )
        for one in answers.exchanges
    ]
    return list(check_claims(expanded(plain, answers.exchanges, 1).claims, evidence, "run").result.rejected_claim_ids)
