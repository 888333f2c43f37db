"""What alerts may use: runs at once and an hour, tokens and money a day, with a reserve for people and for critical alerts.

Whatever is not run has a reason that its thread shows (bot/blocks/reasons.py): nothing is dropped without a word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from storage.alert_places import AlertPlaces, Load
from storage.budget import Ceiling
from storage.database import Database
from storage.incidents import Incident, IncidentStore

# A quarter of an hour in the line, and a warning is old news.
LONGEST_WAIT = timedelta(minutes=15)
MOST_KEPT = 10_000


@dataclass(frozen=True)
class AlertLimits:
    """None = no limit. `day` is the alerts' own day, `whole_day` the workspace's. Of each, the share `reserve` is kept: of the
    alerts' for critical ones, of the workspace's for people. `run_tokens` and `run_cost` are what a run may cost at most."""

    at_once: int = 2
    per_hour: int | None = 30
    day: Ceiling = Ceiling()
    whole_day: Ceiling = Ceiling()
    reserve: float = 0.3
    run_tokens: int = 60_000
    run_cost: float | None = None


@dataclass(frozen=True)
class Placing:
    """`start`: the run has its place and is to be made now; `wait`: the incident is due again, and its place in the line is noted;
    `skip`: it was noted that there is no run, and `reason` says why; `over`: another process has it, or it has ended."""

    what: Literal["start", "wait", "skip", "over"]
    reason: str | None = None


class AlertBudget:
    """Blocking: call it through `Database.call`. Days are UTC days of `clock`."""

    def __init__(self, db: Database, limits: AlertLimits, clock: Callable[[], datetime]) -> None:
        self._places, self._incidents = AlertPlaces(db), IncidentStore(db)
        self._limits, self._clock = limits, clock
        # Since when each has waited, as this process saw it: a post may be heard of long after it was made.
        self._waiting: dict[tuple[str, int], datetime] = {}

    def admit(self, incident: Incident, run_id: str, *, position: int = 1) -> Placing:
        """Decide about a due incident, and carry the decision out: the run is attached, or the place in the line or the
        reason is noted for its thread. What runs now counts as if it had cost what such runs cost."""
        found: list[str | None] = []

        def allows(load: Load) -> bool:
            found[:] = [obstacle(incident.severity, load, self._limits)]
            return found[0] is None

        now = self._clock()
        taken = self._places.take(incident.incident_id, incident.occurrence, run_id, incident.team, now.date(), allows)
        if taken is None and found[0] == "at_once" and not self._waits_too_long(incident, now):
            self._incidents.waits(incident.incident_id, incident.occurrence, position)
            return Placing("wait")
        self._waiting.pop((incident.incident_id, incident.occurrence), None)
        if taken is not None:
            return Placing("start" if taken else "over")
        return self._skip(incident, f"{found[0]}:{incident.severity or 'unknown'}")

    def left(self, team: str) -> Load:
        """How much is used."""
        return self._places.load(team, self._clock().date())

    def _skip(self, incident: Incident, reason: str) -> Placing:
        noted = self._incidents.skipped(incident.incident_id, incident.occurrence, reason)
        return Placing("skip", reason=reason) if noted else Placing("over")

    def _waits_too_long(self, incident: Incident, now: datetime) -> bool:
        since = self._waiting.setdefault((incident.incident_id, incident.occurrence), now)
        if len(self._waiting) > MOST_KEPT:
            self._waiting = {key: at for key, at in self._waiting.items() if now - at <= 2 * LONGEST_WAIT}
        return incident.severity != "critical" and now - since > LONGEST_WAIT


def obstacle(severity: str | None, load: Load, limits: AlertLimits) -> str | None:
    """Why a run for an alert of this severity may not start: hour, tokens, money, people_tokens, people_money, or at_once, which
    passes by itself. None where it may."""
    share = 1.0 if severity == "critical" else 1.0 - limits.reserve
    if limits.per_hour is not None and load.hour >= max(1, int(limits.per_hour * share)):
        return "hour"
    for name, ceiling, spent, part in (
        ("", limits.day, load.alerts, share),
        ("people_", limits.whole_day, load.workspace, 1.0 - limits.reserve),
    ):
        if ceiling.tokens is not None and spent.tokens + load.running * _tokens(load, limits) >= ceiling.tokens * part:
            return f"{name}tokens"
        if ceiling.cost is not None and (spent.cost or 0.0) + load.running * _cost(load, limits) >= ceiling.cost * part:
            return f"{name}money"
    return "at_once" if load.running >= max(1, int(limits.at_once * share + 0.5)) else None


def _tokens(load: Load, limits: AlertLimits) -> float:
    """What a run costs: as the day's did so far, else what it may at most."""
    return load.alerts.tokens / load.alerts.runs if load.alerts.runs else limits.run_tokens


def _cost(load: Load, limits: AlertLimits) -> float:
    if load.alerts.runs and load.alerts.cost is not None:
        return load.alerts.cost / load.alerts.runs
    return limits.run_cost or 0.0
