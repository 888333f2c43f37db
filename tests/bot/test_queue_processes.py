"""Real processes at one line: one is killed in the middle of a run, another brings it to its end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from slack_worker import CHANNEL, Bench, Incident, bench, emulator, part_of

from bot.emulator.slack import SlackEmulator
from storage.engine import Database

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "support" / "slack_process.py"


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


@asynccontextmanager
async def process(
    slack: SlackEmulator, url: str, *, waits_in: str = "", lease: int = 60
) -> AsyncIterator[asyncio.subprocess.Process]:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PROGRAM),
        *(slack.api_url, slack.bot_token, slack.team_id, url, waits_in, str(lease)),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    try:
        assert await asyncio.wait_for(child.stdout.readline(), 60) == b"ready\n"
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


async def test_a_killed_processs_run_is_brought_to_its_end_by_another(
    slack: SlackEmulator, database_url: str
) -> None:
    database = Database(database_url)
    try:
        async with bench(slack, database, started=False) as desk:
            job = desk.ask()
            async with process(slack, database_url, waits_in="verifier", lease=2) as doomed:
                await slack.wait_for(lambda: len(desk.trace.steps(job.run_id)) == 3 and bool(desk.parts(job)), 60)
                doomed.kill()
                await doomed.wait()
            await _ended_by_another(desk, Incident())
            assert [part_of(message)[0] for message in desk.parts(job)] == ["answer"]
            assert [step.agent_name for step in desk.trace.steps(job.run_id)] == [
                "planner", "executor", "executor", "verifier", "composer",
            ]  # fmt: skip
    finally:
        database.close()


async def test_two_real_processes_share_the_work_and_answer_each_question_once(
    slack: SlackEmulator, database_url: str
) -> None:
    database = Database(database_url)
    try:
        async with (
            bench(slack, database, started=False) as desk,
            process(slack, database_url),
            process(slack, database_url),
        ):
            jobs = [desk.ask() for _ in range(10)]
            await desk.answered(*jobs, timeout=60)
            assert [len(desk.answers(job)) for job in jobs] == [1] * 10
            assert {desk.run(job.run_id).attempt for job in jobs} == {1}
            assert len(slack.messages(CHANNEL)) == 20
    finally:
        database.close()


async def _ended_by_another(desk: Bench, model: Incident) -> None:
    async with bench(desk.slack, desk.db, model) as other:
        (job,) = [job for job, _ in desk.jobs.recent([CHANNEL], 1)]
        await other.answered(job, timeout=30)
    assert model.asked == 2
