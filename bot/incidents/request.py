"""An alert's run before it is stored: what is asked, about which alerts, in which language."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agents.alert_subject import main_entity
from agents.contracts import Alert
from agents.state import RunRequest
from bot.inputs import language_of

SUMMARY_CHARS = 300
_SAYS = ("summary", "description", "message", "text")


def triage_request(
    alerts: Sequence[Alert], *, session_id: str, language: str, zone: str, now: datetime, seconds: int
) -> RunRequest:
    """A run that stays on the first of these alerts. `language` "auto" is that of the alert's own words; `now` has a
    zone. Raises ValueError where there are none."""
    if not alerts:
        raise ValueError("there is no alert to look at")
    return RunRequest(
        session_id=session_id,
        question=summary_of(alerts),
        language=alert_language(alerts[0]) if language == "auto" else language,
        zone=zone,
        now=now,
        agent_flow="AI_OPS",
        deadline_seconds=seconds,
        mode="PAYLOAD_TARGETED",
        alerts=tuple(alerts),
    )


def summary_of(alerts: Sequence[Alert]) -> str:
    """One line: the first alert's name, severity, place and own words, and how many more there are."""
    first = alerts[0]
    name, where = first.alert_name or first.sender, main_entity(alerts) or ""
    said = next((first.annotations[key] for key in _SAYS if first.annotations.get(key)), "")
    head = " · ".join(part for part in (name, first.severity or "", where if where not in name else "") if part)
    line = " ".join(f"{head}: {said}".split()) if said else head
    cut = line if len(line) <= SUMMARY_CHARS else f"{line[:SUMMARY_CHARS].rsplit(None, 1)[0]} …"
    return f"{cut} (+ {len(alerts) - 1})" if len(alerts) > 1 else cut


def alert_language(alert: Alert) -> str:
    """zh where people wrote it in Chinese: names and labels say nothing of that."""
    written = " ".join(alert.annotations.values())
    return language_of(written, default=language_of(alert.alert_name or "", default="en"))
