"""How the sources are, asked at most once a minute: App Home is opened by many."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from bot.doctor.systems import Finding

FRESH_SECONDS = 60.0
PATIENCE_SECONDS = 5.0


class Health:
    """`look` asks them all. One that hangs is waited for as long as `patience` says; until then nothing is known."""

    def __init__(
        self,
        look: Callable[[], Awaitable[Sequence[Finding]]],
        now: Callable[[], float] = time.monotonic,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._look, self._now, self._patience = look, now, patience
        self._found: Sequence[Finding] = ()
        self._at = float("-inf")
        self._asking: asyncio.Task[Sequence[Finding]] | None = None

    async def __call__(self) -> Sequence[Finding]:
        if self._now() - self._at < FRESH_SECONDS:
            return self._found
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(self._look())
        done, _ = await asyncio.wait({self._asking}, timeout=self._patience)
        if done:
            self._found, self._at = self._asking.result(), self._now()
        return self._found
