"""Webhook JSON of Alertmanager and Grafana → alerts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.alert_reading.webhook import webhook_alerts

ALERTMANAGER: dict[str, Any] = {
    "version": "4",
    "groupKey": '{}:{alertname="DiskFull"}',
    "status": "firing",
    "receiver": "proofthread",
    "groupLabels": {"alertname": "DiskFull"},
    "commonLabels": {"alertname": "DiskFull", "severity": "critical"},
    "commonAnnotations": {"runbook_url": "https://runbooks.example/disk"},
    "externalURL": "http://alertmanager.example:9093",
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "DiskFull", "instance": "db-1:9100", "severity": "critical"},
            "annotations": {"summary": "disk of db-1 at 97 %"},
            "startsAt": "2026-11-30T09:43:12.123456789+01:00",
            "endsAt": "0001-01-01T00:00:00Z",
            "generatorURL": "http://prometheus.example/graph?g0.expr=x",
            "fingerprint": "c0ffee",
        },
        {
            "status": "resolved",
            "labels": {"alertname": "DiskFull", "instance": "db-2:9100", "severity": "critical"},
            "annotations": {},
            "startsAt": "2026-11-30T08:00:00Z",
            "endsAt": "2026-11-30T08:30:00Z",
            "generatorURL": "",
        },
    ],
}
GRAFANA: dict[str, Any] = {
    "receiver": "proofthread",
    "status": "firing",
    "orgId": 1,
    "title": "[FIRING:1] Checkout p99",
    "state": "alerting",
    "message": "**Firing**",
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "Checkout p99", "grafana_folder": "shop", "service": "checkout"},
            "annotations": {"summary": "p99 above 2 s", "__dashboardUid__": "abc"},
            "startsAt": "2026-11-30T08:44:00Z",
            "endsAt": "0001-01-01T00:00:00Z",
            "values": {"A": 2.41},
            "valueString": "[ var='A' labels={} value=2.41 ]",
            "generatorURL": "https://grafana.example/alerting/grafana/x/view",
            "dashboardURL": "https://grafana.example/d/abc",
            "panelURL": "https://grafana.example/d/abc?viewPanel=2",
            "silenceURL": "https://grafana.example/alerting/silence/new",
        }
    ],
}
LEGACY: dict[str, Any] = {
    "ruleName": "Disk alert",
    "ruleUrl": "https://grafana.example/d/x",
    "state": "no_data",
    "message": "no data for the disk",
    "evalMatches": [{"metric": "free", "value": 3.2, "tags": {}}],
    "tags": {"severity": "major"},
}


def test_alertmanagers_group_is_read_alert_by_alert() -> None:
    firing, resolved = webhook_alerts(ALERTMANAGER)
    assert (firing.sender, firing.alert_name, firing.status, firing.severity) == ("alertmanager", "DiskFull", "firing", "critical")
    assert (firing.starts_at, firing.ends_at) == ("2026-11-30T08:43:12Z", None)
    assert (resolved.status, resolved.ends_at) == ("resolved", "2026-11-30T08:30:00Z")
    assert firing.links["runbook"] == "https://runbooks.example/disk"
    assert firing.links["source"] == "http://prometheus.example/graph?g0.expr=x"
    assert firing.group == "alertname=DiskFull"


def test_an_alert_keeps_its_fingerprint_when_it_resolves() -> None:
    firing, _ = webhook_alerts(ALERTMANAGER)
    [ended] = webhook_alerts({**ALERTMANAGER, "alerts": [{**ALERTMANAGER["alerts"][0], "status": "resolved"}]})
    assert ended.status == "resolved"
    assert ended.fingerprint == firing.fingerprint


def test_grafanas_alert_has_its_value_and_its_links() -> None:
    [alert] = webhook_alerts(GRAFANA)
    assert (alert.sender, alert.alert_name, alert.value) == ("grafana", "Checkout p99", "2.41")
    assert {"dashboard", "panel", "silence", "source"} <= set(alert.links)


def test_grafanas_missing_data_is_no_data_under_the_rules_name() -> None:
    labels = {"alertname": "DatasourceNoData", "rulename": "Checkout p99"}
    [alert] = webhook_alerts({**GRAFANA, "alerts": [{**GRAFANA["alerts"][0], "labels": labels}]})
    assert (alert.alert_name, alert.status) == ("Checkout p99", "no_data")


def test_the_older_form_of_grafana_is_read() -> None:
    [alert] = webhook_alerts(LEGACY)
    assert (alert.alert_name, alert.status, alert.severity, alert.value) == ("Disk alert", "no_data", "high", "free=3.2")


@pytest.mark.parametrize(
    "payload", [{}, {"alerts": None}, {"alerts": [1, None, {}]}, {"alerts": [{"status": 3}]}, {"state": "alerting"}, {"ruleName": "x"}]
)
def test_what_is_no_webhook_gives_no_alert(payload: dict[str, Any]) -> None:
    assert webhook_alerts(payload) == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*GRAFANA["alerts"][0], "x"]), inner, max_size=6),
    max_leaves=20,
)


@given(one=st.dictionaries(st.sampled_from([*GRAFANA["alerts"][0], "x"]), JSON, max_size=10))
def test_no_payload_breaks_the_reader(one: dict[str, Any]) -> None:
    assert len(webhook_alerts({"alerts": [one], "commonLabels": one.get("labels"), "groupLabels": one.get("x")})) <= 1
    webhook_alerts({**LEGACY, "tags": one, "evalMatches": one.get("x")})
