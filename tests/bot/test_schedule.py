"""Jobs by the clock: each slot once over all processes, none lost with its leader."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from apscheduler.triggers.cron import CronTrigger

from bot.errors import ConfigError
from bot.schedule import LEASE, Beat, Planned, Schedule, ScheduleTimes, last_slot, next_slot, trigger_of
from storage.engine import Database
from storage.schedule import ScheduleStore

SLOT = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
EACH_SECOND = CronTrigger(second="*", timezone=UTC)
QUICK = ScheduleTimes(lease=1.0, beat=0.1, grace=5, stop=2.0)


class Time:
    """Stands still; who sleeps moves it. `then` happens at the first sleep."""

    def __init__(self, now: datetime = SLOT) -> None:
        self.now, self.slept = now, 0
        self.then: list[object] = []

    def __call__(self) -> datetime:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept += 1
        self.now += timedelta(seconds=seconds)
        for each in self.then:
            each()  # type: ignore[operator]
        self.then = []


class Done:
    """Counts the slots that it was called for."""

    def __init__(self, error: Exception | None = None) -> None:
        self.slots: list[datetime] = []
        self.error = error

    async def __call__(self, slot: datetime) -> str:
        self.slots.append(slot)
        if self.error:
            raise self.error
        return f"done {len(self.slots)}"


def planned(work: Done, cron: str = "0 9 * * *", name: str = "digest", **more: object) -> Planned:
    return Planned(name, trigger_of(cron, ZoneInfo("UTC")), work, **more)  # type: ignore[arg-type]


def process(database: Database, name: str, time: Time, *plans: Planned) -> Schedule:
    return Schedule(database, name, plans, clock=time, sleep=time.sleep)


# ---------------------------------------------------------------- one slot


async def test_of_two_processes_one_fires_the_slot(database: Database) -> None:
    time, work = Time(), Done()
    plan = planned(work)
    one, other = (process(database, name, time, plan) for name in ("one", "other"))
    await asyncio.gather(one.fire(plan, SLOT), other.fire(plan, SLOT))
    assert work.slots == [SLOT]
    stored = ScheduleStore(database).last()["digest"]
    assert (stored.slot, stored.outcome) == (SLOT, "done 1")


async def test_a_slot_that_was_fired_is_never_fired_again(sqlite_database: Database) -> None:
    time, work = Time(), Done()
    plan = planned(work)
    one, other = (process(sqlite_database, name, time, plan) for name in ("one", "other"))
    await one.fire(plan, SLOT)
    await one.fire(plan, SLOT)
    await other.fire(plan, SLOT)
    assert (work.slots, time.slept) == ([SLOT], 0)
    await one.fire(plan, SLOT + timedelta(days=1))
    assert work.slots == [SLOT, SLOT + timedelta(days=1)]


async def test_a_leader_that_was_paused_still_fires_no_slot_twice(sqlite_database: Database) -> None:
    store, work = ScheduleStore(sqlite_database), Done()
    plan = planned(work)
    one, other = (process(sqlite_database, name, Time(), plan) for name in ("one", "other"))
    assert await one.lead()
    store.hold(LEASE, "one", 0)  # it slept too long
    await other.fire(plan, SLOT)
    store.hold(LEASE, "other", 0)
    await one.fire(plan, SLOT)
    assert work.slots == [SLOT]


async def test_a_slot_whose_leader_died_is_fired_by_the_other(database: Database) -> None:
    store, time, work = ScheduleStore(database), Time(), Done()
    plan = planned(work)
    store.hold(LEASE, "dead", 60)
    time.then = [lambda: store.hold(LEASE, "dead", 0)]  # its lease runs out
    await process(database, "other", time, plan).fire(plan, SLOT)
    assert (work.slots, time.slept) == ([SLOT], 1)
    leader = store.leader(LEASE)
    assert leader is not None
    assert (leader.owner, leader.epoch) == ("other", 2)


async def test_who_does_not_lead_waits_for_the_leader_and_then_rests(sqlite_database: Database) -> None:
    store, time, work = ScheduleStore(sqlite_database), Time(), Done()
    plan = planned(work)
    store.hold(LEASE, "leader", 60)
    time.then = [lambda: store.begin("digest", SLOT, "leader")]
    await process(sqlite_database, "other", time, plan).fire(plan, SLOT)
    assert (work.slots, time.slept) == ([], 1)


async def test_a_slot_that_its_leader_leaves_alone_is_fired_by_another(sqlite_database: Database) -> None:
    """A leader with older settings does not know the job."""
    time, work = Time(), Done()
    plan = planned(work)
    ScheduleStore(sqlite_database).hold(LEASE, "older", 600)
    await process(sqlite_database, "other", time, plan).fire(plan, SLOT)
    assert (work.slots, time.now) == ([SLOT], SLOT + timedelta(seconds=15))


async def test_a_slot_is_given_up_where_the_database_stays_away_and_that_is_said(
    sqlite_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    time, work = Time(), Done()
    plan = planned(work)
    rename(sqlite_database, "schedule_slot", "gone")
    await process(sqlite_database, "one", time, plan).fire(plan, SLOT)
    assert (work.slots, time.now) == ([], SLOT + timedelta(seconds=30))
    assert "digest was not fired at 2026-11-30T09:00:00+00:00" in caplog.text


async def test_what_fails_is_kept_as_the_slots_outcome(sqlite_database: Database) -> None:
    plan = planned(Done(ConfigError("no folder")))
    await process(sqlite_database, "one", Time(), plan).fire(plan, SLOT)
    assert ScheduleStore(sqlite_database).last()["digest"].outcome == "failed: no folder"


async def test_a_database_that_is_away_is_tried_until_the_slot_is_late(
    sqlite_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    time, work = Time(), Done()
    plan = planned(work)
    rename(sqlite_database, "schedule_slot", "gone")
    time.then = [lambda: rename(sqlite_database, "gone", "schedule_slot")]
    await process(sqlite_database, "one", time, plan).fire(plan, SLOT)
    assert (work.slots, time.slept) == ([SLOT], 1)


def rename(db: Database, old: str, new: str) -> None:
    with db.begin() as connection:
        connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")


# ---------------------------------------------------------------- with apscheduler, on the real clock


@asynccontextmanager
async def started(*schedules: Schedule) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for schedule in schedules:
            stack.push_async_callback(schedule.stop)
            await schedule.start()
        yield


class Slots(Done):
    """`reached` is set at the fourth slot."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()

    async def __call__(self, slot: datetime) -> str:
        if len(self.slots) >= 3:
            self.reached.set()
        return await super().__call__(slot)


async def test_two_schedulers_fire_each_second_once(database: Database) -> None:
    work = Slots()
    plan = Planned("tick", EACH_SECOND, work)
    two = [Schedule(database, name, [plan], times=QUICK) for name in ("one", "other")]
    async with started(*two):
        await asyncio.wait_for(work.reached.wait(), 20)
    assert max(Counter(work.slots).values()) == 1
    assert all(slot.microsecond == 0 for slot in work.slots)


async def test_at_the_end_the_lease_is_free_and_nothing_fires_any_more(sqlite_database: Database) -> None:
    work = Slots()
    schedule = Schedule(sqlite_database, "one", [Planned("tick", EACH_SECOND, work)], times=QUICK)
    async with started(schedule):
        await asyncio.wait_for(work.reached.wait(), 20)
    leader = ScheduleStore(sqlite_database).leader(LEASE)
    assert leader is not None
    assert not leader.is_live
    await schedule.stop()


class Slow(Database):
    """Once `may_end` is there, every renewal waits for it."""

    may_end: asyncio.Event | None = None

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.begun, self.ended = asyncio.Event(), 0

    async def call(self, fn: Any, *arguments: Any, **named: Any) -> Any:
        if self.may_end is None or fn.__name__ != "hold":
            return await super().call(fn, *arguments, **named)
        self.begun.set()
        await self.may_end.wait()
        held = await super().call(fn, *arguments, **named)
        self.ended += 1
        return held


async def test_a_renewal_under_way_ends_before_the_lease_is_let_go(sqlite_url: str) -> None:
    db = Slow(sqlite_url)
    schedule = Schedule(db, "one", [], times=QUICK)
    await schedule.start()
    db.may_end = asyncio.Event()
    await asyncio.wait_for(db.begun.wait(), 20)
    stopping = asyncio.create_task(schedule.stop())
    asyncio.get_running_loop().call_later(0.05, db.may_end.set)
    await stopping
    leader = ScheduleStore(db).leader(LEASE)
    db.close()
    assert leader is not None
    assert (db.ended, leader.is_live) == (1, False)


async def test_the_end_waits_for_what_is_at_work(sqlite_database: Database) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def work(slot: datetime) -> str:
        begun.set()
        await may_end.wait()
        return "whole"

    schedule = Schedule(sqlite_database, "one", [Planned("tick", EACH_SECOND, work)], times=QUICK)
    async with started(schedule):
        await asyncio.wait_for(begun.wait(), 20)
        asyncio.get_running_loop().call_later(0.05, may_end.set)
    assert ScheduleStore(sqlite_database).last()["tick"].outcome == "whole"


async def test_only_the_leader_has_a_beat(sqlite_database: Database) -> None:
    beaten: list[str] = []
    heard = asyncio.Event()

    def beating(name: str) -> Beat:
        async def work() -> None:
            beaten.append(name)
            if len(beaten) >= 5:
                heard.set()

        return Beat("recheck", 0.05, work)

    two = [Schedule(sqlite_database, name, [], [beating(name)], times=QUICK) for name in ("one", "other")]
    async with started(*two):
        await asyncio.wait_for(heard.wait(), 20)
    assert set(beaten) == {"one"}


async def test_a_slot_that_was_missed_is_made_up_for_at_the_start(sqlite_database: Database) -> None:
    time, work = Time(SLOT + timedelta(hours=3)), Slots()
    plans = [planned(work, catch_up=timedelta(hours=12)), planned(work, name="patrol")]
    done = asyncio.Event()

    async def told(slot: datetime) -> str:
        done.set()
        return await work(slot)

    plans = [Planned(plan.name, plan.trigger, told, plan.catch_up) for plan in plans]
    async with started(Schedule(sqlite_database, "one", plans, clock=time, times=QUICK)):
        await asyncio.wait_for(done.wait(), 20)
    assert work.slots == [SLOT]
    async with started(Schedule(sqlite_database, "later", plans, clock=time, times=QUICK)):
        pass
    assert work.slots == [SLOT]


# ---------------------------------------------------------------- times


@pytest.mark.parametrize(
    ("cron", "zone", "after", "slot"),
    [
        ("0 9 * * 1", "UTC", "2026-11-29T00:00:00+00:00", "2026-11-30T09:00:00+00:00"),  # Monday
        ("0 9 * * 0", "UTC", "2026-11-29T00:00:00+00:00", "2026-11-29T09:00:00+00:00"),  # Sunday
        ("0 9 * * mon", "Asia/Shanghai", "2026-11-30T00:00:00+00:00", "2026-11-30T01:00:00+00:00"),
        ("0 9 * * *", "UTC", "2026-11-30T09:00:00+00:00", "2026-12-01T09:00:00+00:00"),
        ("0 0 29 2 *", "UTC", "2026-11-30T00:00:00+00:00", "2028-02-29T00:00:00+00:00"),
        # In the hour that summer time leaves out: right after it.
        ("30 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00+00:00", "2026-03-29T01:30:00+00:00"),
        ("30 3 * * *", "Europe/Berlin", "2026-10-25T00:00:00+00:00", "2026-10-25T02:30:00+00:00"),
    ],
)
def test_slots_are_where_the_wall_clock_has_them(cron: str, zone: str, after: str, slot: str) -> None:
    trigger = trigger_of(cron, ZoneInfo(zone))
    assert next_slot(trigger, datetime.fromisoformat(after)) == datetime.fromisoformat(slot)


def test_the_last_slot_is_the_one_that_was_meant() -> None:
    trigger = trigger_of("*/10 * * * *", ZoneInfo("UTC"))
    late = SLOT + timedelta(seconds=29)
    assert last_slot(trigger, late, timedelta(seconds=35)) == SLOT
    assert last_slot(trigger, SLOT, timedelta(seconds=35)) == SLOT
    assert last_slot(trigger, SLOT - timedelta(seconds=1), timedelta(seconds=35)) is None
    assert last_slot(trigger, late, timedelta(hours=1)) == SLOT
