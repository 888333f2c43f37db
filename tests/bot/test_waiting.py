"""A cancellation that comes at the moment of a wake-up is not lost, and a task that swallows one is cancelled again."""

import asyncio
from contextlib import suppress

from bot.looking import look_without_end
from bot.waiting import ended, set_within


async def test_a_loop_that_is_woken_and_cancelled_at_once_ends() -> None:
    woken = asyncio.Event()

    async def nothing() -> None:
        return

    looking = asyncio.create_task(look_without_end(nothing, woken, 60.0, "nothing"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    woken.set()
    await asyncio.sleep(0)
    looking.cancel()
    await asyncio.wait({looking}, timeout=5.0)
    assert looking.cancelled()


async def test_a_task_that_swallows_a_cancellation_is_cancelled_again() -> None:
    async def stubborn() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        await asyncio.sleep(60)

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await asyncio.wait_for(ended([task]), 5.0)
    assert task.cancelled()


async def test_it_tells_whether_the_event_came() -> None:
    event = asyncio.Event()
    assert not await set_within(event, 0.0)
    event.set()
    assert await set_within(event, 1.0)
