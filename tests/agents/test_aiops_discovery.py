"""A patrol: code looks for active alerts first, and what it finds becomes the run's subject."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict
from small_alert import LOOK_UPS, alert_draft, alert_plan, alert_request
from small_incident import CAUSE, CHANGE, scripted, specs, world

from agents.contracts import Verdict
from bot.jobs import ask
from storage.engine import Database
from storage.trace import TraceStore
from tools.contracts import CallContext, EvidenceRef, EvidenceStatus, ToolDeps, ToolResult, ToolSpec, nothing_found
from tools.errors import ToolFailed

FIRING = {
    "alertname": "CheckoutSlow",
    "state": "firing",
    "severity": "warning",
    "service": "order-service",
    "activeAt": "2026-11-30T08:44:00Z",
    "value": "2.4",
    "summary": "p99 above 2 s",
}
WORSE = {"alertname": "DiskFull", "state": "firing", "severity": "critical", "service": "payment-service"}
PENDING = {"alertname": "Pending", "state": "pending", "service": "order-service"}
WATCHDOG = {"alertname": "Watchdog", "state": "firing", "severity": "none"}
PATROL: dict[str, Any] = {"mode": "AUTO_DISCOVERY", "alerts": (), "question": "Patrol of the alerts channel"}


class MetricsInput(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mode: str = "range"
    service: str = ""
    limit: int = 20


def prometheus(*alerts: dict[str, str], down: bool = False) -> list[ToolSpec]:
    async def run(asked: MetricsInput, _: ToolDeps, __: CallContext) -> ToolResult:
        if down:
            raise ToolFailed("Prometheus answered 503")
        if asked.mode != "alerts":
            line = "order-service hikaricp_connections_pending max=42 at 08:44, before=0"
            ref = EvidenceRef(raw_path="$.series[0]", text=line, scope={"service": "order-service"})
            return ToolResult(payload={"series": [line]}, evidence_status=EvidenceStatus.SUPPORTED, evidence_refs=(ref,))
        if not alerts:
            return nothing_found("No alert is pending or firing in Prometheus.", scope={"source": "http://prometheus"})
        refs = tuple(
            EvidenceRef(raw_path=f"$.alerts[{index}]", text=" ".join(f"{k}={v}" for k, v in one.items()), scope=one)
            for index, one in enumerate(alerts)
        )
        return ToolResult(payload={"alerts": list(alerts)}, evidence_status=EvidenceStatus.SUPPORTED, evidence_refs=refs)

    spec = ToolSpec("query_metrics", "Metrics and alerts", MetricsInput, run, "direct")
    return [one for one in specs() if one.name != "query_metrics"] + [spec]


async def test_a_patrol_looks_into_the_worst_alert_that_fires(sqlite_database: Database) -> None:
    turns = [alert_plan(), alert_draft(), alert_plan(), alert_draft()]
    model = scripted(*turns)
    place = world(sqlite_database, model, tools=prometheus(WATCHDOG, FIRING, PENDING, WORSE)).place
    outcome = await ask(alert_request(**PATROL), place)
    assert outcome.report is not None
    assert [alert.alert_name for alert in outcome.report.alerts] == ["DiskFull", "CheckoutSlow"]
    assert outcome.report.headline == "Prometheus reports: DiskFull is firing (critical) on payment-service; 1 more alert(s) fire"
    [first, second] = outcome.report.alerts
    assert (first.severity, second.severity, second.starts_at, second.value) == ("critical", "warning", "2026-11-30T08:44:00Z", "2.4")
    assert second.labels == {"alertname": "CheckoutSlow", "severity": "warning", "service": "order-service"}


async def test_what_the_patrol_found_can_be_quoted_by_the_executor(sqlite_database: Database) -> None:
    claims = [dict(one) for one in (CAUSE, CHANGE)]
    for one in claims:  # the discovery took E1
        one["evidence"] = [{**cited, "ref": f"E{int(cited['ref'][1:]) + 1}"} for cited in one["evidence"]]
    model = scripted(alert_plan(), LOOK_UPS, alert_draft(*claims))
    outcome = await ask(alert_request(**PATROL), world(sqlite_database, model, tools=prometheus(FIRING)).place)
    assert outcome.verdict is Verdict.PASS
    opening = next(one for one in model.asked if one.role == "aiops_executor").messages[1].content
    assert "E1" in opening
    assert "alertname=CheckoutSlow" in opening
    calls = [(row.node, row.round, row.tool_name) for row in TraceStore(sqlite_database).invocations(outcome.run_id)]
    assert calls[0] == ("DISCOVERY", 0, "query_metrics")


async def test_a_patrol_that_finds_nothing_asks_no_model(sqlite_database: Database) -> None:
    model = scripted()
    outcome = await ask(alert_request(**PATROL), world(sqlite_database, model, tools=prometheus(WATCHDOG)).place)
    assert model.asked == []
    assert outcome.status == "SUCCESS"
    assert outcome.report is not None
    assert outcome.report.headline == "Patrol at 2026-11-30 09:10 UTC: no alert to look into was found"


@pytest.mark.parametrize(
    ("language", "said"), [("en", "The look-up for active alerts returned nothing: "), ("zh", "活动告警查询没有返回结果：")]
)
async def test_an_empty_answer_is_stated_as_no_more_than_that(sqlite_database: Database, language: str, said: str) -> None:
    outcome = await ask(alert_request(language=language, **PATROL), world(sqlite_database, scripted(), tools=prometheus()).place)
    [stated] = outcome.claims
    assert stated.claim.claim_type == "gap"
    assert stated.claim.claim_text.startswith(said)
    assert [proof.span_text for proof in stated.evidence] == ["No alert is pending or firing in Prometheus."]
    assert outcome.verdict is Verdict.LOW_CONFID


async def test_a_patrol_that_cannot_look_says_what_failed(sqlite_database: Database) -> None:
    outcome = await ask(alert_request(**PATROL), world(sqlite_database, scripted(), tools=prometheus(down=True)).place)
    assert outcome.verdict is Verdict.REJECT
    assert "The tool query_metrics gave no answer: Prometheus answered 503" in outcome.sections.gaps


def test_the_graphs_picture_names_every_node() -> None:
    from agents import aiops_graph

    assert aiops_graph.__doc__ is not None
    assert all(name in aiops_graph.__doc__ for name in aiops_graph.AIOPS_GRAPH.nodes)
    assert len(Path(aiops_graph.__file__).read_text(encoding="utf-8").splitlines()) < 110
