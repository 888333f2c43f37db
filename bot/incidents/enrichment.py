"""Labels and the start that a post left out, from Prometheus and Alertmanager: only where one active alert alone can be meant."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from agents.contracts import Alert
from tools.active_alerts import ActiveAlert, active_alerts
from tools.contracts import ToolDeps
from tools.errors import ToolFailed

# A triage does not wait long for what is only nice to have.
SECONDS = 5.0
MAX_LABELS = 60

log = logging.getLogger(__name__)


async def enriched(
    alerts: Sequence[Alert], tools: ToolDeps, now: datetime, seconds: float = SECONDS
) -> tuple[Alert, ...]:
    """The alerts with the labels of the active ones they are; unchanged where no source is configured or answers."""
    if tools.prometheus is None and tools.alertmanager is None:
        return tuple(alerts)
    try:
        async with asyncio.timeout(seconds):
            found = await active_alerts(tools.prometheus, tools.alertmanager, now)
    except (ToolFailed, TimeoutError) as error:
        log.info("no labels were added to the alerts: %s", error or "no answer in time")
        return tuple(alerts)
    return tuple(completed(alert, found.alerts) for alert in alerts)


def completed(alert: Alert, active: Iterable[ActiveAlert]) -> Alert:
    """`enriched` names the labels, and the start, that were added. What the post says stays, and so does the fingerprint."""
    meant = matching(alert, active)
    if len(meant) != 1:
        return alert
    labels = _missing(alert.labels, meant[0].labels)
    start = {} if alert.starts_at or not meant[0].since else {"starts_at": meant[0].since}
    if not labels and not start:
        return alert
    added = (*alert.enriched, *labels, *start)
    return alert.model_copy(update={"labels": {**alert.labels, **labels}, **start, "enriched": added})


def _missing(said: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, str]:
    known = {key.casefold() for key in said}
    added = [(key, value) for key, value in labels.items() if key.casefold() not in known and value]
    return dict(added[: max(0, MAX_LABELS - len(said))])


def matching(alert: Alert, active: Iterable[ActiveAlert]) -> list[ActiveAlert]:
    """Active alerts of the name whose labels do not gainsay what the post says."""
    if not alert.alert_name:
        return []
    return [one for one in active if one.name == alert.alert_name and not _differs(alert.labels, one.labels)]


def _differs(said: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    theirs = {key.casefold(): value for key, value in labels.items()}
    return any(theirs.get(key.casefold(), value) != value for key, value in said.items())
