"""The scheduler: fires jobs by the clock, once each, however many processes run it. The only owner of apscheduler.

Every process has all jobs in memory. Who holds the lease fires; the others wait until the slot stands in the database, so
that a leader that dies at the wrong moment, or has other settings, loses none. The slot's key makes it once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from bot.cron import DAYS, read_cron
from bot.errors import ConfigError
from bot.slack.client import SlackAway, SlackRefused
from storage.engine import Database
from storage.errors import StorageError
from storage.schedule import ScheduleStore
from tools.errors import ToolConfigError, ToolFailed

LEASE = "scheduler"
FAILED = "failed: "
FAILURES = (StorageError, ToolFailed, ToolConfigError, ConfigError, SlackAway, SlackRefused, OSError)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Planned:
    """`work` takes the slot and gives in a few words what came of it. A slot that was missed while nothing ran is made up
    for within `catch_up`."""

    name: str
    trigger: CronTrigger
    work: Callable[[datetime], Awaitable[str]]
    catch_up: timedelta = timedelta()


@dataclass(frozen=True)
class Beat:
    """The leader's work each so many seconds. It is safe to do twice: a paused leader may do it still."""

    name: str
    seconds: float
    work: Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class ScheduleTimes:
    """Seconds. `lease`: how long a leader that died is waited for; `beat`: how often it is renewed; `patience`: how long a
    slot is left to a leader that does not fire it; `grace`: how late one may be fired; `stop`: how long work is waited for at the end."""

    lease: float = 5.0
    beat: float = 1.0
    patience: float = 15.0
    grace: float = 30.0
    stop: float = 10.0


class Schedule:
    """`owner` names this process. Start it inside the running loop."""

    def __init__(
        self,
        db: Database,
        owner: str,
        plans: Sequence[Planned],
        beats: Sequence[Beat] = (),
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        times: ScheduleTimes = ScheduleTimes(),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.plans = tuple(plans)
        self._db, self._store, self._owner = db, ScheduleStore(db), owner
        self._beats = tuple(beats)
        self._clock, self._times, self._sleep = clock, times, sleep
        self._scheduler: AsyncIOScheduler | None = None
        self._work: set[asyncio.Task[object]] = set()
        self._leads = self._is_blind = self._is_stopping = False

    async def start(self) -> None:
        """From now on jobs are fired. What was missed is made up for."""
        # A job that is at work when its time comes again is skipped, and that is all right.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)
        defaults = {"coalesce": True, "max_instances": 1, "misfire_grace_time": int(self._times.grace)}
        scheduler = AsyncIOScheduler(timezone=UTC, job_defaults=defaults)
        scheduler.add_job(partial(self._kept, self.lead), IntervalTrigger(seconds=self._times.beat), id="lease")
        for plan in self.plans:
            scheduler.add_job(partial(self._due, plan), plan.trigger, id=plan.name, name=plan.name)
            if plan.catch_up:
                scheduler.add_job(partial(self._made_up, plan), id=f"missed {plan.name}")
        for beat in self._beats:
            scheduler.add_job(partial(self._beaten, beat), IntervalTrigger(seconds=beat.seconds), id=beat.name)
        await self.lead()
        scheduler.start()
        self._scheduler = scheduler

    async def stop(self) -> None:
        """Nothing more is fired; what works gets a moment; another process may lead at once."""
        if self._scheduler is None:
            return
        self._is_stopping = True
        self._scheduler.pause()
        if self._work:
            await asyncio.wait(set(self._work), timeout=self._times.stop)
        # What is cut off now is known to be: no traceback is wanted.
        logging.getLogger("apscheduler").setLevel(logging.CRITICAL)
        self._scheduler.shutdown(wait=False)
        self._scheduler = None
        await asyncio.sleep(0)  # it is shut down by the loop
        with suppress(StorageError):
            await self._db.call(self._store.let_go, LEASE, self._owner)

    # ---------------------------------------------------------------- one slot

    async def fire(self, plan: Planned, slot: datetime) -> None:
        """Do the slot's work, unless another process does or did. A leader that does not (it died, or has other settings)
        is waited for; a database that is away is tried as long as the slot is not too late."""
        begun = self._clock()
        patient, end = (begun + timedelta(seconds=each) for each in (self._times.patience, self._times.grace))
        while (is_ours := await self._taken(plan, slot, anyway=self._clock() >= patient)) is None:
            if self._clock() >= end:
                log.error("%s was not fired at %s: the database was away", plan.name, slot.isoformat())
                return
            await self._sleep(self._times.beat)
        if is_ours:
            outcome = await self._worked(plan, slot)
            await self._db.call(self._store.ended, plan.name, slot, outcome)

    async def lead(self) -> bool:
        """Whether this process leads, as long as it can. A database that is away is told once, and once when it is back."""
        try:
            self._leads = await self._db.call(self._store.hold, LEASE, self._owner, self._times.lease)
        except StorageError as error:
            if not self._is_blind:
                log.error("nothing is fired by the clock until the database is back: %s", error)
            self._leads, self._is_blind = False, True
        else:
            self._is_blind = False
        return self._leads

    async def _taken(self, plan: Planned, slot: datetime, *, anyway: bool) -> bool | None:
        """Whether the slot is ours; None where that is not decided yet. `anyway`: whoever leads."""
        try:
            if await self.lead() or anyway:
                return await self._db.call(self._store.begin, plan.name, slot, self._owner)
            return None if await self._db.call(self._store.slot, plan.name, slot) is None else False
        except StorageError:
            return None

    async def _worked(self, plan: Planned, slot: datetime) -> str:
        try:
            outcome = await plan.work(slot)
        except FAILURES as error:
            log.error("%s failed: %s", plan.name, error)
            return f"{FAILED}{error}"
        log.info("%s: %s", plan.name, outcome)
        return outcome

    # ---------------------------------------------------------------- what apscheduler calls

    async def _due(self, plan: Planned) -> None:
        # It may be called late: the slot is the time that was meant.
        slot = last_slot(plan.trigger, self._clock(), timedelta(seconds=self._times.grace + 5))
        if slot is not None:
            await self._kept(partial(self.fire, plan, slot))

    async def _made_up(self, plan: Planned) -> None:
        slot = last_slot(plan.trigger, self._clock(), plan.catch_up)
        if slot is not None:
            await self._kept(partial(self.fire, plan, slot))

    async def _beaten(self, beat: Beat) -> None:
        if not self._leads:
            return
        try:
            await self._kept(beat.work)
        except FAILURES as error:
            log.warning("%s: %s", beat.name, error)

    async def _kept(self, work: Callable[[], Awaitable[object]]) -> None:
        """So that the end can wait for it; nothing begins after that."""
        if self._is_stopping:
            return
        task = asyncio.ensure_future(work())
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        await task


# ---------------------------------------------------------------- times


def trigger_of(cron: str, zone: ZoneInfo) -> CronTrigger:
    """Raises ValueError for a line that is none."""
    line = read_cron(cron)
    return CronTrigger(
        minute=_list(line.minutes),
        hour=_list(line.hours),
        day=_list(line.days),
        month=_list(line.months),
        # Numbers would count from Monday here.
        day_of_week="*" if line.weekdays is None else ",".join(DAYS[day] for day in line.weekdays),
        timezone=zone,
    )


def next_slot(trigger: CronTrigger, after: datetime) -> datetime | None:
    """The first one after that moment, in UTC."""
    found: datetime | None = trigger.get_next_fire_time(None, after + timedelta(microseconds=1))
    return None if found is None else found.astimezone(UTC)


def last_slot(trigger: CronTrigger, now: datetime, within: timedelta) -> datetime | None:
    """The latest one up to now, in UTC; None where none was within that time."""
    found, slot = next_slot(trigger, now - within), None
    while found is not None and found <= now:
        found, slot = next_slot(trigger, found), found
    return slot


def _list(values: tuple[int, ...] | None) -> str:
    return "*" if values is None else ",".join(map(str, values))
