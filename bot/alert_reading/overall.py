"""Several alerts as one: what a post as a whole says."""

from __future__ import annotations

from collections.abc import Sequence

from agents.contracts import Alert, AlertStatus

_FIRST: tuple[AlertStatus, ...] = ("firing", "no_data", "acknowledged", "resolved")


def overall_status(alerts: Sequence[Alert]) -> AlertStatus | None:
    """firing where one fires; resolved only where all are."""
    found = {alert.status for alert in alerts}
    return next((status for status in _FIRST if status in found), None)
