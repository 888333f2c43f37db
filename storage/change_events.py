"""Changes that somebody posted in a channel: a deploy note, a config change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from sqlalchemy import and_, insert, select, update

from storage.audience import Audience
from storage.database import Database
from storage.errors import StorageConflict
from storage.models_incidents import change_event
from storage.readable import readable

row = change_event.c


@dataclass(frozen=True)
class ChangeEvent:
    """`details` is what else the post says: kind, version, author, link. `is_private` keeps it inside its channel."""

    team: str
    channel: str
    ts: str
    summary: str
    happened_at: datetime
    service: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    is_private: bool = True


class ChangeEvents:
    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, change: ChangeEvent) -> bool:
        """False where the post was here before; what an edit says differently is taken over."""
        values = {one.name: getattr(change, one.name) for one in fields(change)} | {"details": dict(change.details)}
        here = and_(row.team == change.team, row.channel == change.channel, row.ts == change.ts)
        try:
            self._db.transact(lambda connection: connection.execute(insert(change_event).values(values)))
        except StorageConflict:
            self._db.transact(lambda connection: connection.execute(update(change_event).where(here).values(values)))
            return False
        return True

    def between(self, audience: Audience, since: datetime, until: datetime, limit: int = 1000) -> list[ChangeEvent]:
        """Those that the audience may read, oldest first: of more than `limit` the latest."""
        columns = [row[one.name] for one in fields(ChangeEvent)]
        query = select(*columns).where(readable(change_event, audience), row.happened_at.between(since, until))
        with self._db.read() as connection:
            found = connection.execute(query.order_by(row.happened_at.desc(), row.id.desc()).limit(limit))
            return [ChangeEvent(*each) for each in found][::-1]

    def has_any(self, audience: Audience, until: datetime) -> bool:
        query = select(row.id).where(readable(change_event, audience), row.happened_at <= until).limit(1)
        with self._db.read() as connection:
            return connection.execute(query).first() is not None
