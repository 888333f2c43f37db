"""One job from the line to its answer in the thread, against the loopback Slack."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from slack_worker import CHANNEL, bench, emulator

from bot.emulator.slack import SlackEmulator
from storage.engine import Database


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
