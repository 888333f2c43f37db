"""The schedule's leader and its slots. Synchronous: call it through `Database.call` from async code.

The lease is on the database's clock. A leader that was paused may still believe in it: what makes a slot fire once is
its primary key, written before the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, bindparam, case, func, insert, or_, select, update

from storage.database import Database
from storage.errors import StorageConflict
from storage.models_schedule import schedule_lease, schedule_slot
from storage.types import InSeconds, UtcDateTime, database_now

lease, slot_row = schedule_lease.c, schedule_slot.c
OURS = lease.owner == bindparam("the_owner")
# In MySQL an assignment sees those before it: the epoch must still see the old owner.
HOLD = (
    update(schedule_lease)
    .where(lease.name == bindparam("the_name"), or_(OURS, lease.expires_at <= database_now()))
    .ordered_values(
        (lease.epoch, lease.epoch + case((OURS, 0), else_=1)),
        (lease.owner, bindparam("the_owner")),
        (lease.expires_at, InSeconds(bindparam("for_seconds"))),
    )
)
BEGIN_LEASE = insert(schedule_lease).values(
    name=bindparam("the_name"), owner=bindparam("the_owner"), epoch=1, expires_at=InSeconds(bindparam("for_seconds"))
)
LET_GO = update(schedule_lease).where(lease.name == bindparam("the_name"), OURS).values(expires_at=database_now())
LEADER = select(lease.owner, lease.epoch, lease.expires_at, lease.expires_at > database_now())

THE_SLOT = (
    slot_row.job == bindparam("the_job"),
    slot_row.slot == bindparam("the_slot", type_=UtcDateTime),
)
BEGIN = insert(schedule_slot).values(fired_at=database_now())
END = update(schedule_slot).where(*THE_SLOT).values(ended_at=database_now(), outcome=bindparam("the_outcome"))
SLOTS = select(
    slot_row.job, slot_row.slot, slot_row.fired_by, slot_row.fired_at, slot_row.ended_at, slot_row.outcome
)


@dataclass(frozen=True)
class Leader:
    """`is_live`: its lease has not run out."""

    owner: str
    epoch: int
    expires_at: datetime
    is_live: bool


@dataclass(frozen=True)
class FiredSlot:
    """`slot` is when the job was to be fired, `outcome` what came of it in a few words; None while it works, or where its
    process died."""

    job: str
    slot: datetime
    fired_by: str
    fired_at: datetime
    ended_at: datetime | None
    outcome: str | None


class ScheduleStore:
    """All methods raise StorageUnavailable where the database is away."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # ---------------------------------------------------------------- who leads

    def hold(self, name: str, owner: str, seconds: float) -> bool:
        """Become, or stay, the one who leads for so many seconds; False where another does."""
        values = {"the_name": name, "the_owner": owner, "for_seconds": seconds}
        if self._db.transact(lambda connection: connection.execute(HOLD, values).rowcount):
            return True
        if self.leader(name) is not None:
            return False
        try:
            self._db.transact(lambda connection: connection.execute(BEGIN_LEASE, values))
        except StorageConflict:  # another was first
            return False
        return True

    def let_go(self, name: str, owner: str) -> None:
        """Lead no longer, so that another need not wait for the lease to run out."""
        values = {"the_name": name, "the_owner": owner}
        self._db.transact(lambda connection: connection.execute(LET_GO, values))

    def leader(self, name: str) -> Leader | None:
        with self._db.read() as connection:
            found = connection.execute(LEADER.where(lease.name == name)).first()
        return None if found is None else Leader(found[0], found[1], found[2], bool(found[3]))

    # ---------------------------------------------------------------- slots

    def begin(self, job: str, slot: datetime, owner: str) -> bool:
        """Take the slot before its work; False where somebody did."""
        values = {"job": job, "slot": slot, "fired_by": owner}
        try:
            self._db.transact(lambda connection: connection.execute(BEGIN, values))
        except StorageConflict:
            return False
        return True

    def ended(self, job: str, slot: datetime, outcome: str) -> None:
        values = {"the_job": job, "the_slot": slot, "the_outcome": outcome}
        self._db.transact(lambda connection: connection.execute(END, values))

    def slot(self, job: str, slot: datetime) -> FiredSlot | None:
        with self._db.read() as connection:
            found = connection.execute(SLOTS.where(*THE_SLOT), {"the_job": job, "the_slot": slot}).first()
        return None if found is None else FiredSlot(*found)

    def before(self, job: str, slot: datetime) -> FiredSlot | None:
        """The job's slot before this one."""
        query = SLOTS.where(slot_row.job == job, slot_row.slot < slot).order_by(slot_row.slot.desc()).limit(1)
        with self._db.read() as connection:
            found = connection.execute(query).first()
        return None if found is None else FiredSlot(*found)

    def last(self) -> dict[str, FiredSlot]:
        """The latest slot of each job."""
        latest = select(slot_row.job, func.max(slot_row.slot).label("slot")).group_by(slot_row.job).subquery()
        query = SLOTS.join(latest, and_(slot_row.job == latest.c.job, slot_row.slot == latest.c.slot))
        with self._db.read() as connection:
            return {one[0]: FiredSlot(*one) for one in connection.execute(query)}
