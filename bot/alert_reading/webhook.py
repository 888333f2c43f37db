"""Alerts from what Alertmanager and Grafana send to a webhook: their own JSON, so every field is named."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from agents.contracts import Alert, AlertStatus
from bot.alert_reading.build import Links, make_alert
from bot.alert_reading.times import read_time

MOST_ALERTS = 500
NEVER = "0001-01-01"
_RUNBOOK_NOTES = ("runbook_url", "runbook", "runbookUrl")
_DASHBOARD_NOTES = ("dashboard_url", "dashboard", "__dashboardUrl__")
_LINKS = {"dashboardURL": "dashboard", "panelURL": "panel", "silenceURL": "silence", "generatorURL": "source"}
_STATUSES: Mapping[str, AlertStatus] = {"firing": "firing", "resolved": "resolved"}
_LEGACY_STATES: Mapping[str, AlertStatus] = {"alerting": "firing", "ok": "resolved", "no_data": "no_data"}
_FRACTION = re.compile(r"(?<=:\d\d)\.\d+")
_VALUE = re.compile(r"\bvalue=(?:'([^']{1,200})'|([^\s,\]]{1,200}))")


def webhook_alerts(payload: Mapping[str, Any]) -> tuple[Alert, ...]:
    """Every alert of the payload, firing or resolved; none where it is of no known form. Takes any JSON object."""
    listed = payload.get("alerts")
    if isinstance(listed, list):
        each = [one for one in listed[:MOST_ALERTS] if isinstance(one, Mapping)]
        return tuple(alert for one in each if (alert := _alert(one, payload)) is not None)
    legacy = _legacy(payload)
    return (legacy,) if legacy else ()


def _alert(one: Mapping[str, Any], payload: Mapping[str, Any]) -> Alert | None:
    """What is common to the group stands in for what the alert leaves out."""
    labels = {**_texts(payload.get("commonLabels")), **_texts(one.get("labels"))}
    notes = {**_texts(payload.get("commonAnnotations")), **_texts(one.get("annotations"))}
    status = _status(one.get("status") or payload.get("status"), labels)
    if status is None or not (labels or notes):
        return None
    return make_alert(
        "grafana" if _is_grafana(payload) else "alertmanager",
        labels.get("rulename") if labels.get("alertname") in ("DatasourceNoData", "DatasourceError") else labels.get("alertname"),
        status,
        severity=labels.get("severity") or labels.get("priority"),
        labels=labels,
        annotations=notes,
        value=_value(one),
        starts_at=_time(one.get("startsAt")),
        ends_at=_time(one.get("endsAt")) if status == "resolved" else None,
        links=_links(one, notes, payload),
        group=_group(payload),
        raw=json.dumps(one, ensure_ascii=False, default=str),
    )


def _legacy(payload: Mapping[str, Any]) -> Alert | None:
    """Grafana before unified alerting: one rule with a state."""
    status = _LEGACY_STATES.get(str(payload.get("state", "")).lower())
    name = payload.get("ruleName")
    if status is None or not isinstance(name, str):
        return None
    message = payload.get("message")
    found = payload.get("evalMatches")
    matches = [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
    return make_alert(
        "grafana",
        name,
        status,
        severity=_texts(payload.get("tags")).get("severity"),
        labels=_texts(payload.get("tags")),
        annotations={"message": message} if isinstance(message, str) else None,
        value=", ".join(f"{one.get('metric', '')}={one.get('value')}" for one in matches[:5]) or None,
        links=Links().add("source", str(payload.get("ruleUrl") or "")).by_kind(),
        raw=json.dumps(payload, ensure_ascii=False, default=str),
    )


def _status(word: object, labels: Mapping[str, str]) -> AlertStatus | None:
    if labels.get("alertname") == "DatasourceNoData" and word == "firing":
        return "no_data"
    return _STATUSES.get(str(word).lower())


def _is_grafana(payload: Mapping[str, Any]) -> bool:
    return "orgId" in payload or "grafana" in str(payload.get("title", "")).lower()


def _value(one: Mapping[str, Any]) -> str | None:
    """Grafana's values by ref id, else what its valueString says. Alertmanager sends none."""
    values = one.get("values")
    if isinstance(values, Mapping) and values:
        pairs = [f"{key}={value}" for key, value in values.items()]
        return str(next(iter(values.values()))) if len(pairs) == 1 else ", ".join(pairs)
    match = _VALUE.search(str(one.get("valueString") or ""))
    return (match[1] or match[2]) if match else None


def _time(text: object) -> str | None:
    """To the second; Go's zero time means none."""
    return read_time(_FRACTION.sub("", text)) if isinstance(text, str) and not text.startswith(NEVER) else None


def _links(one: Mapping[str, Any], notes: Mapping[str, str], payload: Mapping[str, Any]) -> dict[str, str]:
    links = Links()
    for keys, kind in ((_RUNBOOK_NOTES, "runbook"), (_DASHBOARD_NOTES, "dashboard")):
        for key in keys:
            links.add(kind, notes.get(key, ""))
    for key, kind in _LINKS.items():
        links.add(kind, str(one.get(key) or ""))
    return links.add("alertmanager", str(payload.get("externalURL") or "")).by_kind()


def _group(payload: Mapping[str, Any]) -> str | None:
    return ", ".join(f"{key}={value}" for key, value in _texts(payload.get("groupLabels")).items()) or None


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {str(key): item if isinstance(item, str) else json.dumps(item, default=str) for key, item in value.items()}
