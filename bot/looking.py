"""A look that is taken again and again, as long as the program runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.waiting import set_within
from storage.errors import StorageError

log = logging.getLogger(__name__)


async def look_without_end(
    look: Callable[[], Awaitable[object]], woken: asyncio.Event, poll: float, without: str
) -> None:
    """When `woken`, and every `poll` seconds. A database that is away is logged once until it is back; `without` says
    what does not go on meanwhile."""
    is_blind = False
    while True:
        woken.clear()
        try:
            await look()
        except StorageError as error:
            if not is_blind:
                log.error("%s until the database is back: %s", without, error)
            is_blind = True
        else:
            is_blind = False
        await set_within(woken, poll)
