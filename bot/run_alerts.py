"""Alerts on their way into a run: secrets masked, sizes bounded. A storm's run must not carry a storm's posts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agents.contracts import Alert
from tools.redaction import Redactor

MAX_ALERTS = 200
MAX_TEXT = 4_000
MAX_FIELDS = 60
RAW_CHARS = 2_000
WITH_RAW = 3


def bounded_alerts(alerts: Iterable[Alert], redactor: Redactor) -> tuple[Alert, ...]:
    """At most 200, the first three with what they were read from."""
    kept = tuple(alerts)[:MAX_ALERTS]
    return tuple(_bounded(alert, redactor, RAW_CHARS if index < WITH_RAW else 0) for index, alert in enumerate(kept))


def _bounded(alert: Alert, redactor: Redactor, raw_chars: int) -> Alert:
    """The fingerprint stays: it is made of the unmasked fields, and reads like a secret."""
    changed: dict[str, object] = {
        name: _masked(text, redactor)
        for name in ("alert_name", "severity_raw", "value", "group")
        if (text := getattr(alert, name)) is not None
    }
    for name in ("labels", "annotations", "links"):
        changed[name] = _fields(getattr(alert, name), redactor)
    return alert.model_copy(update={**changed, "raw": _masked(alert.raw[:raw_chars], redactor)})


def _fields(values: Mapping[str, str], redactor: Redactor) -> dict[str, str]:
    first = dict(list(values.items())[:MAX_FIELDS])
    masked = redactor.value({key: _encodable(text[:MAX_TEXT]) for key, text in first.items()})
    return {str(key): str(text) for key, text in masked.items()}


def _masked(text: str, redactor: Redactor) -> str:
    return "\n".join(redactor.lines(_encodable(text[:MAX_TEXT]).split("\n")))


def _encodable(text: str) -> str:
    """Half a surrogate pair can not be stored."""
    return text.encode("utf-8", "replace").decode()
