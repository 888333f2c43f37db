"""What runs have cost, by day: a workspace's and a person's share."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, Double, bindparam, case, func, insert, select, update

from storage.database import Database
from storage.errors import StorageConflict
from storage.models import agent_step, diagnosis_run
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
# Runs that somebody works on, or has just ended, and that no day is charged with yet. Unanswered jobs are few.
UNDER_WAY = (
    select(
        func.coalesce(func.sum(agent_step.c.token_count), 0),
        func.sum(agent_step.c.cost),
        func.count(job.c.run_id.distinct()),
    )
    .join_from(job, diagnosis_run, job.c.run_id == diagnosis_run.c.run_id)
    .outerjoin(agent_step, agent_step.c.run_id == job.c.run_id)
    .where(
        job.c.team == bindparam("the_team"),
        job.c.answered_at.is_(None),
        job.c.charged_at.is_(None),
        diagnosis_run.c.attempt > 0,
    )
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

    def with_running(self, running: Spent) -> Spent:
        """As if each of `running` had cost what a run of this day costs, or what they have cost already if that is more."""
        ended = max(1, self.runs)
        tokens = max(running.tokens, running.runs * self.tokens // ended)
        costs = [running.cost, None if self.cost is None else running.runs * self.cost / ended]
        more = max((cost for cost in costs if cost is not None), default=None)
        cost = self.cost if more is None else (self.cost or 0.0) + more
        return Spent(self.tokens + tokens, cost, self.runs + running.runs)


@dataclass(frozen=True)
class Ceiling:
    """A day's most; None = no limit. A limit on money holds only where prices are known."""

    tokens: int | None = None
    cost: float | None = None

    @property
    def is_set(self) -> bool:
        return self.tokens is not None or self.cost is not None

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

    def under_way(self, team: str, user_id: str | None = None) -> Spent:
        """What the runs that work now have cost so far: the workspace's, or one person's."""
        query = UNDER_WAY if user_id is None else UNDER_WAY.where(job.c.user_id == user_id)
        with self._db.read() as connection:
            tokens, cost, runs = connection.execute(query, {"the_team": team}).one()
        return Spent(int(tokens), None if cost is None else float(cost), int(runs))

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
