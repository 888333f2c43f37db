"""The two loops of alert channels, put together: incidents become runs, and their threads are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.desk import Desk
from bot.errors import ConfigError
from bot.settings import Settings
from bot.triaging.budget import AlertBudget, AlertLimits
from bot.triaging.line import IncidentTeller, TellerTimes
from bot.triaging.loop import Triaging
from bot.triaging.telling import telling
from storage.budget import Ceiling


@dataclass(frozen=True)
class AlertWork:
    triaging: Triaging
    teller: IncidentTeller

    def wake(self) -> None:
        """An incident has changed. Call from the event loop."""
        self.triaging.wake()
        self.teller.wake()


def alert_work(
    desk: Desk, wake_line: Callable[[], None], *, poll: float = 1.0, times: TellerTimes | None = None
) -> AlertWork:
    """Raises ConfigError for a ceiling on money that nobody could count."""
    budget = AlertBudget(desk.db, alert_limits(desk.settings), desk.place.clock)
    teller = IncidentTeller(desk.slack, desk.db, telling(desk), desk.place.owner, clock=desk.place.clock, times=times)
    return AlertWork(Triaging(desk, budget, wake_line, poll=poll), teller)


def alert_limits(settings: Settings) -> AlertLimits:
    """Raises ConfigError."""
    if settings.alert_daily_cost is not None and (settings.price_in is None or settings.price_out is None):
        raise ConfigError("alert_daily_cost needs price_in and price_out: without prices nobody knows what a day costs.")
    return AlertLimits(
        at_once=settings.alert_runs,
        per_hour=settings.alert_runs_per_hour,
        day=Ceiling(settings.alert_daily_tokens, settings.alert_daily_cost),
        whole_day=Ceiling(settings.daily_tokens, settings.daily_cost),
        reserve=settings.alert_reserve,
        run_tokens=settings.max_tokens,
        run_cost=settings.max_cost,
    )
