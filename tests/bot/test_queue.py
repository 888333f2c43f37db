"""The line: a few at a time, a thread's runs one after another, no run twice, none forgotten."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest
from slack_worker import CHANNEL, QUICK_LINE, Bench, Incident, bench, emulator, part_of

from agents.llm.base import ModelReply, ModelRequest
from bot.emulator.slack import SlackEmulator
from bot.jobs import execute
from bot.queue import QueueTimes
from storage.engine import Database
from storage.jobs import Job
from storage.trace import TraceStore


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


def running(bot: Bench, *jobs: Job) -> list[str]:
    return [job.run_id for job in jobs if bot.run(job.run_id).status == "RUNNING"]


async def test_no_more_runs_than_allowed_work_at_a_time(slack: SlackEmulator, sqlite_database: Database) -> None:
    model = Incident(waits_in="planner")
    async with bench(slack, sqlite_database, model, most_runs=2) as bot:
        jobs = [bot.ask() for _ in range(5)]
        for job in jobs:
            bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: len(running(bot, *jobs)) == 2)
        assert bot.queue.running == 2
        assert running(bot, *jobs) == [job.run_id for job in jobs[:2]]
        model.gate.set()
        await bot.answered(*jobs)
        assert [len(bot.answers(job)) for job in jobs] == [1] * 5


async def test_a_waiting_run_shows_its_place_in_line(slack: SlackEmulator, sqlite_database: Database) -> None:
    model = Incident(waits_in="planner")
    async with bench(slack, sqlite_database, model, most_runs=1) as bot:
        jobs = [bot.ask() for _ in range(3)]
        for job in jobs:
            bot.queue.wake(job.run_id)
        third = jobs[2]
        await slack.wait_for(lambda: slack.status(CHANNEL, third.thread_ts) == "In line: place 2")
        model.gate.set()
        await bot.answered(*jobs)
        assert slack.status(CHANNEL, third.thread_ts) == ""


async def test_without_a_status_the_place_is_a_message_that_becomes_the_answer(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    slack.behaviour.scopes.discard("assistant:write")
    model = Incident(waits_in="planner")
    async with bench(slack, sqlite_database, model, most_runs=1) as bot:
        jobs = [bot.ask() for _ in range(2)]
        for job in jobs:
            bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: "In line: place 1" in slack.thread_text(CHANNEL, jobs[1].thread_ts))
        model.gate.set()
        await bot.answered(*jobs)
        assert [part_of(message)[0] for message in bot.parts(jobs[1])] == ["answer"]


@pytest.mark.parametrize(("without", "marked"), [("assistant:write", True), ("reactions:write", False)])
async def test_where_there_is_no_status_the_question_is_marked_as_seen(
    slack: SlackEmulator, sqlite_database: Database, without: str, marked: bool
) -> None:
    slack.behaviour.scopes.discard(without)
    async with bench(slack, sqlite_database, Incident()) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        [asked] = [message for message in slack.messages(CHANNEL) if message["ts"] == job.ts]
        assert bool(asked.get("reactions")) is marked


async def test_a_threads_runs_go_one_after_another(slack: SlackEmulator, sqlite_database: Database) -> None:
    model = Incident(waits_in="planner")
    async with bench(slack, sqlite_database, model) as bot:
        first = bot.ask()
        second = bot.ask(under=first.thread_ts)
        other = bot.ask()
        for job in (first, second, other):
            bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: len(running(bot, first, second, other)) == 2)
        assert running(bot, first, second, other) == [first.run_id, other.run_id]
        model.gate.set()
        await bot.answered(first, second, other)
        ended = [bot.run(job.run_id).finished_at for job in (first, second)]
        began = bot.run(second.run_id).started_at
        assert ended[0] is not None
        assert began is not None
        assert began >= ended[0]


async def test_what_another_process_took_in_is_found_without_being_woken(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    async with bench(slack, sqlite_database) as bot:
        job = bot.ask()
        await bot.answered(job)
        assert len(bot.answers(job)) == 1


async def test_waking_saves_the_wait_for_the_next_look(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with bench(slack, sqlite_database, line=QueueTimes(poll=3600.0)) as bot:
        await asyncio.sleep(0.1)
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)


async def test_a_run_whose_lease_ran_out_is_taken_up_and_one_whose_lease_holds_is_not(
    slack: SlackEmulator, database: Database
) -> None:
    async with bench(slack, database) as bot:
        dead, alive = bot.ask(), bot.ask()
        store = TraceStore(database)
        assert store.claim(alive.run_id, "another process", 60) is not None
        assert store.claim(dead.run_id, "a dead process", -1) is not None
        await bot.answered(dead)
        assert bot.run(alive.run_id).lease_owner == "another process"
        assert bot.answers(alive) == []


# ---------------------------------------------------------------- two processes


async def test_two_processes_at_one_line_run_nothing_twice(slack: SlackEmulator, database_url: str) -> None:
    models = Incident(seconds=0.005), Incident(seconds=0.005)
    one, two = Database(database_url), Database(database_url)
    try:
        async with (
            bench(slack, one, models[0], most_runs=3) as here,
            bench(slack, two, models[1], most_runs=3) as there,
        ):
            jobs = [here.ask() for _ in range(12)]
            for number, job in enumerate(jobs):
                (here if number % 2 else there).queue.wake(job.run_id)
            await here.answered(*jobs, timeout=60)
            await there.answered(*jobs)
            assert Counter(len(here.answers(job)) for job in jobs) == {1: 12}
            assert {here.run(job.run_id).attempt for job in jobs} == {1}
            assert {len(here.trace.steps(job.run_id)) for job in jobs} == {5}
            assert models[0].asked + models[1].asked == 60
            assert here.worker.open_threads == there.worker.open_threads == 0
    finally:
        one.close()
        two.close()


# ---------------------------------------------------------------- the end


async def test_at_the_end_it_finishes_what_runs_and_takes_no_more(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    model = Incident(waits_in="composer")
    async with bench(slack, sqlite_database, model, most_runs=1) as bot:
        first, second = bot.ask(), bot.ask()
        bot.queue.wake(first.run_id)
        await asyncio.wait_for(model.waiting.wait(), 10)
        stopping = asyncio.create_task(bot.queue.stop(10.0))
        await asyncio.sleep(0)
        model.gate.set()
        await stopping
        assert bot.job(first.run_id).answered_at is not None
        assert len(bot.answers(first)) == 1
        assert bot.run(second.run_id).status == "QUEUED"


async def test_what_is_not_done_in_time_is_handed_over_at_once(slack: SlackEmulator, database: Database) -> None:
    model = Incident(waits_in="composer")
    async with bench(slack, database, model, lease_seconds=3600) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await asyncio.wait_for(model.waiting.wait(), 10)
        await bot.queue.stop(0.05)
        assert bot.run(job.run_id).status == "RUNNING"
    async with bench(slack, database, Incident()) as next_one:
        await next_one.answered(job)
        assert len(next_one.answers(job)) == 1


async def test_an_answer_lost_with_its_process_is_found_and_posted(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    async with bench(slack, sqlite_database, started=False) as dying:
        job = dying.ask()
        await execute(job.run_id, dying.place)
    async with bench(slack, sqlite_database) as bot:
        await bot.answered(job)
        assert len(bot.answers(job)) == 1


async def test_an_answer_whose_process_died_before_its_note_is_not_posted_again(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    async with bench(slack, sqlite_database) as dying:
        job = dying.ask()
        await dying.answered(job)
        (answer,) = dying.answers(job)
    dying.jobs.unposted(CHANNEL, answer["ts"])
    sqlite_database.transact(lambda connection: connection.exec_driver_sql("UPDATE job SET answered_at = NULL"))
    async with bench(slack, sqlite_database) as bot:
        await bot.answered(job)
        assert [message["ts"] for message in bot.answers(job)] == [answer["ts"]]


async def test_a_broken_run_does_not_stop_the_line(
    slack: SlackEmulator, sqlite_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Incident):
        """What no backend may do."""

        async def complete(self, request: ModelRequest) -> ModelReply:
            raise ZeroDivisionError("a backend with a fault")

    async with bench(slack, sqlite_database, Broken(), line=QUICK_LINE) as bot:
        jobs = [bot.ask() for _ in range(3)]
        await bot.answered(*jobs)
        assert {bot.run(job.run_id).status for job in jobs} == {"FAILED"}
        assert all("The program failed" in slack.thread_text(CHANNEL, job.thread_ts) for job in jobs)
