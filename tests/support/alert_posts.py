"""Alert posts for tests: what a parser gives, and when and where it was posted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from agents.contracts import Alert
from bot.alert_reading.build import make_alert
from bot.alert_reading.overall import overall_status
from bot.alert_reading.parsed import Parsed
from bot.incidents.intake import AlertPost, Intake, Taken

START = datetime(2026, 11, 30, 8, 43, tzinfo=UTC)


def fires(name: str | None = "HighErrorRate", severity: str | None = "warning", *, sender: str = "alertmanager", **more: Any) -> Alert:
    """Further words are labels, but for `annotations`, `raw`, `group` and `status`."""
    rest = {key: more.pop(key) for key in ("annotations", "raw", "group", "value") if key in more}
    status = more.pop("status", "firing")
    labels = {key: str(value) for key, value in more.items()} | ({"alertname": name} if name else {})
    return make_alert(sender, name, status, severity=severity, labels=labels, **rest)


def ends(name: str | None = "HighErrorRate", severity: str | None = "warning", **more: Any) -> Alert:
    return fires(name, severity, **more, status="resolved")


def parsed(*alerts: Alert, count: int | None = None, update_of: str | None = None) -> Parsed:
    number = len(alerts) if count is None else count
    return Parsed(alerts=alerts, count=number, status=overall_status(alerts), update_of_ts=update_of)


@dataclass
class Channel:
    """Posts into one alert channel, each with a ts of its own. `at` is in seconds from the start."""

    intake: Intake
    team: str = "T1"
    channel: str = "C1"
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def post(
        self,
        *alerts: Alert,
        at: float = 0,
        count: int | None = None,
        edits: str | None = None,
        thread: str | None = None,
        ts: str | None = None,
    ) -> tuple[Taken, ...]:
        ts = ts or f"{(START + timedelta(seconds=at)).timestamp():.0f}.{next(self._numbers):06d}"
        when = START + timedelta(seconds=at)
        updates = edits or thread
        where = AlertPost(self.team, self.channel, ts, thread, updates, when, is_edit=edits is not None)
        return self.intake.take(where, parsed(*alerts, count=count, update_of=updates))
