"""Work that need not be done before Slack is answered: kept, so that it is neither collected nor lost at shutdown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from bot.waiting import ended

log = logging.getLogger(__name__)


class Later:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        """What fails is logged: nobody waits for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    async def idle(self) -> None:
        """Waits until nothing is under way."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def drain(self, seconds: float = 5.0) -> None:
        """Waits for what is under way, then cancels the rest."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)
        await ended(set(self._tasks))

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s", error, exc_info=error)
