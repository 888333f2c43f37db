"""Votes: one a person and run, the last one wins, and what they come to.

"Last" is by the event's own time, since events come late and in any order. A run's votes are counted under its row's
lock, so that two votes at once cannot count each other out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Select, bindparam, func, insert, select, update

from storage.database import Database
from storage.errors import RunNotFound
from storage.models import diagnosis_run
from storage.models_slack import case_library, feedback, job

Vote = Literal["useful", "not_useful"]
Aggregate = Literal["useful", "not_useful", "mixed"]

row, run = feedback.c, diagnosis_run.c
THIS_RUN = row.run_id == bindparam("the_run")
THIS = (THIS_RUN, row.user_id == bindparam("the_user"))
LOCK = select(run.run_id).where(run.run_id == bindparam("the_run")).with_for_update()
MINE = select(row.vote, row.voted_at).where(*THIS)
VOTES = select(row.run_id, row.user_id, row.vote, row.source, row.reason, row.voted_at).order_by(row.id)
COUNTS = select(row.vote, func.count()).where(row.vote.is_not(None)).group_by(row.vote)


@dataclass(frozen=True)
class Tally:
    """How a run's votes stand. `changed` is False where the vote was there before, or where a newer one stands."""

    useful: int
    not_useful: int
    changed: bool = True

    @property
    def aggregate(self) -> Aggregate | None:
        if self.useful and self.not_useful:
            return "mixed"
        return "useful" if self.useful else "not_useful" if self.not_useful else None

    @property
    def voted_down(self) -> bool:
        """As many find it of no use as find it useful: nobody should be led by it."""
        return self.not_useful > 0 and self.not_useful >= self.useful


@dataclass(frozen=True)
class StoredVote:
    """`vote` is None where it was withdrawn; `reason` is what the person wrote to a not_useful."""

    run_id: str
    user_id: str
    vote: Vote | None
    source: str
    reason: str | None
    voted_at: datetime


class FeedbackStore:
    """The writing methods raise RunNotFound for a run that is gone, and keep diagnosis_run.feedback and the case's
    voted_down equal to the votes."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def vote(self, run_id: str, user_id: str, vote: Vote, source: str, at: datetime) -> Tally:
        """`source` is where it was given (button, reaction); `at` the event's own time."""
        return self._change(run_id, user_id, vote, source, at, withdraws=None)

    def retract(self, run_id: str, user_id: str, vote: Vote, source: str, at: datetime) -> Tally:
        """Take this vote back. A person who has voted otherwise since keeps that."""
        return self._change(run_id, user_id, None, source, at, withdraws=vote)

    def reason(self, run_id: str, user_id: str, text: str) -> None:
        """Why it was not useful. Raises RunNotFound where the person has not voted on this run."""
        change = update(feedback).where(*THIS).values(reason=text)
        values = {"the_run": run_id, "the_user": user_id}
        if not self._db.transact(lambda connection: connection.execute(change, values).rowcount):
            raise RunNotFound(f"There is no vote of {user_id} on run {run_id!r} to explain.")

    def votes(self, run_id: str) -> list[StoredVote]:
        """Withdrawn ones included, in the order in which people voted first."""
        with self._db.read() as connection:
            return [StoredVote(*one) for one in connection.execute(VOTES.where(THIS_RUN), {"the_run": run_id})]

    def tally(self, run_id: str) -> Tally:
        with self._db.read() as connection:
            return tally(connection, run_id, changed=False)

    def rate(self, channels: list[str] | None = None, *, since: datetime | None = None) -> Tally:
        """All votes of these channels (None: of all) since then, added up."""
        query = COUNTS if since is None else COUNTS.where(row.voted_at >= since)
        if channels is not None:
            query = query.join_from(feedback, job, row.run_id == job.c.run_id).where(job.c.channel.in_(channels))
        with self._db.read() as connection:
            return _counted(connection, query, {}, changed=False)

    def _change(
        self, run_id: str, user_id: str, vote: Vote | None, source: str, at: datetime, *, withdraws: Vote | None
    ) -> Tally:
        def work(connection: Connection) -> Tally:
            if connection.execute(LOCK, {"the_run": run_id}).first() is None:
                raise RunNotFound(f"Run {run_id!r} is no longer stored: it cannot be voted on.")
            changed = _store(connection, run_id, user_id, vote, source, at, withdraws)
            return settle(connection, run_id, changed=changed)

        return self._db.transact(work)


def _store(
    connection: Connection,
    run_id: str,
    user_id: str,
    vote: Vote | None,
    source: str,
    at: datetime,
    withdraws: Vote | None,
) -> bool:
    """Whether the person's vote is another one now."""
    who = {"the_run": run_id, "the_user": user_id}
    values = {"vote": vote, "source": source, "voted_at": at}
    stands = connection.execute(MINE, who).first()
    if stands is None:
        connection.execute(insert(feedback).values(run_id=run_id, user_id=user_id, **values))
        return vote is not None
    if at < stands.voted_at or (withdraws is not None and stands.vote not in (withdraws, None)):
        return False
    connection.execute(update(feedback).where(*THIS).values(**values), who)
    return bool(stands.vote != vote)


def settle(connection: Connection, run_id: str, *, changed: bool = True) -> Tally:
    """Bring the run's aggregate and its case into line with the votes, inside a transaction that holds the run's row."""
    found = tally(connection, run_id, changed=changed)
    connection.execute(update(diagnosis_run).where(run.run_id == run_id).values(feedback=found.aggregate))
    case = update(case_library).where(case_library.c.diagnosis_id == run_id)
    connection.execute(case.values(voted_down=found.voted_down))
    return found


def tally(connection: Connection, run_id: str, *, changed: bool) -> Tally:
    return _counted(connection, COUNTS.where(THIS_RUN), {"the_run": run_id}, changed=changed)


def _counted(connection: Connection, query: Select[Any], values: dict[str, str], *, changed: bool) -> Tally:
    counts = {one[0]: one[1] for one in connection.execute(query, values)}
    return Tally(counts.get("useful", 0), counts.get("not_useful", 0), changed)
