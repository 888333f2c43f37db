from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from offline_alerts import POD, alert
from offline_world import NOW, UTC_ZONE

from agents.contracts import Alert
from agents.offline.alert_subject import entities_of, resources_of, subject_of
from agents.offline.question import Question

START = "2026-11-30T08:50:00Z"


def subject(*alerts: Alert) -> Question:
    return subject_of(alerts, NOW, UTC_ZONE)


def test_labels_name_the_things_with_their_kinds_and_namespace() -> None:
    found = resources_of([alert("PodCrashLooping", {"namespace": "payments", "pod": "web-1", "node": "worker-3"})])
    assert [(one.kind, one.name, one.namespace) for one in found] == [
        ("pod", "web-1", "payments"),
        ("node", "worker-3", "payments"),
    ]


def test_a_pod_that_only_the_text_names_is_found() -> None:
    assert POD in entities_of([alert("PodRestarting", {"namespace": "payments"}, summary=f"Pod {POD} has restarted 8 times")])


def test_a_node_that_only_the_text_names_is_found() -> None:
    assert "ip-10-0-1-73.ec2.internal" in entities_of([alert("NodeNotReady", summary="Node ip-10-0-1-73.ec2.internal NotReady")])


def test_a_host_is_named_without_its_port() -> None:
    assert entities_of([alert("InstanceDown", {"instance": "db-3:9100", "job": "node"})]) == ("db-3",)


def test_the_kind_of_a_bare_subject_comes_from_the_alerts_name() -> None:
    found = resources_of([alert("JobFailure", {"namespace": "default", "subject": "java-api-checker"})])
    assert [one.kind for one in found] == ["job"]


def test_a_bare_subject_of_no_kind_may_be_a_deployment_or_a_pod() -> None:
    found = resources_of([alert("HighLatency", {"namespace": "default", "subject": "customer-orders"})])
    assert [one.kind for one in found] == ["deployment", "pod"]


def test_a_database_stands_before_the_product_that_serves_it() -> None:
    assert entities_of([alert("LagHigh", {"service": "rds", "db_instance": "orders-prod"})]) == ("orders-prod", "rds")


def test_the_node_that_most_alerts_of_a_storm_share_leads() -> None:
    storm = [alert(f"Down{n}", {"service": f"svc-{n}", "node": "worker-3"}) for n in range(40)]
    assert entities_of(storm)[0] == "worker-3"


def test_the_node_of_an_alert_about_a_node_leads_a_storm() -> None:
    storm = [alert(f"Down{n}", {"service": f"svc-{n}", "node": "worker-1"}) for n in range(3)]
    assert entities_of([*storm, alert("NodeDown", {"node": "worker-3"})])[0] == "worker-3"


def test_a_storm_names_a_few_things_only() -> None:
    assert len(entities_of([alert("Down", {"service": f"svc-{n}"}) for n in range(40)])) == 8


def test_the_window_begins_half_an_hour_before_the_first_start() -> None:
    window = subject(alert("A", starts_at=START), alert("B", starts_at="2026-11-30T08:40:00Z")).window
    assert window is not None
    assert (window.since, window.until) == (datetime(2026, 11, 30, 8, 10, tzinfo=UTC), None)


def test_of_an_alert_that_fires_for_days_the_hours_after_its_start_are_read() -> None:
    window = subject(alert("A", starts_at="2026-11-01T08:00:00Z")).window
    assert window is not None
    assert window.until == datetime(2026, 11, 1, 8, tzinfo=UTC) + timedelta(hours=2)


def test_a_start_without_a_zone_is_read_in_the_readers() -> None:
    window = subject_of([alert("A", starts_at="2026-11-30T16:50:00")], NOW, ZoneInfo("Asia/Shanghai")).window
    assert window is not None
    assert window.since.astimezone(UTC) == datetime(2026, 11, 30, 8, 20, tzinfo=UTC)


@pytest.mark.parametrize("start", [None, "yesterday", "2027-01-01T00:00:00Z"])
def test_no_start_or_one_to_come_gives_no_window(start: str | None) -> None:
    assert subject(alert("A", starts_at=start)).window is None


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "file:///etc/passwd", "https://localhost/x", "javascript:alert(1)", "see the wiki"]
)
def test_a_runbook_address_that_leads_nowhere_public_is_not_asked(url: str) -> None:
    assert subject(alert("A", runbook_url=url)).links == ()


def test_a_runbook_of_a_named_host_is_asked_once() -> None:
    assert subject(alert("A", runbook_url="https://runbooks.example.com/a")).links == ("https://runbooks.example.com/a",)


def test_where_labels_say_whose_it_is_the_name_says_only_how_it_ails() -> None:
    assert subject(alert("GatewayLatencyHigh", {"service": "payment-service"})).terms == ("latency",)
    assert "gateway" in subject(alert("GatewayLatencyHigh")).terms


def test_no_alert_gives_an_empty_subject() -> None:
    assert subject().names == ()
