"""Changes that somebody posted in a channel: a deploy note, a config change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from sqlalchemy import and_, insert, select, update

from storage.database import Database
from storage.errors import StorageConflict
from storage.models_incidents import change_event

row = change_event.c


@dataclass(frozen=True)
class ChangeEvent:
    """`details` is what else the post says: version, author, links."""

    team: str
    channel: str
    ts: str
    summary: str
    happened_at: datetime
    service: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


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

    def between(self, team: str, since: datetime, until: datetime) -> list[ChangeEvent]:
        """Oldest first."""
        columns = [row[one.name] for one in fields(ChangeEvent)]
        query = select(*columns).where(row.team == team, row.happened_at.between(since, until))
        with self._db.read() as connection:
            return [ChangeEvent(*each) for each in connection.execute(query.order_by(row.happened_at, row.id))]
