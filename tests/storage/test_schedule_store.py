"""The schedule's rows: one leader on the database's clock, each slot once, re-checks that survive."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from storage.engine import Database
from storage.rechecks import NewRecheck, RecheckStore
from storage.retention import Retention
from storage.schedule import ScheduleStore

SLOT = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
NAME = "scheduler"


def wish(key: str = "run:run-1", minutes: int = 15, user: str | None = None) -> NewRecheck:
    return NewRecheck(key, "T1", "C1", "1.1", "run-1", user, SLOT, SLOT + timedelta(minutes=minutes))


def test_one_leads_until_its_lease_runs_out(database: Database) -> None:
    store = ScheduleStore(database)
    assert store.leader(NAME) is None
    assert store.hold(NAME, "one", 60)
    assert not store.hold(NAME, "other", 60)
    assert store.hold(NAME, "one", 0)
    assert store.hold(NAME, "other", 60)
    assert not store.hold(NAME, "one", 60)
    leader = store.leader(NAME)
    assert leader is not None
    assert (leader.owner, leader.epoch, leader.is_live) == ("other", 2, True)


def test_who_lets_go_makes_room_at_once_and_nobody_else_can(database: Database) -> None:
    store = ScheduleStore(database)
    store.hold(NAME, "one", 60)
    store.let_go(NAME, "other")
    assert not store.hold(NAME, "other", 60)
    store.let_go(NAME, "one")
    assert store.hold(NAME, "other", 60)


def test_of_many_at_once_one_leads_and_one_takes_the_slot(database: Database) -> None:
    store, names = ScheduleStore(database), [f"p{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda name: store.hold(NAME, name, 60), names)) == 1
        assert sum(pool.map(lambda name: store.begin("digest", SLOT, name), names)) == 1


def test_a_slot_keeps_who_fired_it_and_what_came_of_it(database: Database) -> None:
    store = ScheduleStore(database)
    assert store.begin("digest", SLOT, "one")
    assert not store.begin("digest", SLOT, "other")
    assert store.begin("digest", SLOT + timedelta(days=7), "other")
    assert store.begin("retention", SLOT, "other")
    store.ended("digest", SLOT, "posted")
    first, last = store.slot("digest", SLOT), store.last()
    assert first is not None
    assert (first.fired_by, first.slot, first.outcome) == ("one", SLOT, "posted")
    assert first.ended_at is not None
    assert {name: one.slot for name, one in last.items()} == {"digest": SLOT + timedelta(days=7), "retention": SLOT}
    assert (last["digest"].fired_by, last["digest"].outcome) == ("other", None)


def test_a_recheck_is_due_once_and_comes_back_where_its_process_died(database: Database) -> None:
    store = RecheckStore(database)
    assert store.add(wish())
    assert not store.add(wish())
    assert store.take_due(SLOT + timedelta(minutes=14), "one", 60) == []
    [taken] = store.take_due(SLOT + timedelta(minutes=15), "one", 0)
    assert (taken.thread_ts, taken.run_id, taken.tries) == ("1.1", "run-1", 1)
    [again] = store.take_due(SLOT + timedelta(minutes=16), "other", 60)
    assert (again.id, again.tries) == (taken.id, 2)
    assert store.take_due(SLOT + timedelta(minutes=17), "one", 60) == []
    assert store.waiting() == (1, SLOT + timedelta(minutes=15))
    store.done(taken.id, "over")
    assert store.waiting() == (0, None)


def test_two_processes_never_take_the_same_recheck(database: Database) -> None:
    store = RecheckStore(database)
    for number in range(10):
        store.add(wish(f"ask:{number}"))
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda name: store.take_due(SLOT + timedelta(days=1), name, 60), "abcd"))
    assert sorted(one.id for each in taken for one in each) == sorted({one.id for each in taken for one in each})
    assert sum(map(len, taken)) == 10


def test_old_slots_and_rechecks_go_with_the_rest(database: Database) -> None:
    store, rechecks = ScheduleStore(database), RecheckStore(database)
    store.begin("digest", SLOT, "one")
    store.begin("digest", SLOT + timedelta(days=7), "one")
    rechecks.add(wish())
    purged = Retention(database).purge_before(SLOT + timedelta(days=1))
    assert (purged.slots, purged.rechecks) == (1, 1)
    assert store.slot("digest", SLOT) is None


def test_a_persons_rechecks_go_with_the_person(database: Database) -> None:
    store = RecheckStore(database)
    store.add(wish(user="U1"))
    store.add(wish("run:2"))
    assert Retention(database).purge_user("U1").rechecks == 1
    assert store.waiting()[0] == 1
