"""What fires now, by Prometheus and Alertmanager together: each alert once, silenced ones named as such."""

import threading
from typing import Any

import pytest
from loopback_http import Answering, served
from tool_door import DoorOfRun

from tools.builtin.query_metrics import TOOL
from tools.clients.alertmanager import AlertmanagerClient
from tools.clients.prometheus import PrometheusClient
from tools.contracts import EvidenceStatus, ToolDeps
from tools.errors import ToolConfigError, ToolFailed
from tools.invoke import Invocation
from tools.skills import SkillRegistry


def prometheus_alert(name: str = "CheckoutSlow", state: str = "firing", **labels: str) -> dict[str, Any]:
    return {
        "labels": {"alertname": name, **labels},
        "annotations": {"summary": "p99 above 2 s"},
        "state": state,
        "activeAt": "2026-11-30T08:44:00.123Z",
        "value": "4.2e+00",
    }


def manager_alert(name: str = "CheckoutSlow", state: str = "active", **labels: str) -> dict[str, Any]:
    return {
        "labels": {"alertname": name, **labels},
        "annotations": {"description": "slow"},
        "status": {"state": state, "silencedBy": [], "inhibitedBy": []},
        "startsAt": "2026-11-30T08:45:00.000Z",
    }


def answering(*alerts: dict[str, Any], status: int = 200) -> Answering:
    """As Prometheus and as Alertmanager, by the path."""

    def answer(path: str, _: Any) -> tuple[int, Any]:
        return status, list(alerts) if path.startswith("/api/v2/") else {"status": "success", "data": {"alerts": list(alerts)}}

    return answer


async def ask(run_door: DoorOfRun, prometheus: str = "", alertmanager: str = "", **arguments: Any) -> Invocation:
    clients = [PrometheusClient(prometheus) if prometheus else None, AlertmanagerClient(alertmanager) if alertmanager else None]
    deps = ToolDeps(skills=SkillRegistry(), prometheus=clients[0], alertmanager=clients[1])  # type: ignore[arg-type]
    try:
        return await run_door.call(run_door.open([TOOL], deps), "query_metrics", **{"mode": "alerts", **arguments})
    finally:
        for client in clients:
            if client is not None:
                await client.close()


async def test_alertmanagers_alerts_can_be_quoted(run_door: DoorOfRun) -> None:
    with served(answering(manager_alert(service="checkout", severity="critical"))) as url:
        made = await ask(run_door, alertmanager=url)
    [ref] = made.refs
    assert ref.raw_path == "$.alerts[0]"
    assert ref.text == (
        "alertname=CheckoutSlow state=firing service=checkout severity=critical activeAt=2026-11-30T08:45:00Z summary=slow"
    )
    assert ref.scope == {"alertname": "CheckoutSlow", "service": "checkout", "severity": "critical", "source": url}


async def test_an_alert_of_both_is_listed_once_as_prometheus_has_it(run_door: DoorOfRun) -> None:
    both = manager_alert(service="checkout", cluster="eu-1")
    with (
        served(answering(prometheus_alert(service="checkout"))) as one,
        served(answering(both, manager_alert("DiskFull", host="db-1"))) as other,
    ):
        made = await ask(run_door, one, other)
    assert [(ref.scope["alertname"], ref.scope["source"]) for ref in made.refs] == [("CheckoutSlow", one), ("DiskFull", other)]
    assert "value=4.2" in made.refs[0].text


async def test_a_silenced_alert_does_not_count_as_firing(run_door: DoorOfRun) -> None:
    muted = manager_alert(state="suppressed", service="checkout")
    with served(answering(prometheus_alert(service="checkout"))) as one, served(answering(muted)) as other:
        made = await ask(run_door, one, other)
    assert [alert["state"] for alert in made.payload["alerts"]] == ["silenced"]


async def test_one_source_that_is_away_does_not_hide_the_other(run_door: DoorOfRun) -> None:
    with served(answering()) as gone:
        pass
    with served(answering(prometheus_alert())) as url:
        made = await ask(run_door, url, gone)
    assert [ref.scope["alertname"] for ref in made.refs] == ["CheckoutSlow"]
    assert f"Alertmanager at {gone} is away" in str(made.details)


async def test_no_alert_names_those_that_were_asked(run_door: DoorOfRun) -> None:
    with served(answering()) as one, served(answering()) as other:
        made = await ask(run_door, one, other)
        alone = await ask(run_door, alertmanager=other, match="disk")
    assert made.evidence_status is EvidenceStatus.NO_EVIDENCE
    assert made.refs[0].text == "No alert is pending or firing in Prometheus and Alertmanager."
    assert alone.refs[0].text == "No alert that mentions disk is pending or firing in Alertmanager."


async def test_metrics_need_prometheus_and_that_is_said(run_door: DoorOfRun) -> None:
    with served(answering()) as url:
        made = await ask(run_door, alertmanager=url, mode="instant", query="up")
    assert "no Prometheus is configured, only Alertmanager" in str(made.error)


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (401, [], "the operator must set alertmanager_token"),
        (404, [], "answers HTTP 404: check alertmanager_url"),
        (200, {"not": "a list"}, "a form that is not Alertmanager's"),
        (200, b"<html>", "a form that is not Alertmanager's"),
    ],
)
async def test_a_refusal_says_what_to_do(run_door: DoorOfRun, status: int, body: Any, told: str) -> None:
    with served(lambda path, query: (status, body)) as url:
        made = await ask(run_door, alertmanager=url)
    assert told in str(made.error)


async def test_odd_alerts_are_read_as_far_as_they_go(run_door: DoorOfRun) -> None:
    odd = [{}, {"labels": None, "status": "x", "startsAt": 7}, {"labels": {"alertname": "A"}, "annotations": []}, "no alert"]
    with served(lambda path, query: (200, odd)) as url:
        made = await ask(run_door, alertmanager=url)
    assert [alert.get("alertname", "") for alert in made.payload["alerts"]] == ["", "A", ""]


async def test_a_slow_alertmanager_is_told() -> None:
    released = threading.Event()

    def hangs(path: str, query: Any) -> tuple[int, Any]:
        released.wait(5)
        return 200, []

    with served(hangs) as url:
        client = AlertmanagerClient(url, timeout=0.05)
        with pytest.raises(ToolFailed, match=r"did not answer within 0\.05 s"):
            await client.alerts()
        await client.close()
        released.set()


async def test_an_answer_is_read_no_further_than_the_cap() -> None:
    with served(lambda path, query: (200, b"x" * 3_000_000)) as url:
        client = AlertmanagerClient(url, max_body_bytes=1_048_576)
        with pytest.raises(ToolFailed, match="larger than 1 MiB"):
            await client.alerts()
        await client.close()


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ToolConfigError, match="write http://alertmanager:9093"):
        AlertmanagerClient("alertmanager:9093")


def test_a_password_in_the_address_is_never_shown() -> None:
    assert AlertmanagerClient("https://me:secret@am.example/x/").shown_url == "https://am.example/x"
