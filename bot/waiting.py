"""Waiting that loses no cancellation: `asyncio.wait_for` of Python 3.11 does where its end and the cancellation coincide."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

AGAIN_SECONDS = 1.0


async def set_within(event: asyncio.Event, seconds: float) -> bool:
    """Whether the event is set before the time is over."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True


async def ended(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel these, again and again, until each has ended: a library may lose a cancellation too."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=AGAIN_SECONDS)
    for task in tasks:
        if not task.cancelled():
            # Seen, or the loop complains of a lost error.
            task.exception()
