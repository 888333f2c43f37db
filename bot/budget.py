"""A day's ceiling for the workspace and for one person, and who has reached it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Literal

from bot.blocks.reader import Reader
from bot.blocks.usage import money
from storage.budget import BudgetStore, Ceiling, Spent, alerts, person, workspace
from storage.jobs import Job
from storage.trace import Run

# A job whose trigger begins so was started by an incident, not by a person.
ALERT_TRIGGER = "alert:"


@dataclass(frozen=True)
class Ceilings:
    workspace: Ceiling = Ceiling()
    person: Ceiling = Ceiling()


@dataclass(frozen=True)
class Refusal:
    """Why a run did not start; stored with the run under `refused`."""

    whose: Literal["workspace", "person"]
    unit: Literal["tokens", "money"]
    used: float
    limit: float

    def stored(self) -> dict[str, object]:
        return asdict(self)


class Budget:
    """Blocking: call it through `Database.call`. Days are UTC days of `clock`."""

    def __init__(self, store: BudgetStore, ceilings: Ceilings, clock: Callable[[], datetime]) -> None:
        self._store, self._ceilings, self._clock = store, ceilings, clock

    def refusal(self, job: Job) -> Refusal | None:
        """None where the run may start. What runs now counts as if it had cost what the day's runs cost."""
        found = None
        if self._ceilings.workspace.is_set:
            found = _reached("workspace", self._ceilings.workspace, self._used(job.team))
        if found is None and job.user_id is not None and self._ceilings.person.is_set:
            found = _reached("person", self._ceilings.person, self._used(job.team, job.user_id))
        return found

    def _used(self, team: str, user_id: str | None = None) -> Spent:
        scope = workspace(team) if user_id is None else person(team, user_id)
        return self._store.spent(self._today(), scope).with_running(self._store.under_way(team, user_id))

    def charge(self, job: Job, run: Run) -> None:
        """Once a run, however often it is asked for."""
        scopes = [workspace(job.team), *([person(job.team, job.user_id)] if job.user_id else [])]
        if job.trigger.startswith(ALERT_TRIGGER):
            scopes.append(alerts(job.team))
        self._store.charge(job.run_id, self._today(), scopes, run.total_token_count or 0, run.cost)

    def _today(self) -> date:
        return self._clock().date()


def refusal_text(stored: Mapping[str, object], reader: Reader) -> str:
    """The words for a stored Refusal."""
    unit, whose = str(stored.get("unit")), str(stored.get("whose"))
    used, limit = (_amount(unit, float(str(stored.get(name, 0))), reader) for name in ("used", "limit"))
    return reader.say("budget_person" if whose == "person" else "budget_workspace", used=used, limit=limit)


def _amount(unit: str, number: float, reader: Reader) -> str:
    if unit == "money":
        return reader.say("amount_money", amount=money(number))
    return reader.say("amount_tokens", count=f"{number:,.0f}")


def _reached(whose: Literal["workspace", "person"], ceiling: Ceiling, spent: Spent) -> Refusal | None:
    if not ceiling.is_reached(spent):
        return None
    if ceiling.tokens is not None and spent.tokens >= ceiling.tokens:
        return Refusal(whose, "tokens", spent.tokens, ceiling.tokens)
    return Refusal(whose, "money", spent.cost or 0.0, ceiling.cost or 0.0)
