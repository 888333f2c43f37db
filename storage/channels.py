"""How a channel is watched, who is changing its incidents, and when it takes our next message."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, or_, select, update

from storage.database import Database
from storage.errors import StorageConflict
from storage.models_incidents import channel_watch
from storage.types import InSeconds, database_now

row = channel_watch.c
THIS = (row.team == bindparam("the_team"), row.channel == bindparam("the_channel"))
TURN = (
    update(channel_watch)
    .where(*THIS, or_(row.free_at.is_(None), row.free_at <= database_now()))
    .values(free_at=InSeconds(bindparam("gap_seconds")))
)


@dataclass(frozen=True)
class Watch:
    """What people said in a channel; None = nothing, so that the settings decide. `shadow_channel`: for a trial, where
    reports go instead, "" = nowhere else."""

    team: str
    channel: str
    watched: bool | None = None
    muted_until: datetime | None = None
    shadow_channel: str | None = None
    changed_by: str | None = None
    changed_at: datetime | None = None


WATCHES = select(*(row[field.name] for field in fields(Watch)))


class ChannelStore:
    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, team: str, channel: str) -> Watch:
        with self._db.read() as connection:
            found = connection.execute(WATCHES.where(*THIS), {"the_team": team, "the_channel": channel}).first()
        return Watch(team, channel) if found is None else Watch(*found)

    def all(self, team: str) -> list[Watch]:
        """Channels where people said something."""
        spoken = WATCHES.where(row.team == team, row.changed_at.is_not(None)).order_by(row.channel)
        with self._db.read() as connection:
            return [Watch(*each) for each in connection.execute(spoken)]

    def watch(self, team: str, channel: str, watched: bool, by: str) -> None:
        """Watching again ends a mute."""
        self._set(team, channel, by, watched=watched, **({"muted_until": None} if watched else {}))

    def mute(self, team: str, channel: str, until: datetime | None, by: str) -> None:
        """None ends it."""
        self._set(team, channel, by, muted_until=until)

    def shadow(self, team: str, channel: str, into: str | None, by: str) -> None:
        """None = as the settings say, "" = reports stand where the alerts are."""
        self._set(team, channel, by, shadow_channel=into)

    def take_turn(self, team: str, channel: str, gap_seconds: float) -> bool:
        """Whether the channel takes a message of ours now; it takes no other one for `gap_seconds`."""
        values = {"the_team": team, "the_channel": channel, "gap_seconds": gap_seconds}

        def turn() -> bool:
            return bool(self._db.transact(lambda connection: connection.execute(TURN, values).rowcount))

        return turn() or (make_channel(self._db, team, channel) and turn())

    def _set(self, team: str, channel: str, by: str, **values: object) -> None:
        make_channel(self._db, team, channel)
        change = update(channel_watch).where(*THIS).values(changed_by=by, changed_at=database_now(), **values)
        where = {"the_team": team, "the_channel": channel}
        self._db.transact(lambda connection: connection.execute(change, where))


def make_channel(db: Database, team: str, channel: str) -> bool:
    """The row to hold, made by whoever comes first; False where it was there."""
    with db.read() as connection:
        if connection.execute(select(row.id).where(*THIS), {"the_team": team, "the_channel": channel}).first():
            return False
    new = insert(channel_watch).values(team=team, channel=channel)
    with suppress(StorageConflict):
        db.transact(lambda connection: connection.execute(new))
    return True


def hold_channel(connection: Connection, team: str, channel: str) -> bool:
    """Until the transaction ends nobody else changes the channel's incidents; False where `make_channel` comes first.
    SQLite lets one writer in anyway."""
    where = {"the_team": team, "the_channel": channel}
    return connection.execute(select(row.id).where(*THIS).with_for_update(), where).first() is not None
