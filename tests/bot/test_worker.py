"""One job from the line to its answer in the thread, and what happens when something is in the way."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from slack_worker import ANA, CHANNEL, QUICK, Incident, bench, emulator, part_of

from agents.state import RunState
from bot.answers.stored_outcome import stored_outcome
from bot.budget import Budget, Ceilings
from bot.emulator.slack import SlackEmulator
from bot.jobs import execute
from storage.budget import BudgetStore, Ceiling, person, workspace
from storage.database import Timeouts
from storage.engine import Database
from storage.jobs import Job
from storage.records import Run


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


async def test_a_question_is_answered_in_its_thread(slack: SlackEmulator, database: Database) -> None:
    async with bench(slack, database) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        (answer,) = bot.answers(job)
        assert "HikariPool-1" in slack.thread_text(CHANNEL, job.thread_ts)
        assert len(answer["text"]) <= 150
        assert bot.run(job.run_id).status == "SUCCESS"
        assert bot.jobs.run_of_message(CHANNEL, answer["ts"]) == job.run_id
        assert [call.error for call in slack.refused] == []


async def test_the_worker_is_told_what_the_run_needs_of_its_thread(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    def complete(job: Job) -> Any:
        async def told(state: RunState) -> RunState:
            return replace(state, question=f"{state.question} ({job.channel})")

        return told

    async with bench(slack, sqlite_database, complete=complete) as bot:
        job = bot.ask("Why?")
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        assert stored_outcome(bot.trace, job.run_id).question == f"Why? ({CHANNEL})"


async def test_a_stored_outcome_is_what_the_run_gave(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with bench(slack, sqlite_database, started=False) as bot:
        job = bot.ask()
        outcome = await execute(job.run_id, bot.place)
        assert stored_outcome(bot.trace, job.run_id) == outcome


# ---------------------------------------------------------------- stop


async def test_stop_ends_a_run_soon_and_leaves_what_is_proven(slack: SlackEmulator, database: Database) -> None:
    model = Incident(waits_in="composer")
    async with bench(slack, database, model) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await asyncio.wait_for(model.waiting.wait(), 10)
        await bot.queue.cancel(job.run_id)
        await bot.answered(job)
        assert bot.run(job.run_id).status == "CANCELLED"
        (answer,) = bot.answers(job)
        assert "Stopped. This is what was proven until then." in str(answer["blocks"])
        assert "maximum-pool-size changed from 30 to 5" in str(answer["blocks"])


async def test_a_run_stopped_while_it_waits_is_told_so_at_once(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with bench(slack, sqlite_database, started=False) as bot:
        job = bot.ask()
        await bot.queue.cancel(job.run_id)
        await bot.answered(job)
        assert "Stopped before it started" in slack.thread_text(CHANNEL, job.thread_ts)
        assert bot.answers(job) == []


async def test_a_waiting_run_that_another_process_stops_is_told_so_by_the_one_that_took_it_in(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    model = Incident(waits_in="planner")
    async with bench(slack, sqlite_database, model, most_runs=1) as bot:
        first, second = bot.ask(), bot.ask()
        for job in (first, second):
            bot.queue.wake(job.run_id)
        await asyncio.wait_for(model.waiting.wait(), 10)
        bot.trace.request_cancel(second.run_id)
        await slack.wait_for(lambda: "Stopped before it started" in slack.thread_text(CHANNEL, second.thread_ts))
        model.gate.set()
        await bot.answered(first, second)


# ---------------------------------------------------------------- budgets


@pytest.mark.parametrize(
    ("ceilings", "says"),
    [
        (Ceilings(workspace=Ceiling(tokens=500)), "this workspace has used its budget for today (600 tokens of 500 tokens)"),
        (Ceilings(person=Ceiling(tokens=500)), "you have used your budget for today (600 tokens of 500 tokens)"),
        (Ceilings(workspace=Ceiling(cost=0.04)), "(0.0500 in money of 0.0400 in money)"),
    ],
)
async def test_over_the_days_budget_a_run_does_not_start_and_says_why(
    slack: SlackEmulator, sqlite_database: Database, ceilings: Ceilings, says: str
) -> None:
    model = Incident()
    async with bench(slack, sqlite_database, model, ceilings=ceilings) as bot:
        first = bot.ask()
        bot.queue.wake(first.run_id)
        await bot.answered(first)
        asked = model.asked
        second = bot.ask()
        bot.queue.wake(second.run_id)
        await bot.answered(second)
        assert says in slack.thread_text(CHANNEL, second.thread_ts)
        assert model.asked == asked
        assert bot.run(second.run_id).status == "CANCELLED"


async def test_what_runs_counts_towards_the_days_budget(slack: SlackEmulator, sqlite_database: Database) -> None:
    model = Incident(waits_in="composer")
    async with bench(slack, sqlite_database, model, ceilings=Ceilings(workspace=Ceiling(tokens=300))) as bot:
        first = bot.ask()
        bot.queue.wake(first.run_id)
        await asyncio.wait_for(model.waiting.wait(), 10)
        second = bot.ask()
        bot.queue.wake(second.run_id)
        await slack.wait_for(lambda: bot.run(second.run_id).status == "CANCELLED")
        model.gate.set()
        await bot.answered(first, second)
        assert "has used its budget for today" in slack.thread_text(CHANNEL, second.thread_ts)
        assert len(bot.answers(first)) == 1


async def test_one_persons_budget_is_not_anothers(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with bench(slack, sqlite_database, ceilings=Ceilings(person=Ceiling(tokens=500))) as bot:
        first, second = bot.ask(), bot.ask(user="U0BEN00001")
        for job in (first, second):
            bot.queue.wake(job.run_id)
        await bot.answered(first, second)
        assert len(bot.answers(second)) == 1


async def test_a_run_is_charged_once_to_the_workspace_and_to_the_asker(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    async with bench(slack, sqlite_database) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        run = bot.run(job.run_id)
        today = bot.place.clock().date()
        for scope in (workspace(job.team), person(job.team, ANA)):
            spent = BudgetStore(sqlite_database).spent(today, scope)
            assert (spent.tokens, spent.cost, spent.runs) == (run.total_token_count, pytest.approx(run.cost), 1)


# ---------------------------------------------------------------- what is in the way


async def test_an_answer_waits_until_slack_is_back(slack: SlackEmulator, sqlite_database: Database) -> None:
    model = Incident(waits_in="composer")
    async with bench(slack, sqlite_database, model, access={"failure_tries": 0}) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await asyncio.wait_for(model.waiting.wait(), 10)
        slack.away(3600)
        model.gate.set()
        await slack.wait_for(lambda: bot.run(job.run_id).status != "RUNNING")
        await asyncio.sleep(0.3)
        assert bot.job(job.run_id).answered_at is None
        slack.clear_faults()
        await bot.answered(job)
        assert len(bot.answers(job)) == 1


async def test_a_spell_of_rate_limits_loses_nothing(slack: SlackEmulator, sqlite_database: Database) -> None:
    slack.fail("*", retry_after=0.0, times=6)
    async with bench(slack, sqlite_database) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        assert [part_of(message)[0] for message in bot.parts(job)] == ["answer"]


@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update", "chat.stopStream", "conversations.replies"])
async def test_failing_calls_delay_the_answer_and_do_not_double_it(
    slack: SlackEmulator, sqlite_database: Database, method: str
) -> None:
    slack.fail(method, status=503, times=5)
    slack.fail("chat.startStream", error="channel_type_not_supported")
    async with bench(slack, sqlite_database, access={"failure_tries": 0}) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        assert len(bot.answers(job)) == 1


async def test_where_the_thread_takes_nothing_the_asker_gets_a_direct_message(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    model = Incident(waits_in="composer")
    async with bench(slack, sqlite_database, model) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await asyncio.wait_for(model.waiting.wait(), 10)
        slack.archive(CHANNEL)
        model.gate.set()
        await bot.answered(job)
        (message,) = slack.messages(slack.open_dm("ana"))
        assert "is_archived" in message["text"].replace("\\", "")
        assert "HikariPool" in message["text"]
        assert bot.jobs.run_of_message(slack.open_dm("ana"), message["ts"]) == job.run_id


@pytest.mark.parametrize("fault", [{"drop_reply": True}, {"status": 503}])
async def test_a_direct_message_whose_reply_was_lost_is_not_sent_again(
    slack: SlackEmulator, sqlite_database: Database, fault: dict[str, Any]
) -> None:
    model = Incident(waits_in="composer")
    async with bench(slack, sqlite_database, model, access={"failure_tries": 0}) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await asyncio.wait_for(model.waiting.wait(), 10)
        # The first is the one that the thread refuses.
        await slack.wait_for(lambda: bool(bot.parts(job)))
        slack.archive(CHANNEL)
        slack.fail("chat.postMessage", after=1, **fault)
        model.gate.set()
        await bot.answered(job)
        assert len(slack.messages(slack.open_dm("ana"))) == 1


async def test_a_token_that_was_revoked_does_not_lose_the_answer(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    model = Incident(waits_in="composer")
    async with bench(slack, sqlite_database, model) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await asyncio.wait_for(model.waiting.wait(), 10)
        slack.revoke(slack.bot_token)
        model.gate.set()
        await slack.wait_for(lambda: bot.run(job.run_id).status != "RUNNING")
        await asyncio.sleep(0.2)
        assert bot.job(job.run_id).answered_at is None
        slack.world.revoked.clear()
        await bot.answered(job)
        assert len(bot.answers(job)) == 1


async def test_a_fault_of_ours_is_tried_again(
    slack: SlackEmulator, sqlite_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    faults = [ZeroDivisionError("ours"), ZeroDivisionError("ours")]

    def complete(_: Job) -> None:
        if faults:
            raise faults.pop()

    async with bench(slack, sqlite_database, complete=complete) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        assert len(bot.answers(job)) == 1
        assert "failed inside us" in caplog.text


async def test_a_run_that_always_fails_inside_us_ends_with_an_honest_word(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    def complete(_: Job) -> Any:
        async def fails(state: RunState) -> RunState:
            raise asyncio.CancelledError

        return fails

    async with bench(slack, sqlite_database, complete=complete, most_attempts=2, lease_seconds=3600) as bot:
        job = bot.ask()
        await bot.answered(job)
        assert "failed inside me 2 times" in slack.thread_text(CHANNEL, job.thread_ts)


async def test_a_first_sign_of_life_that_comes_late_does_not_outlast_the_answer(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    slack.fail("assistant.threads.setStatus", delay=1.0, times=1)
    async with bench(slack, sqlite_database) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        assert slack.status(CHANNEL, job.thread_ts) == ""


async def test_a_run_that_takes_its_worker_down_again_and_again_is_given_up_and_says_so(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    async with bench(slack, sqlite_database, most_attempts=3) as bot:
        job = bot.ask()
        for _ in range(3):
            assert bot.trace.claim(job.run_id, "a process that dies", -1) is not None
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        assert bot.run(job.run_id).status == "FAILED"
        assert "failed inside me 3 times" in slack.thread_text(CHANNEL, job.thread_ts)


async def test_a_run_that_nobody_can_read_says_so(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with bench(slack, sqlite_database) as bot:
        job = bot.ask()
        lease = bot.trace.claim(job.run_id, "an older program", 60)
        assert lease is not None
        bot.trace.checkpoint(lease, '{"version": 99}', "PLANNER", -1)
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        assert "started by another version of me" in slack.thread_text(CHANNEL, job.thread_ts)


async def test_one_whose_run_was_taken_over_falls_silent(slack: SlackEmulator, sqlite_database: Database) -> None:
    model = Incident(waits_in="verifier")
    async with bench(slack, sqlite_database, model, lease_seconds=0) as slow:
        job = slow.ask()
        slow.queue.wake(job.run_id)
        await asyncio.wait_for(model.waiting.wait(), 10)
        async with bench(slack, sqlite_database) as quick:
            await quick.answered(job)
            model.gate.set()
            await slack.wait_for(lambda: slow.queue.idle)
            assert len(quick.answers(job)) == 1


class BrokenAtFirst(Budget):
    """A fault of ours between a run's end and its answer."""

    faults = 1

    def charge(self, job: Job, run: Run) -> None:
        if self.faults:
            self.faults -= 1
            raise ZeroDivisionError("ours")
        super().charge(job, run)


async def test_an_answer_that_fails_inside_us_is_tried_again_at_once(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    times = replace(QUICK, delivery=3600.0, last_hold=0.01)
    async with bench(slack, sqlite_database, times=times) as bot:
        bot.worker.budget = BrokenAtFirst(BudgetStore(sqlite_database), Ceilings(), bot.place.clock)
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        assert len(bot.answers(job)) == 1


# ---------------------------------------------------------------- another process goes on


async def test_a_run_that_another_process_has_ended_is_left_to_it_to_answer(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    async with bench(slack, sqlite_database, started=False) as quick, bench(slack, sqlite_database, started=False) as late:
        seen_waiting = quick.ask()
        assert await quick.worker.run(seen_waiting)
        assert not await late.worker.run(seen_waiting)
        await quick.worker.deliver(seen_waiting, look=False)
        assert len(quick.answers(seen_waiting)) == 1


async def test_who_may_not_deliver_an_answer_writes_nothing_over_it(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    async with bench(slack, sqlite_database, started=False) as first, bench(slack, sqlite_database, started=False) as other:
        job = first.ask()
        assert await first.worker.run(job)
        await other.worker.deliver(job, look=True)
        await first.worker.deliver(job, look=False)
        assert len(first.answers(job)) == 1
        assert [task for task in asyncio.all_tasks() if "_write_on" in repr(task.get_coro())] == []


async def test_another_process_goes_on_with_the_run_and_with_its_messages(
    slack: SlackEmulator, database: Database
) -> None:
    before = Incident(waits_in="verifier")
    async with bench(slack, database, before) as dying:
        job = dying.ask()
        dying.queue.wake(job.run_id)
        await slack.wait_for(lambda: before.waiting.is_set() and bool(dying.parts(job)))
    assert before.asked == 4
    (left,) = slack.messages(CHANNEL, job.thread_ts)[1:]
    after = Incident()
    async with bench(slack, database, after) as bot:
        await bot.answered(job)
        assert [(message["ts"], part_of(message)[0]) for message in bot.parts(job)] == [(left["ts"], "answer")]
        assert after.asked == 2
        assert bot.run(job.run_id).attempt == 2


async def test_an_answer_that_its_process_could_not_post_is_posted_by_another(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    slack.fail("chat.update", status=503, times=None)
    async with bench(slack, sqlite_database, access={"failure_tries": 0}) as dying:
        job = dying.ask()
        dying.queue.wake(job.run_id)
        await slack.wait_for(lambda: dying.run(job.run_id).status == "SUCCESS")
    assert dying.job(job.run_id).answered_at is None
    slack.clear_faults()
    async with bench(slack, sqlite_database) as bot:
        sqlite_database.transact(lambda connection: connection.exec_driver_sql("UPDATE job SET delivery_until = NULL"))
        await bot.answered(job)
        assert len(bot.answers(job)) == 1




async def test_a_run_outlives_a_database_that_is_away_for_a_while(
    slack: SlackEmulator, sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    database = Database(sqlite_url, timeouts=Timeouts(busy=0.01))
    model = Incident(waits_in="verifier")
    locker = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    try:
        async with bench(slack, database, model, lease_seconds=1) as bot:
            job = bot.ask()
            bot.queue.wake(job.run_id)
            await slack.wait_for(lambda: model.waiting.is_set() and bool(bot.parts(job)))
            locker.execute("BEGIN IMMEDIATE")
            model.gate.set()
            await slack.wait_for(lambda: "goes on when the database is back" in caplog.text)
            locker.execute("ROLLBACK")
            await bot.answered(job)
            assert [part_of(message)[0] for message in bot.parts(job)] == ["answer"]
    finally:
        locker.close()
        database.close()
