"""What alert channels keep: incidents, their runs, their telling; how channels are watched; posted changes."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from storage.audience import PUBLIC, Audience
from storage.change_events import ChangeEvent, ChangeEvents
from storage.channels import ChannelStore
from storage.engine import Database
from storage.incidents import Book, Incident, IncidentStore, StoredAlert
from storage.retention import Retention

AT = datetime(2026, 11, 30, 8, 43, tzinfo=UTC)
ONE = Incident(
    incident_id="i1", occurrence=1, team="T1", channel="C1", root_ts="1.1", status="open", title="db-1: Down",
    severity="warning", lead="f1", entities={"hosts": ["db-1"]}, alert_count=1, post_count=1, firing_count=1,
    opened_at=AT, last_seen_at=AT, grown_at=AT, due_at=AT,
)  # fmt: skip
ALERT = StoredAlert("i1", "f1", "firing", {"alert_name": "Down"}, "1.1", "1.1", 1, 1, AT, AT)


@pytest.fixture
def incidents(database: Database) -> IncidentStore:
    return IncidentStore(database)


def save(store: IncidentStore, *made: Incident) -> None:
    def work(book: Book) -> None:
        for one in made:
            book.save(one)
            book.save_alert(replace(ALERT, incident_id=one.incident_id, first_ts=one.root_ts, last_ts=one.root_ts))

    store.decide("T1", "C1", work)


def change(store: IncidentStore, work: Callable[[Incident], Incident]) -> None:
    store.decide("T1", "C1", lambda book: book.save(work(book.incident("i1"))))


def test_an_incident_comes_back_as_it_was_saved(incidents: IncidentStore) -> None:
    save(incidents, ONE)
    assert incidents.get("i1") == ONE
    assert incidents.of_thread("T1", "C1", "1.1") == ONE
    assert incidents.open() == incidents.open("C1") == [ONE]
    assert incidents.alerts_of("i1") == [ALERT]
    assert incidents.get("i2") is incidents.of_run("r") is incidents.of_thread("T1", "C2", "1.1") is None


def test_a_delivery_is_new_once(incidents: IncidentStore) -> None:
    def is_new() -> bool:
        return incidents.decide("T1", "C1", lambda book: book.is_new("alert:1"))

    assert (is_new(), is_new()) == (True, False)


def test_what_is_due_comes_by_severity_and_only_until_it_has_a_run(incidents: IncidentStore) -> None:
    save(incidents, ONE, replace(ONE, incident_id="i2", severity="critical", due_at=AT + timedelta(seconds=5)))
    later = AT + timedelta(seconds=9)
    assert [one.incident_id for one in incidents.due(AT)] == ["i1"]
    assert [one.incident_id for one in incidents.due(later)] == ["i2", "i1"]
    assert incidents.attach_run("i2", 1, "r2")
    assert not incidents.attach_run("i2", 1, "r3")
    assert not incidents.attach_run("i1", 2, "r4")
    assert [one.incident_id for one in incidents.due(later)] == ["i1"]
    assert incidents.skipped("i1", 1, "hour")
    assert incidents.due(later) == []
    assert not incidents.skipped("i2", 1, "hour")


def test_an_ended_run_leaves_its_verdict(incidents: IncidentStore) -> None:
    save(incidents, ONE)
    incidents.attach_run("i1", 1, "r1")
    incidents.ended("r1", "PASS")
    found = incidents.of_run("r1")
    assert found is not None
    assert (found.verdict, found.run_id) == ("PASS", "r1")
    assert found.reported_at is not None
    incidents.ended("r1", None)
    assert incidents.of_run("r1") == found


def test_the_latest_run_is_the_one_whose_verdict_counts(incidents: IncidentStore) -> None:
    save(incidents, ONE)
    incidents.attach_run("i1", 1, "r1")
    change(incidents, lambda one: replace(one, occurrence=2, run_id=None, placed_at=None))
    assert incidents.attach_run("i1", 2, "r2")
    incidents.ended("r1", "REJECT")
    assert verdict(incidents, "r1") is None
    incidents.ended("r2", "PASS")
    assert verdict(incidents, "r1") == "PASS"


def test_a_run_that_ends_after_a_new_start_counts_for_it(incidents: IncidentStore) -> None:
    save(incidents, ONE)
    incidents.attach_run("i1", 1, "r1")
    change(incidents, lambda one: replace(one, occurrence=2, run_id=None, placed_at=None))
    incidents.ended("r1", "PASS")
    assert verdict(incidents, "r1") == "PASS"


def verdict(incidents: IncidentStore, run_id: str) -> str | None:
    found = incidents.of_run(run_id)
    assert found is not None
    return found.verdict


def test_saving_leaves_alone_what_others_wrote_meanwhile(incidents: IncidentStore) -> None:
    save(incidents, ONE)
    incidents.take_telling("i1", "me", 30)
    incidents.told("i1", "me", {"line": "5.5"}, 0)
    change(incidents, lambda one: replace(one, alert_count=2))
    found = incidents.get("i1")
    assert found is not None
    assert (found.told, found.told_dirty, found.alert_count, found.changes) == ({"line": "5.5"}, True, 2, 1)


def test_one_tells_at_a_time_and_a_dead_ones_turn_is_taken_over(incidents: IncidentStore) -> None:
    save(incidents, ONE)
    assert [one.incident_id for one in incidents.dirty(9)] == ["i1"]
    assert incidents.take_telling("i1", "a", -1) == ONE
    assert incidents.take_telling("i1", "b", 30) == ONE
    assert incidents.take_telling("i1", "a", 30) is None
    assert incidents.dirty(9) == []
    assert not incidents.told("i1", "a", {}, 0)
    assert incidents.note_told("i1", "b", {"line": "5.5"})
    assert incidents.told("i1", "b", {"line": "5.6"}, 0)
    assert incidents.dirty(9) == []
    assert incidents.take_telling("i1", "b", 30) is None


def test_what_changes_while_it_is_told_is_told_next(incidents: IncidentStore) -> None:
    save(incidents, ONE)
    taken = incidents.take_telling("i1", "a", 30)
    assert taken is not None
    change(incidents, lambda one: replace(one, severity="critical"))
    incidents.told("i1", "a", {}, taken.changes)
    assert [one.incident_id for one in incidents.dirty(9)] == ["i1"]


def test_a_place_in_the_line_is_news_only_when_it_changes(incidents: IncidentStore) -> None:
    save(incidents, ONE)
    assert [incidents.waits("i1", 1, place) for place in (2, 2, 1)] == [True, False, True]


def test_decisions_about_one_channel_never_overlap(database: Database, incidents: IncidentStore) -> None:
    save(incidents, ONE)

    def one_more(_: int) -> None:
        change(incidents, lambda one: replace(one, alert_count=one.alert_count + 1))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(one_more, range(40)))
    found = incidents.get("i1")
    assert found is not None
    assert (found.alert_count, found.changes) == (41, 40)


def test_alerts_move_to_the_incident_that_theirs_was_part_of(incidents: IncidentStore) -> None:
    save(incidents, ONE, replace(ONE, incident_id="i2", root_ts="2.2"))

    def work(book: Book) -> None:
        book.save_alert(replace(ALERT, incident_id="i2", fingerprint="f2"))
        book.move_alerts("i2", "i1")

    incidents.decide("T1", "C1", work)
    assert [one.fingerprint for one in incidents.alerts_of("i1")] == ["f1", "f2"]


def test_a_channel_takes_one_message_a_while_whoever_asks(database: Database) -> None:
    channels = ChannelStore(database)
    with ThreadPoolExecutor(4) as threads:
        turns = list(threads.map(lambda _: channels.take_turn("T1", "C1", 60), range(8)))
    assert sum(turns) == 1
    assert channels.take_turn("T1", "C2", -1)
    assert channels.take_turn("T1", "C2", 60)


def test_what_people_say_of_a_channel_is_kept(database: Database) -> None:
    channels = ChannelStore(database)
    channels.mute("T1", "C1", AT, "U1")
    channels.shadow("T1", "C1", "C9", "U1")
    found = channels.get("T1", "C1")
    assert (found.watched, found.muted_until, found.shadow_channel) == (None, AT, "C9")
    channels.watch("T1", "C1", True, "U2")
    assert (channels.get("T1", "C1").muted_until, channels.get("T1", "C1").changed_by) == (None, "U2")
    channels.take_turn("T1", "C7", 1)
    assert [one.channel for one in channels.all("T1")] == ["C1"]
    assert channels.get("T1", "C3").changed_at is None


def test_a_posted_change_stands_once_and_as_it_was_edited_last(database: Database) -> None:
    changes = ChangeEvents(database)
    note = ChangeEvent("T1", "C1", "1.1", "deploy orders 5.12", AT, "orders", {"version": "5.12"})
    assert changes.add(note)
    assert not changes.add(replace(note, summary="deploy orders 5.13"))
    hour = timedelta(hours=1)
    assert changes.between(Audience("T1", "C1"), AT - hour, AT) == [replace(note, summary="deploy orders 5.13")]
    assert changes.between(Audience("T1", "C1"), AT + hour, AT + 2 * hour) == []


def test_a_posted_change_is_read_where_its_post_may_be_read(database: Database) -> None:
    changes = ChangeEvents(database)
    public = ChangeEvent("T1", "C1", "1.1", "deploy orders", AT, is_private=False)
    private = ChangeEvent("T1", "C2", "1.2", "deploy billing", AT + timedelta(seconds=1))
    changes.add(public)
    changes.add(private)
    read = {
        one: changes.between(one, AT, AT + timedelta(hours=1))
        for one in (Audience("T1", "C1"), Audience("T1", "C2"), Audience("T2", "C2"), PUBLIC)
    }
    assert list(read.values()) == [[public], [public, private], [], [public]]
    assert [changes.has_any(one, AT) for one in read] == [True, True, False, True]
    assert not changes.has_any(PUBLIC, AT - timedelta(seconds=1))
    assert changes.between(Audience("T1", "C2"), AT, AT + timedelta(hours=1), limit=1) == [private]


def test_old_incidents_go_with_their_alerts_and_runs(database: Database, incidents: IncidentStore) -> None:
    save(incidents, ONE, replace(ONE, incident_id="i2", last_seen_at=AT + timedelta(days=9)))
    incidents.attach_run("i1", 1, "r1")
    ChangeEvents(database).add(ChangeEvent("T1", "C1", "1.1", "deploy", AT))
    purged = Retention(database).purge_before(AT + timedelta(days=1))
    assert (purged.incidents, purged.alerts, purged.changes) == (1, 1, 1)
    assert incidents.get("i1") is None
    assert incidents.get("i2") is not None
