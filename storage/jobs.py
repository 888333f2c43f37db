"""Jobs: what somebody asked for in Slack, which runs may start, and what was posted for them.

Synchronous: call it through `Database.call` from async code. Instants and leases are on the database's clock.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Executable, func, select

from storage import jobs_sql as sql
from storage import trace_sql
from storage.database import Database
from storage.errors import RunNotFound, StorageConflict
from storage.prepared import Writer
from storage.records import NewRun, Run
from storage.sessions import Thread, ensure_thread

TRIES = 3


@dataclass(frozen=True)
class JobKey:
    """What makes two deliveries the same request. A mention arrives as app_mention and as message, with one `ts` and
    one trigger ("mention"); a button, a shortcut, a slash command, a re-check are triggers of their own."""

    team: str
    channel: str
    ts: str
    trigger: str


@dataclass(frozen=True)
class NewJob:
    """`run.session_id` must be `thread.session_id`. `reply_to` is the ts of the message that the answer goes under
    where it is not the thread's own; `details` is JSON that the worker needs and nobody else reads."""

    key: JobKey
    run: NewRun
    thread: Thread
    user_id: str | None
    event_id: str | None = None
    reply_to: str | None = None
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Added:
    run_id: str


@dataclass(frozen=True)
class Duplicate:
    """The request was here before: `run_id` is the run that it started."""

    run_id: str


@dataclass(frozen=True)
class Job:
    """A stored job with its run's state. `answered_at` is None until the answer stands in the thread."""

    run_id: str
    session_id: str
    team: str
    channel: str
    ts: str
    trigger: str
    event_id: str | None
    thread_ts: str
    user_id: str | None
    reply_to: str | None
    details: dict[str, Any]
    placed_at: datetime
    answered_at: datetime | None
    status: str
    attempt: int
    cancel_requested: bool

    @property
    def key(self) -> JobKey:
        return JobKey(self.team, self.channel, self.ts, self.trigger)

    @property
    def thread(self) -> Thread:
        return Thread(self.team, self.channel, self.thread_ts)


@dataclass(frozen=True)
class SlackMessage:
    """One message of ours and the run and part (progress, answer, …) that it shows."""

    run_id: str
    part: str
    channel: str
    ts: str
    posted_at: datetime


class JobStore:
    """All methods raise StorageUnavailable where the database is away."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # ---------------------------------------------------------------- coming in

    def add(self, new: NewJob) -> Added | Duplicate:
        """Job, session and run in one transaction, or the run that the same request started before."""
        if new.run.session_id != new.thread.session_id:
            raise ValueError(f"The run's session is {new.run.session_id!r}, the thread's {new.thread.session_id!r}.")
        for _ in range(TRIES - 1):
            # Another process adds the same job, or opens the same thread, at this moment.
            with suppress(StorageConflict):
                return self._db.write(lambda writer: _add(writer, new))
        return self._db.write(lambda writer: _add(writer, new))

    def note_event(self, key: str) -> bool:
        """Remember an event that starts nothing, by its key alone; False where it was here before."""
        try:
            self._db.write(lambda writer: writer.run(sql.NOTE_EVENT, {"event_key": key}))
        except StorageConflict:
            return False
        return True

    # ---------------------------------------------------------------- the line

    def next_ready(self, limit: int) -> list[Job]:
        """Jobs whose run may be claimed now, oldest first: it waits, or its owner's lease has run out; and no earlier
        run of its thread waits or runs."""
        return self._jobs(sql.READY, the_limit=limit)

    def place_in_line(self, run_id: str) -> int:
        """1 = next to start; 0 where the run does not wait (it runs, has ended, or is unknown)."""
        with self._db.read() as connection:
            own = connection.execute(sql.WAITING, {"the_run": run_id}).first()
            if own is None:
                return 0
            values = {"the_id": own[0], "the_class": own[1]}
            return 1 + (connection.execute(sql.AHEAD, values).scalar() or 0)

    def unfinished(self, thread: Thread | None = None) -> list[Job]:
        """Jobs that wait or run, oldest first: of this thread (what a "stop" there means), or of all."""
        query = sql.UNFINISHED_JOBS
        if thread is not None:
            query = query.where(sql.run.session_id == thread.session_id)
        return self._jobs(query)

    def job(self, run_id: str) -> Job:
        """Raises RunNotFound."""
        found = self._jobs(sql.ONE_JOB, the_run=run_id)
        if not found:
            raise RunNotFound(f"No job of run {run_id!r} is stored in {self._db.shown_url}.")
        return found[0]

    def channels(self, limit: int = 200) -> list[str]:
        """Where the bot was asked, the latest first."""
        latest = func.max(sql.row.id)
        query = select(sql.row.channel).group_by(sql.row.channel).order_by(latest.desc()).limit(limit)
        with self._db.read() as connection:
            return list(connection.execute(query).scalars())

    def recent(self, channels: Collection[str], limit: int) -> list[tuple[Job, Run]]:
        """The newest jobs of these channels with their runs, newest first."""
        query = sql.JOBS.add_columns(*trace_sql.columns_of(Run, trace_sql.run))
        query = query.where(sql.row.channel.in_(list(channels))).order_by(sql.run.id.desc()).limit(limit)
        count = len(fields(Job))
        with self._db.read() as connection:
            return [(Job(*row[:count]), Run(*row[count:])) for row in connection.execute(query)]

    # ---------------------------------------------------------------- the answer

    def undelivered(self, limit: int, *, quiet_seconds: float = 30) -> list[Job]:
        """Ended runs whose answer does not stand in the thread and that nobody is posting: their process died between
        the end and the post, or they were cancelled while they waited. Oldest first. Runs that ended less than
        `quiet_seconds` ago are left to their own worker."""
        return self._jobs(sql.UNDELIVERED, the_limit=limit, since_seconds=-quiet_seconds)

    def take_delivery(self, run_id: str, owner: str, seconds: float) -> bool:
        """Become, or stay, the one who posts this run's answer; False where another is at it or it stands already."""
        values = {"the_run": run_id, "the_owner": owner, "for_seconds": seconds}
        return bool(self._db.transact(lambda connection: connection.execute(sql.TAKE_DELIVERY, values).rowcount))

    def answered(self, run_id: str) -> None:
        """The answer stands in the thread."""
        self._db.transact(lambda connection: connection.execute(sql.ANSWERED, {"the_run": run_id}))

    # ---------------------------------------------------------------- what was posted

    def posted(self, run_id: str, part: str, channel: str, ts: str) -> None:
        """Remember a message of ours. Saying it again changes nothing; raises StorageConflict for an unknown run."""
        values = {"run_id": run_id, "part": part, "channel": channel, "ts": ts}
        try:
            self._db.transact(lambda connection: connection.execute(sql.POST, values))
        except StorageConflict:
            if self.run_of_message(channel, ts) != run_id:
                raise

    def unposted(self, channel: str, ts: str) -> None:
        """The message is gone from Slack."""
        where = {"the_channel": channel, "the_ts": ts}
        self._db.transact(lambda connection: connection.execute(sql.UNPOST, where))

    def run_of_message(self, channel: str, ts: str) -> str | None:
        """The run that a message of ours shows; None for anybody else's message."""
        with self._db.read() as connection:
            return connection.execute(sql.AT, {"the_channel": channel, "the_ts": ts}).scalar()

    def messages(self, run_id: str) -> list[SlackMessage]:
        """In the order in which they were posted."""
        with self._db.read() as connection:
            return [SlackMessage(*row) for row in connection.execute(sql.OF_RUN, {"the_run": run_id})]

    def _jobs(self, statement: Executable, **values: Any) -> list[Job]:
        with self._db.read() as connection:
            return [Job(*row) for row in connection.execute(statement, values)]


def _add(writer: Writer, new: NewJob) -> Added | Duplicate:
    key = {"team": new.key.team, "channel": new.key.channel, "ts": new.key.ts, "trigger_name": new.key.trigger}
    known = writer.run(sql.SAME_JOB, key | {"event_id": new.event_id}).fetchone()
    if known is not None:
        return Duplicate(known[0])
    ensure_thread(writer, new.thread, new.run.language, new.run.zone)
    writer.run(trace_sql.CREATE_RUN, trace_sql.run_values(new.run))
    values: dict[str, Any] = {
        **key,
        "run_id": new.run.run_id,
        "event_id": new.event_id,
        "thread_ts": new.thread.ts,
        "user_id": new.user_id,
        "reply_to": new.reply_to,
        "details": new.details,
    }
    writer.run(sql.ADD_JOB, values)
    return Added(new.run.run_id)
