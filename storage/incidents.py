"""Incidents: groups of alerts that one run triages, how far they are, and what their threads show.

Synchronous: call it through `Database.call` from async code. What posts say has the posts' own time; leases and places
in the budget are on the database's clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Executable, Update

from storage import incidents_sql as sql
from storage.channels import hold_channel, make_channel
from storage.database import Database
from storage.incident_book import Book, incident_of
from storage.incident_records import Incident, StoredAlert
from storage.models_incidents import alert

T = TypeVar("T")
__all__ = ["Book", "Incident", "IncidentStore", "StoredAlert"]


class _UnknownChannel(Exception):
    """Nothing was ever decided there."""


class IncidentStore:
    """All methods raise StorageUnavailable where the database is away."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def decide(self, team: str, channel: str, work: Callable[[Book], T]) -> T:
        """`work` in one transaction that holds the channel: two processes never decide about one channel at once. It
        may be repeated whole, so it must not keep state."""

        def held(connection: Connection) -> T:
            if not hold_channel(connection, team, channel):
                raise _UnknownChannel
            return work(Book(connection, team, channel))

        try:
            return self._db.transact(held)
        except _UnknownChannel:
            make_channel(self._db, team, channel)
            return self._db.transact(held)

    # ---------------------------------------------------------------- its run

    def due(self, now_limit: datetime) -> list[Incident]:
        """Open ones whose run may start by then and has not, the most severe first; also those whose place in the budget
        was taken a minute ago for a run that nobody made."""
        return self._incidents(sql.DUE, the_limit=now_limit)

    def attach_run(self, incident_id: str, occurrence: int, run_id: str) -> bool:
        """The occurrence's run; False where it has one, is over, or is another by now: then start none."""
        return self._db.transact(lambda connection: attach(connection, incident_id, occurrence, run_id))

    def skipped(self, incident_id: str, occurrence: int, reason: str) -> bool:
        """There is no run, for this reason (a code of bot/triaging/budget.py); its thread says so. False where there is a
        run already, or another occurrence."""
        return self._change(sql.SKIP, incident_id, the_occurrence=occurrence, the_reason=reason)

    def give_back(self, run_id: str, reason: str | None) -> None:
        """The run that a place was taken for is not made, for this reason; None where its incident needs none any more."""

        def work(connection: Connection) -> None:
            if connection.execute(sql.GIVE_BACK, {"the_run": run_id, "the_reason": reason}).rowcount:
                connection.execute(sql.GIVEN_BACK, {"the_run": run_id})

        self._db.transact(work)

    def waits(self, incident_id: str, occurrence: int, position: int) -> bool:
        """Its place in the line for the thread to show; False where that is what stands there."""
        return self._change(sql.QUEUE, incident_id, the_occurrence=occurrence, the_position=position)

    def ended(self, run_id: str, verdict: str | None) -> None:
        """Its run is over. Where another run is on the incident by now, that one's verdict counts."""

        def work(connection: Connection) -> None:
            values = {"the_run": run_id, "the_verdict": verdict}
            if connection.execute(sql.END_PLACE, values).rowcount:
                connection.execute(sql.END, values)

        self._db.transact(work)

    def leave(self, limit: datetime) -> int:
        """Open ones of which nothing was heard since then are taken as over when they were heard of last; how many."""
        return self._db.transact(lambda connection: connection.execute(sql.LEAVE, {"the_limit": limit}).rowcount)

    def unended(self, quiet_seconds: float) -> list[tuple[str, str | None]]:
        """(run, verdict) of runs that ended so long ago, or are gone, and whose incident does not know it."""
        with self._db.read() as connection:
            found = connection.execute(sql.UNENDED, {"since_seconds": -quiet_seconds})
            return [(run_id, verdict) for run_id, verdict in found]

    # ---------------------------------------------------------------- reading

    def get(self, incident_id: str) -> Incident | None:
        return self._first(sql.ONE, the_incident=incident_id)

    def of_thread(self, team: str, channel: str, ts: str) -> Incident | None:
        """The incident whose thread this is; the latest where it has had several."""
        return self._first(sql.OF_THREAD, the_team=team, the_channel=channel, the_ts=ts)

    def of_run(self, run_id: str) -> Incident | None:
        """Also of a run of an earlier occurrence."""
        return self._first(sql.OF_RUN, the_run=run_id)

    def open(self, channel: str | None = None) -> list[Incident]:
        """Oldest first."""
        return self._incidents(sql.OPEN if channel is None else sql.OPEN.where(sql.row.channel == channel))

    def alerts_of(self, incident_id: str) -> list[StoredAlert]:
        """The one to stay on first, then those that fire before those that are over, in the order in which they came.
        bot/incidents/intake.py gives them as Alerts."""
        of_incident = sql.ALERTS.where(alert.c.incident_id == incident_id).order_by(alert.c.id)
        one = self.get(incident_id)
        with self._db.read() as connection:
            found = [StoredAlert(*values) for values in connection.execute(of_incident)]
        lead = "" if one is None else one.lead
        return sorted(found, key=lambda each: (each.fingerprint != lead, not each.is_firing))

    # ---------------------------------------------------------------- telling

    def dirty(self, limit: int) -> list[Incident]:
        """Those whose threads are behind and that nobody is telling, the most severe first."""
        return self._incidents(sql.DIRTY, the_limit=limit)

    def take_telling(self, incident_id: str, owner: str, seconds: float) -> Incident | None:
        """Become, or stay, the one who tells its thread; None where another does or there is nothing to tell. The
        incident as it is now."""
        taken = self._change(sql.TAKE_TELLING, incident_id, the_owner=owner, for_seconds=seconds)
        return self.get(incident_id) if taken else None

    def note_told(self, incident_id: str, owner: str, shown: Mapping[str, Any]) -> bool:
        """What its thread shows by now, in the middle of telling; False where another has taken over."""
        return self._change(sql.NOTE_TOLD, incident_id, the_owner=owner, the_shown=dict(shown))

    def told(
        self, incident_id: str, owner: str, shown: Mapping[str, Any], changes: int, rest_seconds: float = 0.0
    ) -> bool:
        """Its thread shows `shown`, made of the incident after so many `changes`; what changed since is told after
        `rest_seconds`. False where another has taken over."""
        values = {"the_owner": owner, "the_shown": dict(shown), "the_changes": changes, "for_seconds": rest_seconds}
        return self._change(sql.TOLD, incident_id, **values)

    def let_go(self, incident_id: str, owner: str, rest_seconds: float = 0.0) -> None:
        """Give the telling up for now; nobody tells it for `rest_seconds`."""
        self._change(sql.LET_GO, incident_id, the_owner=owner, for_seconds=rest_seconds)

    # ---------------------------------------------------------------- helpers

    def _change(self, statement: Update, incident_id: str, **values: Any) -> bool:
        bound = {"the_incident": incident_id, **values}
        return bool(self._db.transact(lambda connection: connection.execute(statement, bound).rowcount))

    def _first(self, query: Executable, **values: Any) -> Incident | None:
        found = self._incidents(query, **values)
        return found[0] if found else None

    def _incidents(self, query: Executable, **values: Any) -> list[Incident]:
        with self._db.read() as connection:
            return [incident_of(each) for each in connection.execute(query, values)]


def attach(connection: Connection, incident_id: str, occurrence: int, run_id: str) -> bool:
    """`attach_run` inside a transaction."""
    values = {"the_incident": incident_id, "the_occurrence": occurrence, "the_run": run_id}
    if not connection.execute(sql.ATTACH, values).rowcount:
        return False
    found = connection.execute(sql.ONE, {"the_incident": incident_id}).one()
    one = incident_of(found)
    place = {"run_id": run_id, "incident_id": incident_id, "occurrence": occurrence}
    connection.execute(sql.PLACE, place | {"team": one.team, "severity": one.severity})
    return True
