"""Progress in the thread: a stream where there is one, edits where there is none, and nothing lost in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from slack_worker import ANA, CHANNEL, Bench, Incident, bench, emulator, part_of

from bot.emulator.slack import SlackEmulator
from bot.thread import ThreadTimes
from bot.worker import WorkerTimes
from storage.engine import Database
from storage.jobs import Job


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


def progress(bot: Bench, job: Job) -> dict[str, Any]:
    (message,) = bot.parts(job)
    return message


def cards(message: dict[str, Any]) -> dict[str, str]:
    plans = [block for block in message["blocks"] if block["type"] == "plan"]
    return {task["title"]: task["status"] for plan in plans for task in plan["tasks"]}


def markdown(message: dict[str, Any]) -> str:
    return "".join(block["text"] for block in message.get("blocks", []) if block["type"] == "markdown")


def edits(slack: SlackEmulator) -> list[str]:
    """The markdown of every edit so far."""
    return [markdown(call) for call in slack.calls("chat.update")]


# ---------------------------------------------------------------- as a stream


async def test_progress_streams_to_the_asker_as_a_plan_of_cards(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    model = Incident(waits_in="verifier")
    async with bench(slack, sqlite_database, model) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: bot.parts(job) and "Checking the statements" in cards(progress(bot, job)))
        message = progress(bot, job)
        assert message["streaming_state"] == "in_progress"
        shown = cards(message)
        assert shown["Planning"] == "complete"
        assert shown["Checking the statements"] == "in_progress"
        assert sum(title.startswith("query_") for title in shown) == 3
        (start,) = slack.calls("chat.startStream")
        assert (start["recipient_user_id"], start["recipient_team_id"]) == (ANA, slack.team_id)
        assert start["task_display_mode"] == "plan"
        model.gate.set()
        await bot.answered(job)
        assert [part_of(each)[0] for each in bot.parts(job)] == ["answer"]
        assert slack.refused == []


async def test_the_first_sign_of_life_comes_before_the_run_does(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with bench(slack, sqlite_database, started=False) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: slack.status(CHANNEL, job.thread_ts))
        session = slack.session(CHANNEL, job.thread_ts)
        assert session is not None
        assert session["status"] == "processing"


async def test_after_the_answer_nothing_seems_to_run(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with bench(slack, sqlite_database) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        session = slack.session(CHANNEL, job.thread_ts)
        assert session is not None
        assert session["status"] == "active"
        assert slack.status(CHANNEL, job.thread_ts) == ""
        assert not [each for each in bot.parts(job) if each.get("streaming_state") == "in_progress"]


async def test_an_app_without_slacks_own_stop_gets_a_button_of_ours(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    slack.behaviour.subscriptions.discard("agent_session_stopped")
    async with bench(slack, sqlite_database, started=False) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: slack.session(CHANNEL, job.thread_ts))
        await bot.worker.run(job)
        (start,) = slack.calls("chat.startStream")
        buttons = [chunk for chunk in start["chunks"] if chunk["type"] == "blocks"]
        assert buttons[0]["blocks"][0]["elements"][0]["value"] == job.run_id


# ---------------------------------------------------------------- where no stream starts


@pytest.mark.parametrize(
    "fault", [{"error": "channel_type_not_supported"}, {"error": "unknown_method"}, {"error": "missing_recipient_user_id"}]
)
async def test_where_a_stream_cannot_start_the_cards_are_edited_as_markdown(
    slack: SlackEmulator, sqlite_database: Database, fault: dict[str, Any]
) -> None:
    slack.fail("chat.startStream", times=None, **fault)
    model = Incident(waits_in="verifier")
    async with bench(slack, sqlite_database, model) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: bot.parts(job) and "Checking the statements" in markdown(progress(bot, job)))
        message = progress(bot, job)
        assert part_of(message) == ("progress", job.run_id)
        assert markdown(message).count("query") == 3
        assert message["blocks"][-1]["elements"][0]["action_id"] == "stop"
        model.gate.set()
        await bot.answered(job)
        assert [part_of(each)[0] for each in bot.parts(job)] == ["answer"]
        assert len(slack.calls("chat.startStream")) == 1


async def test_an_alerts_run_has_nobody_to_stream_to(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with bench(slack, sqlite_database) as bot:
        ts = slack.post_as_bot(CHANNEL, {"text": "checkout is slow"})
        job = bot.stored(ts, ts, "Why is checkout slow?", user=None, channel=CHANNEL)
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        assert slack.calls("chat.startStream") == []
        assert len(bot.answers(job)) == 1


async def test_edits_of_a_message_are_a_second_apart(slack: SlackEmulator, sqlite_database: Database) -> None:
    slack.fail("chat.startStream", error="channel_type_not_supported", times=None)
    times = WorkerTimes(settle=0.0, greeting=0.02)
    async with bench(slack, sqlite_database, Incident(seconds=0.5), times=times, access={"edit_gap": 1.0}) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        moments = [call.at for call in slack.call_log("chat.update")]
        assert len(moments) > 1
        assert all(later - sooner > 0.9 for sooner, later in zip(moments, moments[1:], strict=False))


# ---------------------------------------------------------------- where a stream dies


@pytest.mark.parametrize("error", ["message_not_in_streaming_state", "msg_too_long", "internal_error"])
@pytest.mark.parametrize("appends", [0, 1])
async def test_a_stream_that_dies_goes_on_as_edits_of_the_same_message(
    slack: SlackEmulator, sqlite_database: Database, error: str, appends: int
) -> None:
    slack.fail("chat.appendStream", error=error, after=appends, times=None)
    model = Incident(waits_in="verifier", seconds=0.1)
    async with bench(slack, sqlite_database, model) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: edits(slack) and "Checking the statements" in edits(slack)[-1])
        assert edits(slack)[-1].count("query") == 3
        assert markdown(progress(bot, job)) == edits(slack)[-1]
        model.gate.set()
        await bot.answered(job)
        assert [part_of(each)[0] for each in bot.parts(job)] == ["answer"]


@pytest.mark.parametrize("seconds", [0.0, 0.3])
async def test_a_stream_that_slack_ends_by_itself_loses_nothing(
    slack: SlackEmulator, sqlite_database: Database, seconds: float
) -> None:
    slack.stream_ttl(seconds)
    model = Incident(waits_in="verifier", seconds=0.15)
    async with bench(slack, sqlite_database, model) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: edits(slack) and "Checking the statements" in edits(slack)[-1])
        model.gate.set()
        await bot.answered(job)
        assert [part_of(each)[0] for each in bot.parts(job)] == ["answer"]


async def test_a_lost_reply_to_an_append_shows_nothing_twice(slack: SlackEmulator, sqlite_database: Database) -> None:
    slack.fail("chat.appendStream", drop_reply=True)
    model = Incident(waits_in="verifier", seconds=0.1)
    async with bench(slack, sqlite_database, model) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: edits(slack) and "Checking the statements" in edits(slack)[-1])
        assert len(slack.calls("chat.appendStream")) == 1
        model.gate.set()
        await bot.answered(job)


async def test_a_stream_whose_start_was_not_answered_is_taken_over(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    slack.fail("chat.startStream", drop_reply=True)
    async with bench(slack, sqlite_database) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        (message,) = bot.parts(job)
        assert part_of(message) == ("answer", job.run_id)
        assert message["streaming_state"] == "completed"


async def test_an_answer_does_not_wait_for_a_stream_that_cannot_be_ended(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    slack.fail("chat.stopStream", error="internal_error", times=None)
    async with bench(slack, sqlite_database) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        assert len(bot.answers(job)) == 1


async def test_slacks_own_stop_ends_the_stream_and_progress_goes_on(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    model = Incident(waits_in="executor")
    async with bench(slack, sqlite_database, model) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: bool(bot.parts(job)) and model.waiting.is_set())
        slack.stop(CHANNEL, job.thread_ts, "ana")
        model.gate.set()
        await bot.answered(job)
        assert len(bot.answers(job)) == 1


# ---------------------------------------------------------------- the answer's place


async def test_a_long_run_ends_in_a_new_post_that_calls_the_asker_back(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    slow = WorkerTimes(greeting=0.02, pause=0.02, settle=0.0, thread=ThreadTimes(long_run=-60, edit_gap=0.01))
    async with bench(slack, sqlite_database, times=slow) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        folded, answer = bot.parts(job)
        assert part_of(answer) == ("answer", job.run_id)
        assert f"'user_id': '{ANA}'" in str(answer["blocks"])
        assert [block["type"] for block in folded["blocks"]] == ["context"]
        assert folded["text"] == bot.worker.words.text("en", "progress_done", seconds="0", calls=3)


async def test_a_short_run_calls_nobody(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with bench(slack, sqlite_database) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await bot.answered(job)
        (answer,) = bot.answers(job)
        assert "user_id" not in str(answer["blocks"])


async def test_an_answer_whose_progress_was_deleted_gets_a_message_of_its_own(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    model = Incident(waits_in="composer")
    async with bench(slack, sqlite_database, model) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: bool(bot.parts(job)) and model.waiting.is_set())
        slack.delete(CHANNEL, progress(bot, job)["ts"])
        model.gate.set()
        await bot.answered(job)
        assert len(bot.answers(job)) == 1


async def test_progress_that_hangs_does_not_hold_up_the_answer(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    slack.fail("chat.appendStream", delay=2.0, times=1)
    quick = WorkerTimes(greeting=0.02, settle=0.0, thread=ThreadTimes(edit_gap=0.01, close=0.1))
    async with bench(slack, sqlite_database, Incident(seconds=0.1), times=quick) as bot:
        job = bot.ask()
        bot.queue.wake(job.run_id)
        await slack.wait_for(lambda: bot.answers(job))
        assert not [call for call in slack.call_log("chat.appendStream") if call.status == 200][1:]


async def test_without_any_scope_for_assistants_the_run_is_answered_all_the_same(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    slack.behaviour.scopes.discard("assistant:write")
    async with bench(slack, sqlite_database) as bot:
        first, second = bot.ask(), bot.ask()
        for job in (first, second):
            bot.queue.wake(job.run_id)
        await bot.answered(first, second)
        assert len(bot.answers(first)) == len(bot.answers(second)) == 1


# ---------------------------------------------------------------- many at once


async def test_progress_that_would_come_after_its_answer_is_not_posted(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    times = WorkerTimes(pause=0.02, settle=0.0, thread=ThreadTimes(long_run=0.0, edit_gap=0.01, close=0.05))
    async with bench(slack, sqlite_database, access={"post_gap": 0.15}, times=times) as bot:
        jobs = [bot.ask() for _ in range(8)]
        bot.queue.wake()
        await bot.answered(*jobs)
        for job in jobs:
            assert [part_of(each)[0] for each in bot.parts(job)][-1] == "answer"
            assert all(each.get("streaming_state") != "in_progress" for each in bot.parts(job))
        assert slack.refused == []


@pytest.mark.parametrize("streams", [True, False])
async def test_progress_whose_first_words_were_slow_is_taken_back(
    slack: SlackEmulator, sqlite_database: Database, streams: bool
) -> None:
    if streams:
        slack.fail("chat.startStream", delay=0.5)
    else:
        slack.fail("chat.startStream", status=429, retry_after=1)
        slack.fail("chat.postMessage", delay=0.5)
    times = WorkerTimes(pause=0.02, settle=0.0, thread=ThreadTimes(long_run=0.0, edit_gap=0.01, close=0.05))
    async with bench(slack, sqlite_database, times=times) as bot:
        job = bot.ask()
        bot.queue.wake()
        await bot.answered(job)
        await slack.wait_for(lambda: slack.calls("chat.delete"))
        assert [part_of(each)[0] for each in bot.parts(job)] == ["answer"]
