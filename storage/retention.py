"""Deletion by command: what is too old, one run, or everything of a person. Cases that a person edited stay.

In batches of runs, each a transaction in the order of the foreign keys: a crash leaves whole runs, and doing it again
goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Select,
    String,
    and_,
    delete,
    exists,
    func,
    or_,
    select,
    type_coerce,
    update,
)

from storage.database import Database
from storage.errors import RunNotFound
from storage.feedback import LOCK, settle
from storage.models import agent_step, chat_session, diagnosis_run, tool_invocation
from storage.models_incidents import alert, change_event, channel_watch, incident, incident_run
from storage.models_schedule import recheck, schedule_slot
from storage.models_slack import budget, case_library, feedback, frozen_scenario, job, slack_event, slack_message

BATCH = 100
ENDED = diagnosis_run.c.status.not_in(["QUEUED", "RUNNING"])
GONE = "deleted"


@dataclass(frozen=True)
class Purged:
    """Rows deleted. `case_ids` are the cases that went: they must leave the search as well."""

    runs: int = 0
    sessions: int = 0
    steps: int = 0
    invocations: int = 0
    jobs: int = 0
    messages: int = 0
    votes: int = 0
    cases: int = 0
    scenarios: int = 0
    events: int = 0
    budget_days: int = 0
    incidents: int = 0
    alerts: int = 0
    changes: int = 0
    rechecks: int = 0
    slots: int = 0
    case_ids: tuple[str, ...] = ()


class Retention:
    def __init__(self, db: Database) -> None:
        self._db = db

    def purge_before(self, before: datetime) -> Purged:
        """Everything older, runs by when they ended. What waits or runs stays, however old."""
        old = select(diagnosis_run.c.run_id).where(ENDED, diagnosis_run.c.finished_at < before)
        purged = self._purge_runs(old, keep_scenarios=True)
        purged += self._db.transact(lambda connection: _purge_old(connection, before))
        return _result(purged)

    def ended_before(self, before: datetime) -> int:
        """How many runs purge_before would delete."""
        count = select(func.count()).select_from(diagnosis_run).where(ENDED, diagnosis_run.c.finished_at < before)
        with self._db.read() as connection:
            return int(connection.execute(count).scalar_one())

    def purge_run(self, run_id: str) -> Purged:
        """One run, also a running one: its worker learns it at its next write. Raises RunNotFound."""
        purged = self._purge_runs(select(diagnosis_run.c.run_id).where(diagnosis_run.c.run_id == run_id))
        if not purged.total:
            raise RunNotFound(f"No run {run_id!r} is stored in {self._db.shown_url}.")
        return _result(purged)

    def purge_user(self, user_id: str) -> Purged:
        """The runs that this person asked for, their votes, what they spent, and their name wherever it stands."""
        purged = self._purge_runs(select(job.c.run_id).where(job.c.user_id == user_id))
        purged += self._purge_votes(user_id)
        purged += self._db.transact(lambda connection: _forget_person(connection, user_id))
        return _result(purged)

    def _purge_runs(self, which: Select[Any], *, keep_scenarios: bool = False) -> _Count:
        total = _Count()
        while True:
            with self._db.read() as connection:
                run_ids = list(connection.execute(which.limit(BATCH)).scalars())
            if not run_ids:
                return total
            total += self._db.transact(partial(_purge_runs, run_ids=run_ids, keep_scenarios=keep_scenarios))

    def _purge_votes(self, user_id: str) -> _Count:
        with self._db.read() as connection:
            mine = select(feedback.c.run_id).where(feedback.c.user_id == user_id)
            run_ids = list(connection.execute(mine).scalars())

        total = _Count()
        for run_id in run_ids:
            total.add("votes", self._db.transact(partial(_purge_vote, run_id=run_id, user_id=user_id)))
        return total


class _Count:
    """Rows by name, and the ids of cases."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()
        self.case_ids: tuple[str, ...] = ()

    def add(self, name: str, count: int) -> None:
        self.rows[name] += count

    @property
    def total(self) -> int:
        return self.rows.total()

    def __add__(self, other: _Count) -> _Count:
        made = _Count()
        made.rows = self.rows + other.rows
        made.case_ids = self.case_ids + other.case_ids
        return made


def _result(count: _Count) -> Purged:
    known = {field.name for field in fields(Purged)}
    return Purged(**{name: rows for name, rows in count.rows.items() if name in known}, case_ids=count.case_ids)


def _purge_runs(connection: Connection, run_ids: Sequence[str], keep_scenarios: bool) -> _Count:
    run = diagnosis_run.c
    # Locked, so that no vote and no message of these runs comes in between.
    rows = connection.execute(select(run.session_id).where(run.run_id.in_(run_ids)).with_for_update())
    session_ids = set(rows.scalars())
    count = _Count()
    count.case_ids = _purge_cases(connection, run_ids)
    count.add("cases", len(count.case_ids))
    for name, statement in _deletions(run_ids, keep_scenarios):
        count.add(name, connection.execute(statement).rowcount)
    count.add("sessions", _purge_empty_sessions(connection, chat_session.c.session_id.in_(session_ids)))
    return count


def _purge_empty_sessions(connection: Connection, which: ColumnElement[bool]) -> int:
    empty = ~exists().where(diagnosis_run.c.session_id == chat_session.c.session_id)
    return connection.execute(delete(chat_session).where(which, empty)).rowcount


def _purge_cases(connection: Connection, run_ids: Sequence[str]) -> tuple[str, ...]:
    columns = case_library.c
    going = and_(columns.diagnosis_id.in_(run_ids), columns.source_type != "EDITED")
    case_ids = tuple(connection.execute(select(columns.case_id).where(going)).scalars())
    connection.execute(delete(case_library).where(going))
    return case_ids


def _deletions(run_ids: Sequence[str], keep_scenarios: bool) -> list[tuple[str, Delete]]:
    """In the order of the foreign keys. A scenario lives as long as its case where age alone is the reason."""
    scenarios = delete(frozen_scenario).where(frozen_scenario.c.run_id.in_(run_ids))
    if keep_scenarios:
        scenarios = scenarios.where(~exists().where(case_library.c.diagnosis_id == frozen_scenario.c.run_id))
    tables = (
        ("rechecks", recheck),
        ("messages", slack_message),
        ("votes", feedback),
        ("jobs", job),
        ("invocations", tool_invocation),
        ("steps", agent_step),
        ("runs", diagnosis_run),
    )
    return [("scenarios", scenarios), *((name, delete(one).where(one.c.run_id.in_(run_ids))) for name, one in tables)]


def _purge_vote(connection: Connection, run_id: str, user_id: str) -> int:
    connection.execute(LOCK, {"the_run": run_id})
    count = connection.execute(delete(feedback).where(feedback.c.run_id == run_id, feedback.c.user_id == user_id)).rowcount
    settle(connection, run_id)
    return count


def _purge_old(connection: Connection, before: datetime) -> _Count:
    """What hangs on no run: incidents, posted changes, keys of events, days of spending, threads where nothing was
    asked, and what the schedule has done."""
    count = _Count()
    _purge_incidents(connection, before, count)
    changes = delete(change_event).where(change_event.c.happened_at < before)
    count.add("changes", connection.execute(changes).rowcount)
    count.add("events", connection.execute(delete(slack_event).where(slack_event.c.seen_at < before)).rowcount)
    looked = delete(recheck).where(recheck.c.due_at < before)
    count.add("rechecks", connection.execute(looked).rowcount)
    count.add("slots", connection.execute(delete(schedule_slot).where(schedule_slot.c.slot < before)).rowcount)
    days = delete(budget).where(budget.c.day < before.date().isoformat())
    count.add("budget_days", connection.execute(days).rowcount)
    count.add("sessions", _purge_empty_sessions(connection, chat_session.c.joined_at < before))
    return count


def _purge_incidents(connection: Connection, before: datetime, count: _Count) -> None:
    """Those that nothing was said of since, open or not, with their alerts."""
    old = select(incident.c.incident_id).where(incident.c.last_seen_at < before)
    ids = list(connection.execute(old.with_for_update()).scalars())
    for start in range(0, len(ids), BATCH):
        some = ids[start : start + BATCH]
        connection.execute(delete(incident_run).where(incident_run.c.incident_id.in_(some)))
        count.add("alerts", connection.execute(delete(alert).where(alert.c.incident_id.in_(some))).rowcount)
        count.add("incidents", connection.execute(delete(incident).where(incident.c.incident_id.in_(some))).rowcount)


def _forget_person(connection: Connection, user_id: str) -> _Count:
    session = chat_session.c
    like = type_coerce(session.speakers, String).contains(f'"{user_id}"', autoescape=True)
    heard = or_(session.addressed_by == user_id, like)
    unknown = {"addressed_by": None, "addressed_at": None, "speakers": None}
    connection.execute(update(chat_session).where(heard).values(unknown))
    for column in (case_library.c.created_by, case_library.c.retracted_by):
        connection.execute(update(case_library).where(column == user_id).values({column: GONE}))
    connection.execute(update(channel_watch).where(channel_watch.c.changed_by == user_id).values(changed_by=GONE))
    looked = connection.execute(delete(recheck).where(recheck.c.user_id == user_id)).rowcount
    days = delete(budget).where(budget.c.scope.like("person:%"), budget.c.scope.endswith(f":{user_id}", autoescape=True))
    count = _Count()
    count.add("rechecks", looked)
    count.add("budget_days", connection.execute(days).rowcount)
    return count
