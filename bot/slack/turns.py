"""One message of ours a second and channel, over all processes: the database hands out the turns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from storage.channels import ChannelStore
from storage.engine import Database
from storage.errors import StorageError

# A turn that does not come within so many looks is taken: late is worse than close.
MOST_LOOKS = 60

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChannelTurns:
    """`gap` seconds lie between two messages. A database that is away holds nobody up."""

    db: Database
    team: str
    gap: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def taken(self, channel: str) -> bool:
        """Whether the channel takes a message now; then it is ours to post."""
        try:
            return await self.db.call(ChannelStore(self.db).take_turn, self.team, channel, self.gap)
        except StorageError as error:
            log.info("no turn in %s is known of: %s", channel, error)
            return True

    async def wait(self, channel: str) -> None:
        """Until the channel takes a message."""
        for _ in range(MOST_LOOKS):
            if await self.taken(channel):
                return
            await self.sleep(self.gap / 4)
