"""The bot deletes what is too old every day, also where another process does so at the same time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text
from trace_rows import END, claimed, queued

from bot.app import App, open_app, prepare
from bot.doctor import retention
from bot.purging import AGAIN_SECONDS, DAY_SECONDS, purge_daily
from bot.settings import Loaded, Settings

LATER = datetime.now(UTC) + timedelta(days=32)


class Nights(Exception):
    """All the nights of a test are over."""


class Sleeper:
    """Sleeps so often, then ends the loop."""

    def __init__(self, nights: int) -> None:
        self.left = nights
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        if len(self.slept) == self.left:
            raise Nights


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[App]:
    async with open_app(Loaded(Settings(data_dir=folder), None, ZoneInfo("UTC"))) as app:
        await prepare(app)
        yield app


def an_ended_run(app: App, run_id: str) -> None:
    store = queued(app.database, run_id)
    store.finish_run(claimed(store, run_id), END)


async def nights(app: App, count: int, at: datetime = LATER) -> list[float]:
    sleeper = Sleeper(count)
    with pytest.raises(Nights):
        await purge_daily(app, lambda: at, sleeper)
    return sleeper.slept


async def test_what_is_older_than_thirty_days_goes_and_the_log_says_how_much(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="bot.purging")
    async with opened(tmp_path) as app:
        an_ended_run(app, "run-1")
        assert await nights(app, 2) == [DAY_SECONDS, DAY_SECONDS]
        assert app.store.recent_runs(10) == []
    assert ["runs 1" in record.message for record in caplog.records] == [True]


async def test_what_is_younger_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        an_ended_run(app, "run-1")
        await nights(app, 1, LATER - timedelta(days=3))
        assert [run.run_id for run in app.store.recent_runs(10)] == ["run-1"]


async def test_two_processes_may_delete_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as other:
        for number in range(5):
            an_ended_run(one, f"run-{number}")
        await asyncio.gather(nights(one, 1), nights(other, 1))
        assert one.store.recent_runs(10) == []


async def test_a_database_that_is_away_is_asked_again_soon(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with opened(tmp_path) as app:
        with app.database.begin() as connection:
            connection.execute(text("ALTER TABLE slack_event RENAME TO elsewhere"))
        assert await nights(app, 2) == [AGAIN_SECONDS, AGAIN_SECONDS]
    assert "not deleted yet" in caplog.text


async def test_doctor_says_what_should_have_gone(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        an_ended_run(app, "run-1")
        assert (await retention(app)).state == "ok"
        with app.database.begin() as connection:
            long_ago = datetime.now(UTC) - timedelta(days=40)
            connection.execute(text("UPDATE diagnosis_run SET finished_at = :at"), {"at": long_ago.isoformat(" ")})
        found = await retention(app)
    assert (found.state, found.advice) == ("warn", "Run: proofthread purge")
    assert "1 are older" in found.detail
