"""What posts make of incidents, on both databases."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count

import pytest
from alert_posts import START, Channel, ends, fires, parsed

from agents.contracts import Alert
from bot.alert_reading.build import make_alert
from bot.incidents.intake import AlertPost, Intake, Taken, alerts_of
from storage.alert_places import AlertPlaces
from storage.engine import Database
from storage.incidents import Incident, IncidentStore
from storage.jobs import JobStore


@pytest.fixture
def store(database: Database) -> IncidentStore:
    return IncidentStore(database)


@pytest.fixture
def channel(store: IncidentStore) -> Channel:
    numbers = count(1)
    return Channel(Intake(store, new_id=lambda: f"i{next(numbers)}"))


def whats(*taken: tuple[Taken, ...]) -> list[str]:
    return [one.what for post in taken for one in post]


def now(store: IncidentStore, incident_id: str = "i1") -> Incident:
    found = store.get(incident_id)
    assert found is not None
    return found


def test_an_alert_opens_an_incident_in_its_own_thread(store: IncidentStore, channel: Channel) -> None:
    (taken,) = channel.post(fires("Down", "critical", service="checkout"), ts="7.7")
    assert taken.what == "opened"
    assert taken.incident is not None
    assert taken.incident.root_ts == "7.7"
    one = now(store)
    assert (one.title, one.alert_count, one.firing_count, one.post_count) == ("checkout: Down", 1, 1, 1)
    assert one.due_at == START + timedelta(seconds=5)


def test_the_same_delivery_again_changes_nothing(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(), ts="7.7")
    before = now(store)
    assert channel.post(fires(), ts="7.7") == ()
    assert now(store) == before


def test_repeats_join_and_start_nothing(store: IncidentStore, channel: Channel) -> None:
    made = [channel.post(fires(value=str(number)), at=number * 14_400) for number in range(5)]
    assert whats(*made) == ["opened", *["repeated"] * 4]
    assert (len(store.open()), now(store).alert_count, now(store).post_count) == (1, 1, 5)
    assert alerts_of(store, "i1")[0].value == "4"


def test_forty_alerts_of_a_node_that_is_down_are_one_incident_that_names_it_first(
    store: IncidentStore, channel: Channel
) -> None:
    severities = ("critical", "warning", "info", None)
    symptoms = [
        fires(f"Symptom{number}", severities[number % 4], service=f"service-{number}", instance="worker-7:9100")
        for number in range(13)
    ]
    symptoms += [fires(f"Pod{number}", pod=f"service-{number}-7f9c8d66b-x2x5p", namespace="shop") for number in range(13)]
    symptoms += [fires(f"Said{number}", annotations={"summary": f"task {number} on worker-7 lost"}) for number in range(13)]
    node = fires("KubeNodeNotReady", "critical", node="worker-7", job="kube-state-metrics")
    random.Random(4).shuffle(symptoms)
    posts = [channel.post(alert, at=number) for number, alert in enumerate([*symptoms[:20], node, *symptoms[20:]])]
    assert len(posts) == 40
    (one,) = [each for each in store.open() if each.alert_count > 13]
    assert one.title == "worker-7: KubeNodeNotReady"
    assert alerts_of(store, one.incident_id)[0].alert_name == "KubeNodeNotReady"
    assert [each.incident_id for each in store.open()] == [one.incident_id]
    assert (one.alert_count, one.firing_count, len(alerts_of(store, one.incident_id))) == (40, 40, 40)


def test_two_unrelated_services_at_one_moment_stay_apart(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(service="checkout", namespace="shop"))
    channel.post(fires(service="search", namespace="shop"))
    assert [one.title for one in store.open()] == ["checkout: HighErrorRate", "search: HighErrorRate"]


def test_alerts_of_one_service_join(store: IncidentStore, channel: Channel) -> None:
    made = channel.post(fires(service="checkout")), channel.post(fires("LatencyHigh", service="checkout"), at=60)
    assert whats(*made) == ["opened", "joined"]
    assert now(store).alert_count == 2


def test_the_alerts_of_one_post_are_one_incident(store: IncidentStore, channel: Channel) -> None:
    taken = channel.post(fires(service="checkout"), fires("critical", "critical", service="search"))
    assert whats(taken) == ["opened", "opened"]
    assert (len(store.open()), now(store).alert_count, now(store).post_count) == (1, 2, 1)


def test_an_alert_that_belongs_to_two_incidents_makes_them_one(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires("A", service="checkout"), ts="1.1")
    channel.post(fires("B", host="web-1"), at=5)
    channel.post(fires("C", service="checkout", host="web-1"), at=6)
    part = now(store, "i2")
    assert (part.status, part.merged_into, part.told_dirty) == ("resolved", "i1", True)
    assert (now(store).alert_count, now(store).firing_count, now(store).post_count) == (3, 3, 3)
    assert whats(channel.post(ends("B", host="web-1"), at=60)) == ["resolved"]
    assert (now(store).firing_count, now(store, "i2").status) == (2, "resolved")


def test_incidents_that_have_runs_stay_what_they_are(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires("A", service="checkout"))
    channel.post(fires("B", host="web-1"), at=5)
    store.attach_run("i1", 1, "r1")
    store.attach_run("i2", 1, "r2")
    channel.post(fires("C", service="checkout", host="web-1"), at=6)
    assert [one.alert_count for one in store.open()] == [2, 1]


def test_resolved_closes_its_own_alert_and_the_last_one_the_incident(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires("A", service="checkout"))
    channel.post(fires("B", service="checkout"))
    assert whats(channel.post(ends("A", service="search"), at=50)) == ["ignored"]
    assert whats(channel.post(ends("A", service="checkout"), at=60)) == ["resolved"]
    one = now(store)
    assert (one.status, one.firing_count, one.alert_count) == ("open", 1, 2)
    channel.post(ends("B", service="checkout"), at=90)
    one = now(store)
    assert (one.status, one.firing_count, one.resolved_at) == ("resolved", 0, START + timedelta(seconds=90))
    assert store.due(START + timedelta(days=1)) == []


def test_a_notice_of_an_end_that_nobody_knows_opens_nothing(store: IncidentStore, channel: Channel) -> None:
    (taken,) = channel.post(ends())
    assert (taken.what, taken.incident) == ("ignored", None)
    assert whats(channel.post(fires(status="acknowledged"))) == ["ignored"]
    assert store.open() == []


def test_a_mixed_post_opens_and_closes(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires("A", service="a"))
    taken = channel.post(fires("B", service="a"), ends("A", service="a"), at=30)
    assert Counter(whats(taken)) == Counter(["joined", "resolved"])
    assert (now(store).firing_count, now(store).alert_count) == (1, 2)


def test_an_edit_closes_what_its_post_opened(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(severity="warning"), ts="7.7")
    edited = make_ended_otherwise()
    assert whats(channel.post(edited, at=74, edits="7.7")) == ["resolved"]
    assert (now(store).status, now(store).post_count) == ("resolved", 1)


def make_ended_otherwise() -> Alert:
    """The same name with a label more: another fingerprint."""
    return ends(duration_text="74 s")


def test_a_reply_in_the_posts_thread_closes_it(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(), ts="7.7")
    assert whats(channel.post(ends(note="more labels"), at=74, thread="7.7")) == ["resolved"]
    assert now(store).status == "resolved"


def test_an_alert_in_an_incidents_thread_joins_it(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(service="a"), ts="7.7")
    assert whats(channel.post(fires("B", service="b"), at=74, thread="7.7")) == ["joined"]
    assert whats(channel.post(fires("C", service="c"), at=80, thread="5.5")) == ["opened"]
    assert now(store, "i2").root_ts == "5.5"


def test_an_edit_that_makes_it_worse_is_the_same_alert(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(severity="warning", level="warning"), ts="7.7")
    for number in range(10):
        channel.post(fires(severity="critical", level="critical"), at=10 + number, edits="7.7")
    one = now(store)
    assert (one.alert_count, one.firing_count, one.post_count, one.severity) == (1, 1, 1, "critical")
    assert one.due_at == START + timedelta(seconds=15)
    assert alerts_of(store, "i1")[0].labels["level"] == "critical"
    assert whats(channel.post(ends(level="critical"), at=60)) == ["resolved"]


def test_a_group_without_a_list_counts_all_of_it(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires("KubePodCrashLooping"), count=7)
    assert (now(store).alert_count, now(store).firing_count) == (7, 7)
    channel.post(fires("KubePodCrashLooping"), count=3, at=60)
    assert (now(store).alert_count, now(store).firing_count) == (7, 3)
    channel.post(fires("Other", service="x"), fires("KubePodCrashLooping"), count=9, at=61)
    channel.post(ends("KubePodCrashLooping"), at=90, count=8)
    assert now(store).status == "resolved"


def test_a_new_start_is_a_new_occurrence_in_the_same_thread(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(), ts="7.7")
    channel.post(ends(), at=60)
    assert whats(channel.post(fires(), at=300)) == ["reopened"]
    one = now(store)
    assert (one.occurrence, one.status, one.root_ts, one.flaps) == (2, "open", "7.7", 1)
    assert (one.firing_count, one.alert_count, one.opened_at) == (1, 1, START + timedelta(seconds=300))
    assert [each.incident_id for each in store.due(START + timedelta(seconds=320))] == ["i1"]


def test_a_start_long_after_the_end_is_an_incident_that_counts_on(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires())
    channel.post(ends(), at=60)
    assert whats(channel.post(fires(), at=60 + 1_801)) == ["opened"]
    assert (now(store, "i2").occurrence, now(store, "i2").previous_id) == (2, "i1")


def test_flapping_is_named(store: IncidentStore, channel: Channel) -> None:
    made = [channel.post(alert, at=60 * number) for number, alert in enumerate([fires(), ends()] * 4)]
    assert whats(*made)[::2] == ["opened", "reopened", "reopened", "flapping"]
    assert now(store).flaps == 3


def test_one_alert_of_many_that_flaps_is_named(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires("Steady", service="a"))
    made = [channel.post(each, at=60 * n) for n, each in enumerate([fires(service="a"), ends(service="a")] * 4)]
    assert whats(*made)[::2] == ["joined", "joined", "joined", "flapping"]
    assert (now(store).occurrence, now(store).firing_count, now(store).alert_count) == (1, 1, 2)


def test_soon_after_a_report_only_an_unseen_alert_starts_a_run(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires("A", service="a"))
    store.attach_run("i1", 1, "r1")
    store.ended("r1", "PASS")
    channel.post(ends("A", service="a"), at=60)
    channel.post(fires("A", service="a", path="/new"), at=120)
    assert (now(store).occurrence, now(store).not_run_reason) == (2, "cooldown")
    channel.post(ends("A", service="a", path="/new"), at=180)
    assert whats(channel.post(fires("Unseen", "critical", service="a"), at=240)) == ["opened"]
    assert [one.incident_id for one in store.due(START + timedelta(seconds=245))] == ["i2"]


def test_what_is_acknowledged_still_counts_as_firing(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(sender="pagerduty"))
    assert whats(channel.post(fires(sender="pagerduty", status="acknowledged"), at=9)) == ["acknowledged"]
    assert (now(store).firing_count, alerts_of(store, "i1")[0].status) == (1, "acknowledged")
    channel.post(ends(sender="pagerduty"), at=60)
    assert now(store).status == "resolved"


def test_posts_that_come_out_of_order_do_not_turn_time_back(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires())
    channel.post(ends(), at=60)
    assert whats(channel.post(fires(), at=30)) == ["ignored"]
    channel.post(fires(), at=90)
    assert whats(channel.post(ends(), at=80)) == ["ignored"]
    assert now(store).status == "open"


def test_an_incident_that_nobody_spoke_of_for_a_day_takes_no_more_alerts(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires())
    assert whats(channel.post(fires(), at=86_401)) == ["opened"]
    assert now(store, "i2").occurrence == 2


def test_channels_and_workspaces_stay_apart(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(), ts="7.7")
    for team, name in (("T1", "C2"), ("T2", "C1")):
        assert whats(Channel(channel.intake, team, name).post(fires(), ts="7.7")) == ["opened"]
    assert len(store.open()) == 3


def test_a_hundred_and_fifty_alerts_in_one_post_are_one_incident(store: IncidentStore, channel: Channel) -> None:
    channel.post(*(fires("PodDown", pod=f"web-{n}", shard=n) for n in range(150)))
    assert (now(store).alert_count, now(store).post_count) == (150, 1)
    channel.post(*(ends("PodDown", pod=f"web-{n}", shard=n) for n in range(150)), at=60)
    assert now(store).status == "resolved"


def test_a_stored_alert_of_another_version_is_still_read(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(service="a"))
    stored = store.alerts_of("i1")[0]
    document = dict(stored.document) | {"new_field": 1}
    store.decide("T1", "C1", lambda book: book.save_alert(type(stored)(**{**vars(stored), "document": document})))
    (alert,) = alerts_of(store, "i1")
    assert (alert.alert_name, alert.status, alert.fingerprint) == ("HighErrorRate", "firing", stored.fingerprint)


def test_two_processes_make_one_incident_of_one_storm(database_url: str) -> None:
    """Each delivery reaches both, in different orders."""
    databases = [Database(database_url, pool_size=4) for _ in range(2)]
    intakes = [Intake(IncidentStore(each)) for each in databases]
    posts = [
        (AlertPost("T1", "C1", f"{n}.000001", None, None, START + timedelta(seconds=n / 10)), parsed(alert))
        for n, alert in enumerate(
            fires(f"Alert{n % 5}", service=f"service-{n % 8}") for n in range(160)
        )
    ]
    orders = [random.Random(seed).sample(posts, len(posts)) for seed in range(2)]
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda job: intakes[job[0]].take(*job[1]), [(i, p) for i in (0, 1) for p in orders[i]]))
    store = IncidentStore(databases[0])
    assert sum(1 for each in taken if each) == 160
    assert len(store.open()) == 8
    assert sum(one.post_count for one in store.open()) == 160
    assert sum(one.alert_count for one in store.open()) == 40
    for each in databases:
        each.close()


def test_an_end_that_is_heard_of_before_its_start_leaves_nothing_open(store: IncidentStore, channel: Channel) -> None:
    """Slack delivers what it could not deliver a minute later."""
    assert whats(channel.post(ends(), at=10)) == ["ignored"]
    assert whats(channel.post(fires(), at=0)) == ["ignored"]
    assert store.open() == []
    assert whats(channel.post(fires(), at=20)) == ["opened"]


def test_a_post_that_is_heard_of_after_its_deletion_starts_nothing(store: IncidentStore, channel: Channel, database: Database) -> None:
    JobStore(database).note_event("gone:T1:C1:7.7")
    assert channel.post(fires(), ts="7.7") == ()
    assert store.open() == []


def test_an_alert_whose_post_was_deleted_is_looked_at_when_it_is_posted_anew(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(), ts="7.7")
    [gone] = channel.intake.forget("T1", "C1", "7.7", START)
    assert now(store).not_run_reason == "deleted"
    (again,) = channel.post(fires(), ts="8.8", at=60)
    assert again.incident is not None
    assert (again.what, again.incident.root_ts, gone.incident_id) == ("opened", "8.8", "i1")
    assert [one.incident_id for one in store.due(START + timedelta(days=1))] == [again.incident.incident_id]


def test_what_other_posts_say_goes_on_under_one_of_them(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires("A", service="checkout"), fires("B", service="checkout"), ts="7.7")
    channel.post(fires("C", "critical", service="checkout"), ts="8.8", at=5)
    channel.post(fires("B", service="checkout"), ts="9.9", at=6)
    channel.intake.forget("T1", "C1", "7.7", START + timedelta(seconds=7))
    [one] = store.open()
    assert (one.root_ts, one.title, one.alert_count, one.firing_count) == ("8.8", "checkout: C", 2, 2)
    assert {alert.alert_name for alert in alerts_of(store, one.incident_id)} == {"B", "C"}
    channel.post(ends("B", service="checkout"), ends("C", "critical", service="checkout"), at=90)
    assert store.open() == []


def test_a_place_for_a_run_that_nobody_made_does_not_keep_the_next_start_waiting(
    store: IncidentStore, channel: Channel, database: Database
) -> None:
    channel.post(fires())
    store.attach_run("i1", 1, "r1")
    channel.post(ends(), at=10)
    channel.post(fires(), at=20)
    with database.begin() as connection:
        connection.exec_driver_sql("UPDATE incident SET placed_at = '2020-01-01 00:00:00.000000'")
    assert [one.incident_id for one in store.due(START + timedelta(days=1))] == ["i1"]


@pytest.mark.parametrize("reason", ["muted", "unwatched", "no_trial_channel"])
def test_what_still_fires_when_the_quiet_time_is_over_is_looked_at(store: IncidentStore, channel: Channel, reason: str) -> None:
    channel.post(fires())
    store.skipped("i1", 1, reason)
    assert store.due(START + timedelta(days=1)) == []
    channel.post(fires(), at=14_400)
    assert [one.due_at for one in store.due(START + timedelta(days=1))] == [START + timedelta(seconds=14_420)]


def test_a_place_that_is_given_back_counts_for_no_hour(store: IncidentStore, channel: Channel, database: Database) -> None:
    channel.post(fires())
    store.attach_run("i1", 1, "r1")
    store.give_back("r1", "failed")
    assert (now(store).run_id, now(store).not_run_reason) == (None, "failed")
    assert AlertPlaces(database).load("T1", START.date()).hour == 0


def test_a_sender_that_changes_its_template_is_still_understood(store: IncidentStore, channel: Channel) -> None:
    title = "[FIRING:1] HighErrorRate (checkout critical)"
    channel.post(fires("HighErrorRate", "critical", raw=title))
    assert whats(channel.post(fires("HighErrorRate", "critical", service="checkout"), at=60)) == ["repeated"]
    fuller = {"service": "checkout", "severity": "critical", "team": "shop"}
    assert whats(channel.post(ends("HighErrorRate", None, **{"service": "billing"}), at=70)) == ["ignored"]
    assert whats(channel.post(make_alert("alertmanager", "HighErrorRate", "resolved", labels=fuller), at=7_200)) == ["resolved"]
    assert (store.open(), now(store).alert_count) == ([], 1)


def test_two_alerts_that_differ_in_a_label_stay_two_in_any_template(store: IncidentStore, channel: Channel) -> None:
    channel.post(fires(service="checkout", pod="a"))
    channel.post(fires(service="checkout", pod="b"))
    assert now(store).alert_count == 2
    assert whats(channel.post(ends(service="checkout"), at=60)) == ["ignored"]
    assert now(store).firing_count == 2


def test_a_clock_that_is_behind_keeps_no_alert_waiting(store: IncidentStore) -> None:
    behind = START - timedelta(hours=1)
    Channel(Intake(store, new_id=lambda: "i1", clock=lambda: behind)).post(fires())
    assert [one.incident_id for one in store.due(behind + timedelta(seconds=20))] == ["i1"]


def titled(values: str, status: str = "firing", count: int = 1) -> Alert:
    """As Alertmanager's own template tells it: values without keys."""
    head = f"FIRING:{count}" if status == "firing" else "RESOLVED"
    return fires("DiskFull", "critical", status=status, group="DiskFull", raw=f"[{head}] DiskFull ({values} critical)")


def test_two_alerts_of_a_titles_group_are_told_apart_by_its_values(store: IncidentStore, channel: Channel) -> None:
    posts = [channel.post(titled(values), at=at) for at, values in enumerate(["db-1 node", "db-2 node"])]
    assert whats(*posts) == ["opened", "opened"]
    assert whats(channel.post(titled("db-1 node", "resolved"), at=60)) == ["resolved"]
    assert [one.title for one in store.open()] == ["DiskFull (db-2)"]


def test_a_title_that_says_less_is_of_a_group_that_has_grown(store: IncidentStore, channel: Channel) -> None:
    told = [("db-1 node", 1), ("node", 2), ("db-2 node", 1)]
    posts = [channel.post(titled(values, count=number), at=at, count=number) for at, (values, number) in enumerate(told)]
    assert whats(*posts) == ["opened", "repeated", "repeated"]
    assert now(store).alert_count == 2
    channel.post(titled("db-2 node", "resolved"), at=60)
    assert store.open() == []
