"""Not faster than Slack takes it: about one message a second and channel, and one edit a second and message."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

# Past that many channels and messages the ones that were long ago are forgotten.
_MOST_KEPT = 1_000


class Pacer:
    """Hands out turns: two turns of one key are at least `gap` seconds apart, in the order in which they were asked for.

    `now` gives seconds of any clock that never goes back.
    """

    def __init__(
        self,
        gap: float,
        now: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._gap = gap
        self._now = now
        self._sleep = sleep
        self._next: dict[str, float] = {}

    @property
    def kept(self) -> int:
        """How many keys are remembered."""
        return len(self._next)

    async def turn(self, key: str) -> None:
        """Waits until the key may be used again."""
        wait = self.reserve(key)
        if wait > 0:
            await self._sleep(wait)

    def wait(self, key: str) -> float:
        """The seconds until the key is free, without a turn taken."""
        return max(0.0, self._next.get(key, 0.0) - self._time())

    def reserve(self, key: str) -> float:
        """Takes the key's next turn and gives the seconds until then."""
        now = self._time()
        mine = max(now, self._next.get(key, now))
        self._next[key] = mine + self._gap
        if len(self._next) > _MOST_KEPT:
            self._next = {name: free for name, free in self._next.items() if free > now}
        return mine - now

    def _time(self) -> float:
        return asyncio.get_running_loop().time() if self._now is None else self._now()
