"""A process that is stopped in the middle of a write leaves its work so that the next one need not wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from slack_worker import QUICK, QUICK_LINE, bench, emulator

from bot.emulator.slack import SlackEmulator
from bot.jobs import execute
from bot.queue import Queue
from bot.worker import Worker
from storage.engine import Database
from storage.jobs import Job

T = TypeVar("T")


class Held(Database):
    """Once told to, its next write waits for the gate; further ones pass it by."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.holds_next = False
        self.waiting, self.gate = threading.Event(), threading.Event()

    def transact(self, work: Callable[[Any], T], **more: Any) -> T:
        if self.holds_next:
            self.holds_next = False
            self.waiting.set()
            assert self.gate.wait(20)
        return super().transact(work, **more)


@pytest.fixture
def db(sqlite_url: str) -> Iterator[Held]:
    made = Held(sqlite_url)
    yield made
    made.gate.set()
    made.close()


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


async def stopped_in_its_next_write(work: asyncio.Task[Any], db: Held) -> None:
    """Cancelled twice, as the line does at its end, before the write is through."""
    assert await asyncio.to_thread(db.waiting.wait, 20)
    for _ in range(2):
        work.cancel()
        for _ in range(20):
            await asyncio.sleep(0)
    db.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await work


async def test_an_answer_is_not_held_by_who_was_stopped_while_it_took_it(slack: SlackEmulator, db: Held) -> None:
    async with bench(slack, db, started=False, times=replace(QUICK, delivery=3600, last_hold=0.0)) as bot:
        job = bot.ask()
        await execute(job.run_id, bot.place)
        db.holds_next = True
        await stopped_in_its_next_write(asyncio.create_task(bot.worker.deliver(job, look=False)), db)
        await slack.wait_for(lambda: [one.run_id for one in bot.jobs.undelivered(9, quiet_seconds=0)] == [job.run_id])


async def test_a_run_is_handed_over_by_who_was_stopped_while_it_claimed_it(slack: SlackEmulator, db: Held) -> None:
    async with bench(slack, db, started=False, lease_seconds=3600) as bot:
        job = bot.ask()
        db.holds_next = True
        await stopped_in_its_next_write(asyncio.create_task(bot.worker.run(job)), db)
        assert bot.run(job.run_id).attempt == 1
        await slack.wait_for(lambda: [one.run_id for one in bot.jobs.next_ready(9)] == [job.run_id])


class Stubborn(Worker):
    """Its run takes the first cancellation for something else, and ends well."""

    async def run(self, job: Job) -> bool:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return True
        return False

    async def deliver(self, job: Job, *, look: bool) -> None:
        await asyncio.Event().wait()


async def test_no_delivery_outlives_the_line(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with bench(slack, sqlite_database, started=False) as bot:
        bot.ask()
        worker = Stubborn(bot.place, bot.calls, bot.jobs, bot.worker.budget, bot.worker.words)
        line = Queue(worker, bot.jobs, times=QUICK_LINE)
        working = asyncio.create_task(line.run())
        await slack.wait_for(lambda: line.running == 1)
        await line.stop(0.0)
        assert line.idle
        await working
