"""What a mention becomes, over HTTP and over Socket Mode, with Bolt and slack_sdk as they are."""

from __future__ import annotations

import pytest
from slack_bot import SCHEMA, listening

from bot.emulator.slack import SlackEmulator
from storage.engine import Database

MODES = pytest.mark.parametrize("mode", ["http", "socket"])


@MODES
async def test_a_mention_becomes_one_job_whose_thread_is_its_session(sqlite_database: Database, mode: str) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database, mode) as bot:
            ts = slack.post("incidents", "ben", f"{slack.mention} why is checkout slow since 14:00?")
            await bot.settled(2)
            [run] = bot.runs
            assert bot.woken == [run.run_id]
            assert (run.query, run.status, run.zone) == ("why is checkout slow since 14:00?", "QUEUED", "Asia/Shanghai")
            assert run.session_id == f"{slack.team_id}.C0INCIDENT.{ts}"
            job = bot.desk.jobs.job(run.run_id)
            assert (job.ts, job.trigger, job.user_id, job.thread_ts) == (ts, "mention", "U0BEN00001", ts)
            assert slack.refused == []
