"""Whether alerts still fire: asked of Prometheus and Alertmanager; where they cannot know, the incident's own state counts."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agents.contracts import Alert
from bot.incidents.enrichment import matching
from tools.active_alerts import FIRING, SILENCED, ActiveAlert, ActiveAlerts, active_alerts
from tools.contracts import ToolDeps
from tools.errors import ToolFailed

FROM_ALERTMANAGER = ("alertmanager", "prometheus")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asked:
    """`state`: firing (`firing` names which, out of all that were asked about), over (`source` says so), or unknown: these
    servers cannot tell."""

    state: Literal["firing", "over", "unknown"]
    firing: tuple[tuple[Alert, ActiveAlert], ...] = ()
    source: str = ""


async def still_firing(alerts: Sequence[Alert], tools: ToolDeps, now: datetime) -> Asked:
    """Never raises ToolFailed: a server that is away does not know."""
    try:
        found = await active_alerts(tools.prometheus, tools.alertmanager, now)
    except ToolFailed as error:
        log.info("whether the alerts fire cannot be asked: %s", error)
        return Asked("unknown")
    pairs = [(alert, one) for alert in alerts for one in matching(alert, found.alerts) if one.state in (FIRING, SILENCED)]
    firing = tuple({id(alert): (alert, one) for alert, one in reversed(pairs)}.values())[::-1]
    if firing:
        return Asked("firing", firing)
    if alerts and all([await _would_know(alert, found, tools) for alert in alerts]):
        return Asked("over", source=" & ".join(found.asked))
    return Asked("unknown")


async def _would_know(alert: Alert, found: ActiveAlerts, tools: ToolDeps) -> bool:
    """That an alert is not listed says something only where it would be: a Datadog monitor never is."""
    if not alert.alert_name:
        return False
    if "Alertmanager" in found.asked and alert.sender in FROM_ALERTMANAGER:
        return True
    if "Prometheus" not in found.asked or tools.prometheus is None:
        return False
    try:
        return bool(await tools.prometheus.rules(alert.alert_name))
    except ToolFailed:
        return False
