"""What fires now, by Prometheus and by Alertmanager: one list, each alert once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from tools.clients.alertmanager import AlertmanagerClient
from tools.clients.prometheus import NotServed, PrometheusClient
from tools.errors import ToolFailed
from tools.series import number
from tools.window import stamp

FIRING, PENDING, SILENCED = "firing", "pending", "silenced"


@dataclass(frozen=True)
class ActiveAlert:
    """`state` is firing, pending or silenced; `labels` are without the name; `since` and `value` are empty where the source
    says none. `source` is its address."""

    name: str
    state: str
    labels: Mapping[str, str]
    since: str
    value: str
    summary: str
    source: str

    @property
    def fields(self) -> dict[str, str]:
        """As it is quoted: what is empty is left out."""
        named = {"alertname": self.name, "state": self.state, **self.labels}
        shown = {**named, "activeAt": self.since, "value": self.value, "summary": self.summary}
        return {key: value for key, value in shown.items() if value}

    @property
    def scope(self) -> dict[str, str]:
        return {"alertname": self.name, **self.labels, "source": self.source}


@dataclass(frozen=True)
class ActiveAlerts:
    """`asked` are the kinds of servers that answered, `failures` what the others said."""

    alerts: tuple[ActiveAlert, ...]
    asked: tuple[str, ...]
    failures: tuple[str, ...] = ()

    @property
    def firing(self) -> tuple[ActiveAlert, ...]:
        return tuple(alert for alert in self.alerts if alert.state == FIRING)


async def active_alerts(
    prometheus: PrometheusClient | None, alertmanager: AlertmanagerClient | None, now: datetime
) -> ActiveAlerts:
    """At this moment: neither keeps a past. Raises ToolFailed where none of them answers."""
    asked = {
        name: work
        for name, work in (
            ("Prometheus", _of_prometheus(prometheus, now) if prometheus else None),
            ("Alertmanager", _of_alertmanager(alertmanager) if alertmanager else None),
        )
        if work is not None
    }
    results = dict(zip(asked, await asyncio.gather(*asked.values(), return_exceptions=True), strict=True))
    failures = [error for error in results.values() if isinstance(error, BaseException)]
    for error in failures:
        if not isinstance(error, ToolFailed):
            raise error
    answered = {name: found for name, found in results.items() if not isinstance(found, BaseException)}
    if not answered:
        raise ToolFailed("; ".join(map(str, failures)) or "neither prometheus_url nor alertmanager_url is set")
    merged = _merged(answered.get("Prometheus", []), answered.get("Alertmanager", []))
    return ActiveAlerts(tuple(merged), tuple(answered), tuple(map(str, failures)))


def _merged(prometheus: list[ActiveAlert], alertmanager: list[ActiveAlert]) -> list[ActiveAlert]:
    """Prometheus knows the value, Alertmanager who is silenced: an alert of both is Prometheus's, with that."""
    silenced = [alert for alert in alertmanager if alert.state == SILENCED]
    ours = [
        replace(alert, state=SILENCED) if any(_is_same(alert, other) for other in silenced) else alert for alert in prometheus
    ]
    return ours + [alert for alert in alertmanager if not any(_is_same(alert, other) for other in prometheus)]


def _is_same(one: ActiveAlert, other: ActiveAlert) -> bool:
    """On its way an alert gets external labels and may lose its replica's."""
    ours, theirs = one.labels.items(), other.labels.items()
    return one.name == other.name and (ours <= theirs or theirs <= ours)


async def _of_prometheus(client: PrometheusClient, now: datetime) -> list[ActiveAlert]:
    try:
        found = await client.alerts()
    except NotServed:
        found = await _alerts_as_series(client, now)
    return [_alert(one, str(one.get("state") or ""), one.get("activeAt"), client.shown_url) for one in found]


async def _of_alertmanager(client: AlertmanagerClient) -> list[ActiveAlert]:
    return [_alert(one, _state(one), one.get("startsAt"), client.shown_url) for one in await client.alerts()]


def _state(alert: Mapping[str, Any]) -> str:
    status = alert.get("status")
    said = status.get("state") if isinstance(status, Mapping) else ""
    return SILENCED if said == "suppressed" else FIRING


async def _alerts_as_series(client: PrometheusClient, now: datetime) -> list[dict[str, Any]]:
    """Where /alerts is not served (a bare query front end), the ALERTS series says the same without times."""
    samples, _ = await client.instant("ALERTS", now)
    return [
        {
            "labels": {k: v for k, v in s.labels.items() if k not in ("__name__", "alertstate")},
            "state": s.labels.get("alertstate"),
        }
        for s in samples
    ]


def _alert(alert: Mapping[str, Any], state: str, since: Any, source: str) -> ActiveAlert:
    labels, annotations = _texts(alert.get("labels")), _texts(alert.get("annotations"))
    return ActiveAlert(
        name=labels.pop("alertname", ""),
        state=state,
        labels=labels,
        since=_short_stamp(str(since or "")),
        value=_value(alert.get("value")),
        summary=(annotations.get("summary") or annotations.get("description") or "")[:300],
        source=source,
    )


def _texts(value: Any) -> dict[str, str]:
    return {str(key): str(text) for key, text in value.items()} if isinstance(value, Mapping) else {}


def _value(value: Any) -> str:
    try:
        return number(float(value))
    except (TypeError, ValueError):
        return ""


def _short_stamp(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return stamp(moment) if moment.tzinfo else text
