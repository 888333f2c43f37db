"""Sessions: Slack threads and terminal conversations."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, insert, select

from storage import trace_sql as sql
from storage.database import Database
from storage.errors import StorageConflict
from storage.models import chat_session
from storage.records import Run
from storage.types import database_now

session = chat_session.c
OPEN_TERMINAL = insert(chat_session).values(joined_at=database_now(), state="OPEN")
ONE = select(
    session.session_id,
    session.team,
    session.channel,
    session.thread_ts,
    session.terminal,
    session.language,
    session.time_zone,
    session.joined_at,
    session.state,
).where(session.session_id == bindparam("the_session"))


@dataclass(frozen=True)
class Session:
    """A Slack thread has team, channel and thread_ts; a terminal conversation has `terminal`."""

    session_id: str
    team: str | None
    channel: str | None
    thread_ts: str | None
    terminal: str | None
    language: str
    zone: str
    joined_at: datetime
    state: str


class SessionStore:
    def __init__(self, db: Database) -> None:
        self._db = db

    def open_terminal(self, session_id: str, language: str, zone: str) -> Session:
        """The terminal conversation of this id; made where it does not exist, left as it is where it does."""
        found = self.get(session_id)
        if found is not None:
            return found
        values = {"session_id": session_id, "terminal": session_id, "language": language, "time_zone": zone}
        with suppress(StorageConflict):  # another process was quicker
            self._db.transact(lambda connection: connection.execute(OPEN_TERMINAL, values))
        return self._existing(session_id)

    def get(self, session_id: str) -> Session | None:
        with self._db.read() as connection:
            row = connection.execute(ONE, {"the_session": session_id}).first()
        return None if row is None else Session(*row)

    def runs(self, session_id: str) -> list[Run]:
        """Oldest first."""
        with self._db.read() as connection:
            return [Run(*row) for row in connection.execute(sql.RUNS_OF_SESSION, {"the_session": session_id})]

    def _existing(self, session_id: str) -> Session:
        found = self.get(session_id)
        assert found is not None
        return found
