"""Azure Monitor through logic apps and functions: the common alert schema's names, in blocks or fields."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import first_match, headings, link_to, links_by_kind, said
from bot.alert_reading.times import read_time

_RULE = ("alert rule", "alertrule", "alert rule name", "rule", "rule name", "alert name", "alert")
_TITLE = re.compile(
    r"\A(?:azure(?: monitor)?(?: alert)?|(?P<state>fired|resolved|activated|deactivated))\s?(?::|\|)\s*(?:(?P<state2>fired|resolved)\s?[:|]\s*)?(?:sev\s?\d\s+)?(?P<name>\S.*)\Z",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\balert ['\"](?P<name>[^'\"\n]{1,200})['\"] (?:was |is |has been )?(?P<state>fired|resolved|activated|deactivated)\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\A(?P<name>\S.*?)(?:: | is | was | has been | - )(?P<state>fired|resolved|activated|deactivated)\W*\Z",
    re.IGNORECASE,
)
_OVER = ("resolved", "deactivated", "closed")


def _claims(post: Post) -> bool:
    return post.said_by("azure") or link_to(post, "portal.azure.") is not None


def _read(post: Post) -> Reading | None:
    known, lines = said(post), list(headings(post))
    title = first_match(_QUOTED, lines) or first_match(_TAIL, lines) or first_match(_TITLE, lines)
    parts = title.groupdict() if title else {}
    name = known.get(*_RULE) or parts.get("name")
    condition = (
        known.get("monitor condition", "monitorcondition", "alert state", "condition state", "status", "state")
        or parts.get("state2")
        or parts.get("state")
    )
    if not name or not (condition or known.get("severity") or title):
        return None
    alert = make_alert(
        SENDER.name,
        name,
        _status(condition or "fired"),
        severity=known.get("severity"),
        labels=known.labels(
            resource=(
                "resource",
                "affected resource",
                "affected resources",
                "target resource",
                "configuration items",
                "configurationitems",
                "resource name",
            ),
            resource_group=("resource group", "target resource group", "resourcegroup"),
            resource_type=("resource type", "target resource type", "type"),
            subscription=("subscription", "subscription name", "subscription id"),
            region=("region", "location"),
        ),
        annotations=known.labels(description=("description",), metric=("metric", "criterion", "criteria")),
        value=known.get("recorded value", "metric value", "metricvalue", "value", "current value").partition("\n")[0],
        starts_at=read_time(known.get("fired date time", "fireddatetime", "fired at", "fired time", "fired")),
        ends_at=read_time(known.get("resolved date time", "resolveddatetime", "resolved at", "resolved time")),
        links=links_by_kind(post),
        raw=post.whole(),
    )
    return Reading((alert,))


def _status(condition: str) -> AlertStatus:
    return (
        "resolved"
        if condition.casefold() in _OVER
        else "acknowledged"
        if condition.casefold() == "acknowledged"
        else "firing"
    )


SENDER = Sender(name="azure-monitor", claims=_claims, read=_read)
