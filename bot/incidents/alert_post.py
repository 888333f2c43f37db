"""A post that alerts were read from: where it stands, and which one it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class AlertPost:
    """Where the alerts were read. `ts` is the event's own; `update_of_ts` the post that an edit or a thread update is about;
    `at` when it was posted or edited."""

    team: str
    channel: str
    ts: str
    thread_ts: str | None
    update_of_ts: str | None
    at: datetime
    event_id: str | None = None
    is_edit: bool = False

    @property
    def key(self) -> str:
        """The same for each delivery of it."""
        edited = f":{self.at.timestamp():.6f}" if self.is_edit else ""
        return f"alert:{self.team}:{self.channel}:{self.ts}{edited}"

    @property
    def said_in(self) -> str:
        """The message that people see it in."""
        return (self.update_of_ts if self.is_edit else None) or self.ts
