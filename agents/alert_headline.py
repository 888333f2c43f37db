"""What an incident's report begins with: what fires, where and since when, as the alert's sender says it."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from agents.alert_subject import main_entity
from agents.contracts import Alert
from agents.fences import shortened, visible
from agents.replies import Replies
from agents.state import RunState

NAME_CHARS = 120
NO_SEVERITY = "none"
UNNAMED = ("generic", "unknown", "")
_MORE = {"PAYLOAD_TARGETED": "headline_more", "AUTO_DISCOVERY": "headline_more_patrol"}
# As their makers write them, by letters alone.
_SENDERS = {
    "awschatbot": "AWS Chatbot", "awscloudwatch": "CloudWatch", "azuremonitor": "Azure Monitor", "cloudwatch": "CloudWatch",
    "elastalert": "ElastAlert", "elastalert2": "ElastAlert", "githubactions": "GitHub Actions",
    "googlecloud": "Google Cloud", "googlecloudmonitoring": "Google Cloud Monitoring", "healthchecks": "Healthchecks.io",
    "healthchecksio": "Healthchecks.io", "incidentio": "incident.io", "newrelic": "New Relic", "pagerduty": "PagerDuty",
    "uptimekuma": "Uptime Kuma", "uptimerobot": "UptimeRobot",
}  # fmt: skip


def headline(state: RunState, replies: Replies) -> str:
    """One line, attributed to the sender. It is no claim: nobody has checked it."""
    language = state.language
    if not state.alerts:
        return replies.text(language, "headline_none", at=_when(state.now.isoformat(), state.zone))
    assert state.mode is not None
    first, others = state.alerts[0], len(state.alerts) - 1
    parts = [
        replies.text(language, "headline", sender=sender_name(first, replies, language), name=_name(first, replies, language)),
        replies.text(language, f"headline_{first.status}"),
        _severity(first, replies, language),
        _subject(state, replies),
        _since(state, replies),
        replies.text(language, _MORE[state.mode], count=others) if others else "",
    ]
    return "".join(part for part in parts if part)


def sender_name(alert: Alert, replies: Replies, language: str) -> str:
    if alert.sender in UNNAMED:
        return replies.text(language, "sender_generic")
    letters = "".join(char for char in alert.sender.lower() if char.isalnum())
    return _SENDERS.get(letters) or alert.sender.replace("_", " ").replace("-", " ").title()


def _name(alert: Alert, replies: Replies, language: str) -> str:
    return _plain(alert.alert_name) if alert.alert_name else replies.text(language, "headline_unnamed")


def _severity(alert: Alert, replies: Replies, language: str) -> str:
    severity = alert.severity or alert.severity_raw
    if not severity or severity == NO_SEVERITY:
        return ""
    return replies.text(language, "headline_severity", severity=_plain(severity))


def _subject(state: RunState, replies: Replies) -> str:
    entity = main_entity(state.alerts)
    if entity is None or entity in (state.alerts[0].alert_name or ""):
        return ""
    return replies.text(state.language, "headline_subject", subject=_plain(entity))


def _since(state: RunState, replies: Replies) -> str:
    first = state.alerts[0]
    if not first.starts_at:
        return ""
    entry = "headline_since_active" if "starts_at" in first.enriched else "headline_since"
    return replies.text(state.language, entry, since=_when(first.starts_at, state.zone))


def _plain(text: str) -> str:
    return shortened(" ".join(visible(text).split()), NAME_CHARS)


def _when(stamp: str, zone: str) -> str:
    """The reader's time with UTC beside it; a time without a zone as it was written."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return _plain(stamp)
    if moment.tzinfo is None:
        return f"{moment:%Y-%m-%d %H:%M}"
    there, utc = moment.astimezone(ZoneInfo(zone)), moment.astimezone(UTC)
    if there.utcoffset() == utc.utcoffset():
        return f"{utc:%Y-%m-%d %H:%M} UTC"
    return f"{there:%Y-%m-%d %H:%M} ({utc:%H:%M} UTC)"
