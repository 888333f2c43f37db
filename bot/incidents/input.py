"""Alerts as somebody hands them in: a Slack event, a recorded one, or what Alertmanager and Grafana send to a webhook."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from agents.contracts import Alert
from bot.alert_reading.webhook import webhook_alerts
from bot.alerts import parse_alerts


class NoAlert(Exception):
    """Nothing fires in what was handed in. The message says why."""


def read_alerts(text: str) -> tuple[Alert, ...]:
    """The alerts that fire by this text: one JSON value, or several after each other, the last word on an alert
    counting. Raises NoAlert."""
    return firing_of(*_values(text))


def firing_of(*values: object) -> tuple[Alert, ...]:
    """As `read_alerts`, of values that are read already. Raises NoAlert."""
    latest: dict[str, Alert] = {}
    why = "it is empty"
    for value in values:
        alerts, reason = _alerts_in(value)
        why = reason or why
        latest |= {alert.fingerprint: alert for alert in alerts}
    firing = tuple(alert for alert in latest.values() if alert.status != "resolved")
    if not latest:
        raise NoAlert(f"This is no alert: {why}.")
    if not firing:
        told = ", ".join(sorted({alert.alert_name or alert.sender for alert in latest.values()}))
        raise NoAlert(f"Nothing fires here any more: {told} resolved. Only an alert that fires is triaged.")
    return firing


def _alerts_in(value: object) -> tuple[tuple[Alert, ...], str]:
    """The alerts, and why there are none."""
    if not isinstance(value, Mapping):
        return (), "it is not a JSON object"
    event = value.get("event")
    if isinstance(event, Mapping):
        return _alerts_in(event)
    listed = value.get("alerts")
    if isinstance(listed, list) and "attachments" not in value:
        return _listed(value, listed)
    if found := webhook_alerts(value):
        return found, ""
    parsed = parse_alerts(value)
    return parsed.alerts, "" if parsed.alerts else parsed.ignored_reason or "it says nothing that an alert says"


def _listed(value: Mapping[str, Any], listed: list[Any]) -> tuple[tuple[Alert, ...], str]:
    """A webhook's list, or our own: what `alert parse` prints."""
    if not listed:
        return (), str(value.get("ignored_reason") or "its list of alerts is empty")
    try:
        return tuple(Alert.model_validate(each) for each in listed), ""
    except ValidationError:
        found = webhook_alerts(value)
        return found, "" if found else "its list holds nothing that Alertmanager or Grafana send"


def _values(text: str) -> Iterator[object]:
    decoder, at = json.JSONDecoder(), 0
    text = text.strip()
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            raise NoAlert(_where(error)) from error
        yield value
        while at < len(text) and text[at].isspace():
            at += 1


def _where(error: json.JSONDecodeError | RecursionError) -> str:
    wanted = "a Slack message event, or the JSON that Alertmanager or Grafana send to a webhook"
    if isinstance(error, RecursionError):
        return f"This JSON is nested too deeply. Give {wanted}."
    return f"This is no JSON (line {error.lineno}, column {error.colno}: {error.msg}). Give {wanted}."
