"""What is to be looked at again, and when: after a report, or because somebody asked. It survives every restart.

Synchronous: call it through `Database.call` from async code. Leases are on the database's clock.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, and_, bindparam, exists, func, insert, or_, select, update

from storage.database import Database
from storage.errors import StorageConflict
from storage.models_incidents import incident, incident_run
from storage.models_schedule import recheck
from storage.types import InSeconds, UtcDateTime, database_now

row, placed = recheck.c, incident_run.c
# A report that nobody noticed for so long needs no second look any more.
FORGOTTEN_SECONDS = 3_600
AT_A_TIME = 50


@dataclass(frozen=True)
class NewRecheck:
    """`key` makes two wishes the same. `run_id` is the report's, or of what was asked before; `user_id` who asked for it,
    None after a report. `since` is when the first look ended."""

    key: str
    team: str
    channel: str
    thread_ts: str
    run_id: str | None
    user_id: str | None
    since: datetime
    due_at: datetime


@dataclass(frozen=True)
class Recheck:
    """`tries` counts who took it up, this one included: from the second on the thread may know of it already."""

    id: int
    team: str
    channel: str
    thread_ts: str
    run_id: str | None
    user_id: str | None
    since: datetime
    due_at: datetime
    tries: int


UNTAKEN = or_(row.taken_until.is_(None), row.taken_until <= database_now())
OPEN = and_(row.done_at.is_(None), row.due_at <= bindparam("the_now", type_=UtcDateTime), UNTAKEN)
DUE = select(row.id).where(OPEN).order_by(row.due_at, row.id).limit(AT_A_TIME)
TAKE = (
    update(recheck)
    .where(row.id == bindparam("the_id"), OPEN)
    .values(taken_by=bindparam("the_owner"), taken_until=InSeconds(bindparam("for_seconds")), tries=row.tries + 1)
)
ONE = select(*(row[field.name] for field in fields(Recheck))).where(row.id == bindparam("the_id"))
DONE = update(recheck).where(row.id == bindparam("the_id")).values(done_at=database_now(), outcome=bindparam("the_outcome"))
REPORTED = (
    select(placed.run_id, placed.ended_at, incident.c.team, incident.c.channel, incident.c.root_ts)
    .join_from(incident_run, incident, incident.c.incident_id == placed.incident_id)
    .where(
        placed.ended_at > InSeconds(-FORGOTTEN_SECONDS),
        placed.verdict.is_not(None),
        incident.c.status == "open",
        ~exists().where(row.run_id == placed.run_id, row.user_id.is_(None)),
    )
)


class RecheckStore:
    """All methods raise StorageUnavailable where the database is away."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, new: NewRecheck) -> bool:
        """False where it was wished for before."""
        values = {field.name: getattr(new, field.name) for field in fields(new) if field.name != "key"}
        made = insert(recheck).values(recheck_key=new.key, tries=0, **values)
        try:
            self._db.transact(lambda connection: connection.execute(made))
        except StorageConflict:
            return False
        return True

    def follow_reports(self, after: timedelta) -> int:
        """One for each report on an incident that is still open and has none; how many were made."""
        with self._db.read() as connection:
            reported = list(connection.execute(REPORTED))
        return sum(
            self.add(NewRecheck(f"run:{run_id}", team, channel, ts, run_id, None, ended_at, ended_at + after))
            for run_id, ended_at, team, channel, ts in reported
        )

    def take_due(self, now: datetime, owner: str, seconds: float) -> list[Recheck]:
        """Those that are due by `now` and that nobody has in hand; they are ours for so many seconds."""
        with self._db.read() as connection:
            ids = list(connection.execute(DUE, {"the_now": now}).scalars())
        values = {"the_now": now, "the_owner": owner, "for_seconds": seconds}
        found = (self._taken(values | {"the_id": one}) for one in ids)
        return [one for one in found if one is not None]

    def _taken(self, values: dict[str, Any]) -> Recheck | None:
        """None where another was first."""

        def work(connection: Connection) -> Recheck | None:
            if not connection.execute(TAKE, values).rowcount:
                return None
            return Recheck(*connection.execute(ONE, {"the_id": values["the_id"]}).one())

        return self._db.transact(work)

    def done(self, recheck_id: int, outcome: str) -> None:
        """`outcome` in a word: firing, over, open, asked, silent …"""
        values = {"the_id": recheck_id, "the_outcome": outcome}
        self._db.transact(lambda connection: connection.execute(DONE, values))

    def waiting(self) -> tuple[int, datetime | None]:
        """How many wait, and when the next is due."""
        with self._db.read() as connection:
            found = connection.execute(select(func.count(), func.min(row.due_at)).where(row.done_at.is_(None))).one()
        return int(found[0]), found[1]
