"""What an incident's thread shows while one process tells it: each step is written down before it is taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.blocks.incident import REACTIONS
from bot.slack.client import SlackCalls
from storage.engine import Database
from storage.incidents import Incident, IncidentStore

EVENT_TYPE = "proofthread_incident"


class TakenOver(Exception):
    """Another process tells the incident by now."""


class ToldThread:
    """One incident while this process tells it, and what its thread shows."""

    def __init__(self, calls: SlackCalls, db: Database, store: IncidentStore, incident: Incident, owner: str) -> None:
        self.incident = incident
        self._calls, self._db, self._store, self._owner = calls, db, store, owner
        self._shown: dict[str, Any] = dict(incident.told)

    @property
    def line(self) -> str | None:
        """The ts of our line."""
        found = self._shown.get("line")
        return str(found) if found else None

    @property
    def digest(self) -> str | None:
        """Of what the line says."""
        return self._shown.get("digest")

    @property
    def is_posting(self) -> bool:
        """Somebody was about to post the line, and nobody knows whether it is there."""
        return bool(self._shown.get("posting"))

    @property
    def is_gone(self) -> bool:
        return bool(self._shown.get("gone"))

    @property
    def reactions(self) -> list[str]:
        """Ours on the post."""
        return [name for name in self._shown.get("reactions", ()) if name in REACTIONS]

    @property
    def perhaps(self) -> list[str]:
        """Ours that may be on the post: the last one's fate may be unknown."""
        adding = self._shown.get("adding")
        return [*self.reactions, *([adding] if adding in REACTIONS and adding not in self.reactions else [])]

    async def note(self, **shown: Any) -> None:
        """Raises TakenOver."""
        self._shown |= shown
        noted = await self._db.call(self._store.note_told, self.incident.incident_id, self._owner, self._shown)
        if not noted:
            raise TakenOver

    async def finish(self, rest: float) -> bool:
        one = self.incident
        return await self._db.call(self._store.told, one.incident_id, self._owner, self._shown, one.changes, rest)

    async def find(self) -> None:
        """The line where it stands in the thread."""
        identity = await self._calls.identity()
        where = {"channel": self.incident.channel, "ts": self.incident.root_ts, "limit": 200}
        async for message in self._calls.pages("conversations.replies", "messages", include_all_metadata=True, **where):
            if _is_ours(message, identity) and self._is_line(message):
                await self.note(line=str(message["ts"]), digest=None, posting=False)
                return
        await self.note(posting=False)

    def _is_line(self, message: Mapping[str, Any]) -> bool:
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        return metadata.get("event_type") == EVENT_TYPE and payload.get("incident") == self.incident.incident_id


def _is_ours(message: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    return any(message.get(key) and message.get(key) == identity.get(name) for key, name in (("bot_id", "bot_id"), ("user", "user_id")))
