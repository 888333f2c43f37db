"""A look that is taken again and again survives a database that is away, and says so once."""

from __future__ import annotations

import asyncio

import pytest

from bot.looking import look_without_end
from storage.errors import StorageUnavailable


async def looked(outcomes: list[bool], caplog: pytest.LogCaptureFixture) -> list[str]:
    """What is logged over looks that fail (False) or not, each woken by the one before."""
    woken, ended, left = asyncio.Event(), asyncio.Event(), list(outcomes)

    async def look() -> None:
        if not left:
            ended.set()
            return
        woken.set()
        if not left.pop(0):
            raise StorageUnavailable("it is away")

    task = asyncio.create_task(look_without_end(look, woken, 60.0, "nothing is told"))
    await asyncio.wait_for(ended.wait(), 10)
    task.cancel()
    return [record.getMessage() for record in caplog.records]


async def test_a_database_that_is_away_is_told_once_each_time(caplog: pytest.LogCaptureFixture) -> None:
    said = "nothing is told until the database is back: it is away"
    assert await looked([False, False, True, True, False, False], caplog) == [said, said]


async def test_a_database_that_is_there_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    assert await looked([True, True], caplog) == []
