"""The tables of the schedule: who leads, which slots were fired, and what is to be looked at again."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, String, UniqueConstraint

from storage.types import BigKey, LongText, UtcDateTime, table

# Who fires; it spares the others the work. What makes a slot fire once is its own key below.
schedule_lease = table(
    "schedule_lease",
    Column("name", String(64), primary_key=True),
    Column("owner", String(128), nullable=False),
    # Counts up with each change of owner.
    Column("epoch", BigKey, nullable=False, autoincrement=False),
    Column("expires_at", UtcDateTime, nullable=False),
)

# Written before the work: a slot is fired at most once, whatever happens to its process.
schedule_slot = table(
    "schedule_slot",
    Column("job", String(128), primary_key=True),
    Column("slot", UtcDateTime, primary_key=True),
    Column("fired_by", String(128), nullable=False),
    Column("fired_at", UtcDateTime, nullable=False),
    Column("ended_at", UtcDateTime),
    Column("outcome", LongText),
    Index(None, "slot"),
)

recheck = table(
    "recheck",
    Column("id", BigKey, primary_key=True),
    # What makes two wishes the same: a report's run, or the message that asked.
    Column("recheck_key", String(128), nullable=False),
    Column("team", String(32), nullable=False),
    Column("channel", String(32), nullable=False),
    Column("thread_ts", String(32), nullable=False),
    # No foreign key: a run that is deleted takes its re-check along.
    Column("run_id", String(64)),
    Column("user_id", String(32)),
    Column("since", UtcDateTime, nullable=False),
    Column("due_at", UtcDateTime, nullable=False),
    Column("taken_by", String(128)),
    Column("taken_until", UtcDateTime),
    Column("tries", Integer, nullable=False),
    Column("done_at", UtcDateTime),
    Column("outcome", String(64)),
    UniqueConstraint("recheck_key"),
    Index(None, "done_at", "due_at"),
    Index(None, "run_id"),
)
