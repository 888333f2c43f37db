"""Which alerts hang together, and what an incident is called."""

from dataclasses import replace
from datetime import timedelta

import pytest
from alert_posts import START, fires

from agents.contracts import Alert
from bot.incidents.course import COOLDOWN, Times, joined, opened, reopened, turned
from bot.incidents.grouping import Topology, common_values, kin, related
from bot.incidents.names import Names, names_of, subject_of
from storage.incidents import Incident

TIMES = Times()
PLACE = ("T1", "C1", "1.1")


def incident(*alerts: Alert, at: float = 0) -> Incident:
    when = START + timedelta(seconds=at)
    made = opened("i1", PLACE, alerts[0], 1, when, TIMES)
    for one in alerts[1:]:
        made = joined(made, one, 1, when, TIMES)
    return made


def hang_together(one: Alert, other: Alert) -> bool:
    return related(names_of(one), names_of(other), one.alert_name == other.alert_name)


TOGETHER = {
    "one service": (fires("ErrorRate", service="checkout"), fires("LatencyHigh", service="checkout")),
    "one service under two keys": (fires("ErrorRate", app="checkout"), fires("Backlog", service="checkout-service")),
    "a service and its pod": (fires("A", deployment="orders-api"), fires("B", pod="orders-api-7f9c8d66b-x2x5p")),
    "a service and its job": (fires("A", service="orders"), fires("B", job="shop/orders")),
    "one host with and without a port": (fires("A", instance="db-03.eu.example:9100"), fires("B", host="db-03.eu.example")),
    "a host by its short name": (fires("A", instance="db-03.eu.example:9100"), fires("B", node="db-03")),
    "a node spoken of": (
        fires("KubeNodeNotReady", node="worker-7"),
        fires("PodsPending", namespace="shop", annotations={"summary": "3 pods of worker-7 cannot start"}),
    ),
    "a node that only words name": (
        fires("Host gw-2 is down", sender="generic", raw="Host gw-2 is down"),
        fires("Tunnel lost", sender="generic", raw="tunnel to gw-2 lost"),
    ),
    "values of titles": (
        fires("HighErrorRate", raw="[FIRING:1] HighErrorRate (checkout shop critical)"),
        fires("LatencyHigh", raw="[FIRING:2] LatencyHigh (checkout warning)"),
    ),
    "one namespace and one alert": (fires("QuotaFull", namespace="shop"), fires("QuotaFull", "critical", namespace="shop")),
}
APART = {
    "two services": (fires("ErrorRate", service="checkout"), fires("LatencyHigh", service="search")),
    "two services with one alert": (
        fires("ErrorRate", service="checkout", namespace="shop", cluster="eu1"),
        fires("ErrorRate", service="search", namespace="shop", cluster="eu1"),
    ),
    "two services watched by one exporter": (
        fires("A", deployment="checkout", job="kube-state-metrics", instance="10.0.0.9:8080"),
        fires("B", deployment="search", job="kube-state-metrics", instance="10.0.0.9:8080"),
    ),
    "two hosts of one fleet": (
        fires("HostCpu", instance="web-1:9100", job="node-exporter"),
        fires("HostCpu", instance="web-2:9100", job="node-exporter"),
    ),
    "two namespaces": (fires("QuotaFull", namespace="shop"), fires("QuotaFull", namespace="billing")),
    "one namespace, two alerts": (fires("QuotaFull", namespace="shop"), fires("JobFailed", namespace="shop")),
    "hosts of one short name in two places": (fires("A", host="db-1.eu.example"), fires("B", host="db-1.us.example")),
    "a severity and an environment in titles": (
        fires("HighErrorRate", raw="[FIRING:1] HighErrorRate (checkout prod critical)"),
        fires("LatencyHigh", raw="[FIRING:1] LatencyHigh (search prod critical)"),
    ),
    "one link": (
        fires("A", raw="see http://alertmanager-1.ops.example:9093/#/alerts", sender="generic"),
        fires("B", raw="see http://alertmanager-1.ops.example:9093/#/alerts", sender="generic"),
    ),
    "a machine that neither is about": (
        fires("A", sender="generic", raw="A on web-1 slow"),
        fires("B", sender="generic", raw="B on web-1 slow"),
    ),
    "nothing named": (fires("A"), fires("B")),
}


@pytest.mark.parametrize("pair", TOGETHER.values(), ids=TOGETHER)
def test_these_hang_together(pair: tuple[Alert, Alert]) -> None:
    assert hang_together(*pair)
    assert hang_together(*reversed(pair))


@pytest.mark.parametrize("pair", APART.values(), ids=APART)
def test_these_stay_apart(pair: tuple[Alert, Alert]) -> None:
    assert not hang_together(*pair)
    assert not hang_together(*reversed(pair))


def test_a_known_topology_connects_two_services() -> None:
    known = Topology({"checkout": frozenset({"payments"}), "payments": frozenset({"checkout"})})
    pair = names_of(fires("A", service="checkout")), names_of(fires("B", service="payments"))
    assert related(*pair, False, topology=known)
    assert not related(*pair, False)


@pytest.mark.parametrize(
    ("one", "other", "hang"),
    [
        (fires("A", service="checkout-service"), fires("B", service="payments"), True),
        (fires("A", service="payments"), fires("B", app="Checkout"), True),
        (fires("A", service="checkout"), fires("B", instance="db-1:9100"), True),
        (fires("A", raw="[FIRING:1] A (checkout critical)"), fires("B", service="payments"), True),
        (fires("A", service="payments"), fires("B", instance="db-1:9100"), False),
        (fires("A", service="checkout"), fires("B", service="search"), False),
    ],
)
def test_what_an_operator_writes_down_connects_both_ways(one: Alert, other: Alert, hang: bool) -> None:
    known = Topology.of({"checkout": ["Payments-Service", "db-1:9100"], "": [], "search": []})
    assert related(names_of(one), names_of(other), False, topology=known) == hang


def test_a_cluster_that_stands_in_most_titles_connects_nothing() -> None:
    titles = [f"[FIRING:1] Alert{number} (service-{number} eu-main)" for number in "abcde"]
    some = [incident(fires(f"Alert{title[16]}", raw=title)) for title in titles]
    assert common_values(some) == {"eu-main"}
    new = fires("Other", raw="[FIRING:1] Other (billing eu-main)")
    assert kin(new, START, some, TIMES) == []
    assert kin(new, START, some[:1], TIMES) == some[:1]


def test_what_is_far_in_time_is_no_kin() -> None:
    one, alert = incident(fires(service="checkout")), fires("LatencyHigh", service="checkout")
    assert kin(alert, START + timedelta(seconds=599), [one], TIMES) == [one]
    assert kin(alert, START + timedelta(seconds=601), [one], TIMES) == []
    grown = replace(one, grown_at=START + timedelta(seconds=3_500))
    assert kin(alert, START + timedelta(seconds=3_599), [grown], TIMES) == [grown]
    assert kin(alert, START + timedelta(seconds=3_601), [grown], TIMES) == []


def test_an_alert_of_a_known_name_joins_what_was_just_reported() -> None:
    reported = replace(incident(fires(service="checkout", path="/a")), reported_at=START + timedelta(seconds=4_000))
    late = START + timedelta(seconds=5_000)
    assert kin(fires(service="checkout", path="/b"), late, [reported], TIMES) == [reported]
    assert kin(fires("LatencyHigh", service="checkout"), late, [reported], TIMES) == []


def test_the_title_names_the_machine_that_is_down_first() -> None:
    symptoms = [fires(f"Alert{number}", "critical", service=f"s{number}", node="worker-7") for number in range(3)]
    assert incident(*symptoms).title == "worker-7: Alert0"
    whole = incident(*symptoms, fires("KubeNodeNotReady", node="worker-7"))
    assert (whole.title, whole.severity) == ("worker-7: KubeNodeNotReady", "critical")
    assert whole.lead == fires("KubeNodeNotReady", node="worker-7").fingerprint


@pytest.mark.parametrize(
    ("alert", "title"),
    [
        (fires("HighErrorRate", service="checkout", instance="10.0.0.1:80"), "checkout: HighErrorRate"),
        (fires("DiskFull", instance="db-3:9100"), "db-3: DiskFull"),
        (fires("Host gw-2 is down", sender="generic", raw="x"), "Host gw-2 is down"),
        (fires("主机宕机", host="DB-03"), "DB-03: 主机宕机"),
        (fires("Login page", sender="uptime_kuma", monitor="Login page"), "Login page"),
        (fires("HighErrorRate"), "HighErrorRate"),
        (fires(raw="[FIRING:1] HighErrorRate (checkout shop critical)"), "HighErrorRate (checkout shop)"),
        (fires("Slow", raw="[FIRING:1] Slow (checkout-service critical)"), "Slow (checkout-service)"),
        (fires(None, sender="generic", raw="ALARM\nsomething broke"), "ALARM something broke"),
        (fires("x" * 300, service="s"), "s: " + "x" * 156 + "…"),
    ],
)
def test_titles(alert: Alert, title: str) -> None:
    assert incident(alert).title == title


def test_the_worst_alert_leads_and_brings_the_run_forward() -> None:
    one = incident(fires(service="checkout"))
    assert one.due_at == START + timedelta(seconds=20)
    worse = joined(one, fires("Down", "critical", service="checkout"), 1, START + timedelta(seconds=3), TIMES)
    assert (worse.due_at, worse.title) == (START + timedelta(seconds=8), "checkout: Down")
    milder = joined(worse, fires("Slow", "info", service="checkout"), 1, START + timedelta(seconds=4), TIMES)
    assert (milder.due_at, milder.severity, milder.lead) == (worse.due_at, "critical", worse.lead)


def test_what_was_not_looked_at_is_looked_at_when_it_gets_critical() -> None:
    skipped = replace(incident(fires(service="checkout")), not_run_reason="hour:warning")
    at = START + timedelta(seconds=100)
    assert joined(skipped, fires("B", service="checkout"), 1, at, TIMES).not_run_reason == "hour:warning"
    worse = joined(skipped, fires("Down", "critical", service="checkout"), 1, at, TIMES)
    assert (worse.not_run_reason, worse.due_at) == (None, at + timedelta(seconds=5))


def test_an_unseen_alert_that_makes_a_reported_incident_worse_is_looked_at() -> None:
    at, down = START + timedelta(seconds=100), fires("Down", "critical", service="checkout")
    running = replace(incident(fires(service="checkout")), run_id="r1", placed_at=START)
    assert joined(running, down, 1, at, TIMES).run_id == "r1"
    reported = replace(running, reported_at=START + timedelta(seconds=60))
    assert (joined(reported, down, 1, at, TIMES).run_id, joined(reported, down, 1, at, TIMES).due_at) == (
        None,
        at + timedelta(seconds=5),
    )
    for other in (fires("Slow", "warning", service="checkout"), fires("HighErrorRate", "critical", service="checkout")):
        assert joined(reported, other, 1, at, TIMES).run_id == "r1"


def test_a_new_start_soon_after_the_report_starts_no_run() -> None:
    at = START + timedelta(seconds=1_000)
    reported = replace(incident(fires()), run_id="r1", placed_at=START, reported_at=START + timedelta(seconds=60))
    again = reopened(reported, at, TIMES, unseen=False)
    assert (again.occurrence, again.run_id, again.not_run_reason, again.due_at) == (2, None, COOLDOWN, None)
    unseen = reopened(reported, at, TIMES, unseen=True)
    assert (unseen.not_run_reason, unseen.due_at) == (None, at + timedelta(seconds=20))
    later = reopened(reported, START + timedelta(seconds=1_861), TIMES, unseen=False)
    assert later.not_run_reason is None
    running = reopened(replace(reported, reported_at=None), at, TIMES, unseen=True)
    assert (running.occurrence, running.run_id, running.not_run_reason) == (2, "r1", None)


def test_only_turns_of_the_last_half_hour_count() -> None:
    one = incident(fires())
    for minute in (1, 2, 3, 32):
        one = turned(one, START + timedelta(minutes=minute), TIMES)
    assert one.flaps == 3


def test_names_come_back_as_they_were_stored() -> None:
    names = names_of(fires("KubeNodeNotReady", node="worker-7", namespace="shop", service="a", raw="on db-3"))
    assert Names.read(names.stored()) == names
    assert Names.read({}) == Names()


def test_an_alert_full_of_names_keeps_a_bounded_number_of_them() -> None:
    names = names_of(fires("A", raw=" ".join(f"web-{number}" for number in range(9_000))))
    assert len(names.words) <= 200
    assert len((names | names_of(fires("B", raw="db-77"))).words) <= 200


def test_the_subject_is_written_as_the_alert_writes_it() -> None:
    assert subject_of(fires("NodeDown", instance="DB-3.EU.example:9100")) == "DB-3.EU.example"
    assert subject_of(fires("A")) is None
