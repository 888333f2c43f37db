"""Places for alert runs: how many run, how many ran this hour, what the day cost; and taking one, one taker at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, select

from storage import incidents_sql as sql
from storage.budget import BudgetStore, Spent, alerts, workspace
from storage.database import Database
from storage.incidents import attach
from storage.models_slack import budget

HOUR_SECONDS = 3_600
row = budget.c


@dataclass(frozen=True)
class Load:
    """`running`: alert runs that wait or work, whose cost is not counted in `alerts` yet; `hour`: those that were begun
    within the last hour."""

    running: int
    hour: int
    alerts: Spent
    workspace: Spent


class AlertPlaces:
    """Raises StorageUnavailable where the database is away."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._budget = BudgetStore(db)

    def load(self, team: str, day: date) -> Load:
        with self._db.read() as connection:
            return _load(connection, team, day)

    def take(
        self, incident_id: str, occurrence: int, run_id: str, team: str, day: date, allows: Callable[[Load], bool]
    ) -> bool | None:
        """Attach the run where `allows` says so of the load as it is. None where it does not; False where the incident needs
        no run any more. Two processes never count the same free place."""

        def work(connection: Connection) -> bool | None:
            held = select(row.runs).where(row.day == day.isoformat(), row.scope == alerts(team)).with_for_update()
            connection.execute(held).first()
            wanted = {"the_incident": incident_id, "the_occurrence": occurrence}
            if connection.execute(sql.MAY, wanted).first() is None:
                return False
            if not allows(_load(connection, team, day)):
                return None
            return attach(connection, incident_id, occurrence, run_id)

        self._budget.make_row(day, alerts(team))
        return self._db.transact(work)


def _load(connection: Connection, team: str, day: date) -> Load:
    running = connection.execute(sql.RUNNING, {"the_team": team}).scalar_one()
    hour = connection.execute(sql.PLACED_SINCE, {"the_team": team, "since_seconds": -HOUR_SECONDS}).scalar_one()
    return Load(running, hour, _spent(connection, day, alerts(team)), _spent(connection, day, workspace(team)))


def _spent(connection: Connection, day: date, scope: str) -> Spent:
    found = select(row.tokens, row.cost, row.runs).where(row.day == day.isoformat(), row.scope == scope)
    values = connection.execute(found).first()
    return Spent() if values is None else Spent(*values)
