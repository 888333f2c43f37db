"""Elastic: Kibana's rules with their default messages (a sentence, then a list), and watches."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import Said, first_match, link_to, links_by_kind, said
from bot.alert_reading.times import read_time

_Q = "['\"“”‘’`]"
_SENTENCES = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\A(?:[\w ]{{1,40}} )?(?:rule|alert)\s+{_Q}?(?P<name>[^\n]{{1,200}}?){_Q}?\s+(?:is\s+)?(?P<state>active|recovered|has recovered|no data)(?:\s+for\s+group\s+{_Q}?(?P<group>[^\n]{{1,300}}?){_Q}?)?:?\Z",
        r"\A\[?(?P<name>[^\n]{1,200}?)\]? (?:is (?P<state>active)(?: with the following conditions)?|(?:has )?(?P<state2>recovered))[:.]?\Z",
        r"\A\[(?P<state>recovered|active|no data)\]\s*(?P<name>[^:\n]{1,200})",
        r"\A(?P<state>recovered|active|no data):\s*(?P<name>\S[^\n]*)\Z",
        rf"\A(?:the )?monitor {_Q}?(?P<name>[^\n]{{1,200}}?){_Q}? (?:\([^)\n]*\) )?(?:from [^\n]{{1,80}}? |with url [^\n]{{1,300}}? )?(?:is |has )(?:now |been )?(?P<state>down|up|recovered|degraded)\b",
        rf"\A(?:rule|detection rule)\s+{_Q}?(?P<name>[^\n]{{1,200}}?){_Q}?\s+(?P<state>generated) (?P<count>\d{{1,6}}) alerts?",
        rf"\Awatch(?:er)? (?:alert )?{_Q}?\[?(?P<name>[^\n\]]{{1,200}}?)\]?{_Q}? (?:has |was )?(?P<state>triggered|exceeded)",
    )
)
_STATES: dict[str, AlertStatus] = {
    "recovered": "resolved",
    "has recovered": "resolved",
    "up": "resolved",
    "no data": "no_data",
}
_LABELS = {
    "service": ("service name", "service"),
    "environment": ("environment",),
    "transaction_type": ("transaction type",),
    "transaction": ("transaction name",),
    "host": ("host name", "host", "hostname", "affected host"),
    "group": ("affected", "group", "grouping"),
    "url": ("monitor url", "url"),
    "location": ("from", "location", "locations"),
}
_MEASURED = (
    "value",
    "error count",
    "latency",
    "failed transaction rate",
    "error rate",
    "count",
    "document count",
    "observed value",
    "current value",
)
_MAX_LINES = 40


def _claims(post: Post) -> bool:
    return (
        post.said_by("kibana", "elastic", "watcher")
        or link_to(post, "kibana", "elastic-cloud", ".elastic.co") is not None
    )


def _read(post: Post) -> Reading | None:
    lines = [line[:600].strip(" *`") for line in post.whole().splitlines()[:_MAX_LINES]]
    found = next((match for form in _SENTENCES if (match := first_match(form, lines))), None)
    if found is None:
        return None
    parts, known = found.groupdict(), said(post)
    state = (parts.get("state") or parts.get("state2") or "").casefold()
    status, count = _STATES.get(state, "firing"), parts.get("count")
    alert = make_alert(
        SENDER.name,
        parts["name"],
        status,
        severity=known.get("severity", "rule severity"),
        labels=_labels(known, parts.get("group")),
        annotations=known.labels(
            conditions=("conditions met", "conditions"), threshold=("threshold",), reason=("reason", "error received")
        ),
        value=known.get(*_MEASURED),
        at=read_time(known.get("timestamp", "checked at", "started", "start time", "@timestamp", "time")),
        links=links_by_kind(post),
        raw=post.whole(),
    )
    return Reading((alert,), count=int(count) if count else None)


def _labels(known: Said, group: str | None) -> dict[str, str]:
    return {**known.labels(**_LABELS), **({"group": group} if group else {})}


SENDER = Sender(name="elastic", claims=_claims, read=_read)
