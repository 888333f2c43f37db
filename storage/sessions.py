"""Sessions: Slack threads and terminal conversations, and who speaks in a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, String, bindparam, insert, select, update

from storage import trace_sql as sql
from storage.database import Database
from storage.errors import StorageConflict
from storage.models import chat_session
from storage.prepared import Prepared, Writer
from storage.records import Run
from storage.types import database_now

session = chat_session.c
OPEN = insert(chat_session).values(joined_at=database_now(), state="OPEN")
OPEN_THREAD = Prepared(OPEN, ["session_id", "team", "channel", "thread_ts", "language", "time_zone"])
EXISTS = Prepared(select(session.session_id).where(session.session_id == bindparam("the_session", type_=String)))
SESSIONS = select(
    session.session_id,
    session.team,
    session.channel,
    session.thread_ts,
    session.terminal,
    session.language,
    session.time_zone,
    session.joined_at,
    session.state,
    session.addressed_at,
    session.addressed_by,
    session.speakers,
)
THIS = session.session_id == bindparam("the_session")
ONE = SESSIONS.where(THIS)
ATTENTION = select(session.addressed_at, session.addressed_by, session.speakers).where(THIS).with_for_update()
LISTEN = update(chat_session).where(THIS)

Speakers = dict[str, datetime]


@dataclass(frozen=True)
class Thread:
    """A Slack thread: its workspace, its channel and the `ts` of its first message."""

    team: str
    channel: str
    ts: str

    @property
    def session_id(self) -> str:
        """The thread's session, known before it is stored."""
        return f"{self.team}.{self.channel}.{self.ts}"


@dataclass(frozen=True)
class Session:
    """A Slack thread has team, channel and thread_ts; a terminal conversation has `terminal`.

    `addressed_at` and `addressed_by`: when, and by whom, the bot was spoken to last; `speakers`: people who have
    written in the thread since, the latest last. These instants are the messages' own.
    """

    session_id: str
    team: str | None
    channel: str | None
    thread_ts: str | None
    terminal: str | None
    language: str
    zone: str
    joined_at: datetime
    state: str
    addressed_at: datetime | None = None
    addressed_by: str | None = None
    speakers: tuple[str, ...] = ()


class SessionStore:
    def __init__(self, db: Database) -> None:
        self._db = db

    # ---------------------------------------------------------------- opening

    def open_terminal(self, session_id: str, language: str, zone: str) -> Session:
        """The terminal conversation of this id; made where it does not exist, left as it is where it does."""
        found = self.get(session_id)
        if found is not None:
            return found
        values = {"session_id": session_id, "terminal": session_id, "language": language, "time_zone": zone}
        with suppress(StorageConflict):  # another process was quicker
            self._db.transact(lambda connection: connection.execute(OPEN, values))
        return self._existing(session_id)

    def open_thread(self, thread: Thread, language: str, zone: str) -> Session:
        """The thread's session: the bot has joined it. Made where it does not exist, left as it is where it does."""
        found = self.get(thread.session_id)
        if found is not None:
            return found
        with suppress(StorageConflict):
            self._db.write(lambda writer: ensure_thread(writer, thread, language, zone))
        return self._existing(thread.session_id)

    # ---------------------------------------------------------------- who speaks

    def addressed(self, session_id: str, user_id: str, at: datetime) -> None:
        """Somebody spoke to the bot. Events may come late and in any order: the newest counts."""
        self._db.transact(lambda connection: _addressed(connection, session_id, user_id, at))

    def spoke(self, session_id: str, user_id: str, at: datetime) -> None:
        """Somebody wrote in the thread; forgotten where the bot was addressed after that."""
        self._db.transact(lambda connection: _spoke(connection, session_id, user_id, at))

    # ---------------------------------------------------------------- reading

    def get(self, session_id: str) -> Session | None:
        with self._db.read() as connection:
            row = connection.execute(ONE, {"the_session": session_id}).first()
        return None if row is None else _session(row)

    def of_thread(self, thread: Thread) -> Session | None:
        """None where the bot has not joined the thread."""
        return self.get(thread.session_id)

    def runs(self, session_id: str) -> list[Run]:
        """Oldest first."""
        with self._db.read() as connection:
            return [Run(*row) for row in connection.execute(sql.RUNS_OF_SESSION, {"the_session": session_id})]

    def _existing(self, session_id: str) -> Session:
        found = self.get(session_id)
        assert found is not None
        return found


def ensure_thread(writer: Writer, thread: Thread, language: str, zone: str) -> None:
    """Inside a transaction. Raises StorageConflict where another process opens it at this moment: do it all again."""
    if writer.run(EXISTS, {"the_session": thread.session_id}).fetchone() is not None:
        return
    values = {"session_id": thread.session_id, "team": thread.team, "channel": thread.channel, "thread_ts": thread.ts}
    writer.run(OPEN_THREAD, values | {"language": language, "time_zone": zone})


def _session(row: Sequence[Any]) -> Session:
    *values, speakers = row
    found = Session(*values)
    return replace(found, speakers=tuple(sorted(speakers, key=speakers.__getitem__))) if speakers else found


def _addressed(connection: Connection, session_id: str, user_id: str, at: datetime) -> None:
    row = connection.execute(ATTENTION, {"the_session": session_id}).first()
    if row is None:
        return
    addressed_at, addressed_by, stored = row
    speakers = _instants(stored)
    speakers[user_id] = max(at, speakers.get(user_id, at))
    if addressed_at is None or addressed_at < at:
        addressed_at, addressed_by = at, user_id
    since = _texts(speakers, addressed_at)
    values = {"addressed_at": addressed_at, "addressed_by": addressed_by, "speakers": since}
    connection.execute(LISTEN.values(values), {"the_session": session_id})


def _spoke(connection: Connection, session_id: str, user_id: str, at: datetime) -> None:
    row = connection.execute(ATTENTION, {"the_session": session_id}).first()
    if row is None or (row.addressed_at is not None and at < row.addressed_at):
        return
    speakers = _instants(row.speakers)
    speakers[user_id] = max(at, speakers.get(user_id, at))
    connection.execute(LISTEN.values(speakers=_texts(speakers, row.addressed_at)), {"the_session": session_id})


def _instants(stored: Mapping[str, str] | None) -> Speakers:
    return {name: datetime.fromisoformat(text) for name, text in (stored or {}).items()}


def _texts(speakers: Speakers, since: datetime | None) -> dict[str, str]:
    return {name: at.isoformat() for name, at in speakers.items() if since is None or at >= since}
