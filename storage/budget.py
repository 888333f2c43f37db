"""What runs have cost, by day: a workspace's and a person's share."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, Double, bindparam, case, func, insert, select, update

from storage.database import Database
from storage.errors import StorageConflict
from storage.models_slack import budget, job
from storage.types import database_now

row = budget.c
PRICE = bindparam("more_cost", type_=Double)
ADD = (
    update(budget)
    .where(row.day == bindparam("the_day"), row.scope == bindparam("the_scope"))
    .values(
        tokens=row.tokens + bindparam("more_tokens"),
        cost=case((PRICE.is_(None), row.cost), else_=func.coalesce(row.cost, 0.0) + PRICE),
        runs=row.runs + 1,
    )
)
SPENT = select(row.tokens, row.cost, row.runs).where(row.day == bindparam("the_day"), row.scope == bindparam("the_scope"))
CHARGE = (
    update(job)
    .where(job.c.run_id == bindparam("the_run"), job.c.charged_at.is_(None))
    .values(charged_at=database_now())
)


def workspace(team: str) -> str:
    """The scope of all that a workspace spends."""
    return f"workspace:{team}"


def person(team: str, user_id: str) -> str:
    """The scope of what one person spends."""
    return f"person:{team}:{user_id}"


def alerts(team: str) -> str:
    """The scope of what a workspace's alerts spend, people's questions set aside."""
    return f"alerts:{team}"


@dataclass(frozen=True)
class Spent:
    """`cost` None = no price is known, never 0.00."""

    tokens: int = 0
    cost: float | None = None
    runs: int = 0


@dataclass(frozen=True)
class Ceiling:
    """A day's most; None = no limit. A limit on money holds only where prices are known."""

    tokens: int | None = None
    cost: float | None = None

    def is_reached(self, spent: Spent) -> bool:
        over_tokens = self.tokens is not None and spent.tokens >= self.tokens
        return over_tokens or (self.cost is not None and spent.cost is not None and spent.cost >= self.cost)


class BudgetStore:
    def __init__(self, db: Database) -> None:
        self._db = db

    def spend(self, day: date, scope: str, tokens: int, cost: float | None) -> None:
        """Add one run's share; many may add at once."""
        self.make_row(day, scope)
        self._db.transact(lambda connection: _add(connection, day, scope, tokens, cost))

    def charge(self, run_id: str, day: date, scopes: Collection[str], tokens: int, cost: float | None) -> bool:
        """Add a job's run to these scopes, once however often it is asked for; False where that was done before."""

        def work(connection: Connection) -> bool:
            if not connection.execute(CHARGE, {"the_run": run_id}).rowcount:
                return False
            # In one order everywhere: two runs that lock the same rows crosswise would wait for each other.
            for scope in sorted(scopes):
                _add(connection, day, scope, tokens, cost)
            return True

        for scope in scopes:
            self.make_row(day, scope)
        return self._db.transact(work)

    def spent(self, day: date, scope: str) -> Spent:
        with self._db.read() as connection:
            found = connection.execute(SPENT, {"the_day": day.isoformat(), "the_scope": scope}).first()
        return Spent() if found is None else Spent(*found)

    def make_row(self, day: date, scope: str) -> None:
        """The row to add to, made by whoever comes first."""
        with self._db.read() as connection:
            if connection.execute(SPENT, {"the_day": day.isoformat(), "the_scope": scope}).first() is not None:
                return
        new = insert(budget).values(day=day.isoformat(), scope=scope, tokens=0, runs=0)
        with suppress(StorageConflict):
            self._db.transact(lambda connection: connection.execute(new))


def _add(connection: Connection, day: date, scope: str, tokens: int, cost: float | None) -> None:
    where = {"the_day": day.isoformat(), "the_scope": scope}
    connection.execute(ADD, where | {"more_tokens": tokens, "more_cost": cost})
