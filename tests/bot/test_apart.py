"""Work that is kept from its neighbours."""

from __future__ import annotations

import asyncio

import pytest

from bot.triaging.apart import apart
from storage.errors import StorageUnavailable


async def _gives(value: int) -> int:
    return value


async def _fails(error: Exception) -> int:
    raise error


async def test_what_goes_well_gives_its_value() -> None:
    assert await apart(_gives(7), "it", 0) == 7


async def test_a_fault_is_told_and_gives_the_other_value(caplog: pytest.LogCaptureFixture) -> None:
    assert await apart(_fails(TypeError("ours")), "incident inc-1", 3) == 3
    assert "incident inc-1 failed inside us" in caplog.text


async def test_a_database_that_is_away_concerns_all() -> None:
    with pytest.raises(StorageUnavailable):
        await apart(_fails(StorageUnavailable("away")), "it", 0)


async def test_who_is_cancelled_takes_the_work_along() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def waits() -> int:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 0

    outer = asyncio.create_task(apart(waits(), "it", 0))
    await started.wait()
    outer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await outer
    await asyncio.wait_for(ended.wait(), 5)
