"""What is too old is deleted, also where another process does so at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from sqlalchemy import text
from trace_rows import END, claimed, queued

from bot.app import App, open_app, prepare
from bot.doctor.systems import retention
from bot.purging import purge_old, purged_text
from bot.settings import Loaded, Settings

LATER = datetime.now(UTC) + timedelta(days=32)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[App]:
    async with open_app(Loaded(Settings(data_dir=folder), None, ZoneInfo("UTC"))) as app:
        await prepare(app)
        yield app


def an_ended_run(app: App, run_id: str) -> None:
    store = queued(app.database, run_id)
    store.finish_run(claimed(store, run_id), END)


async def test_what_is_older_than_thirty_days_goes(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        an_ended_run(app, "run-1")
        assert "runs 1" in purged_text(await purge_old(app, LATER))
        assert app.store.recent_runs(10) == []
        assert purged_text(await purge_old(app, LATER)) == ""


async def test_what_is_younger_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        an_ended_run(app, "run-1")
        await purge_old(app, LATER - timedelta(days=3))
        assert [run.run_id for run in app.store.recent_runs(10)] == ["run-1"]


async def test_two_processes_may_delete_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as other:
        for number in range(5):
            an_ended_run(one, f"run-{number}")
        await asyncio.gather(purge_old(one, LATER), purge_old(other, LATER))
        assert one.store.recent_runs(10) == []


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
