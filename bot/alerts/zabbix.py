"""Zabbix's own Slack media type: an attachment with fields. A recovery edits the first post or, in event mode, is a new one."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import Links, make_alert
from bot.alert_reading.headings import read_heading
from bot.alert_reading.loose import read_loosely
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Part, Post
from bot.alert_reading.times import read_time
from bot.alert_reading.words import severity_of, severity_written

_TITLE = re.compile(
    r"\A(Problem(?: started)?(?: at [^:]*(?::\d\d)*(?: on [\d.]+)?)?|Resolved(?: in [^:]*)?|Updated problem(?: in [^:]*)?|OK|PROBLEM|RESOLVED)"
    r"(?:: |\Z)\s*(.*)",
    re.DOTALL,
)
_HOST = re.compile(r"\A(.*?)\s*(?:\[([^\]]*)\])?\Z", re.DOTALL)
_ACKNOWLEDGED = re.compile(r"\backnowledged\b(?!\s?:\s?no\b)", re.IGNORECASE)
# 严重 is its second level, though elsewhere it is the first.
_OWN_LEVELS = {"严重": "high", "一般严重": "warning"}


def _claims(post: Post) -> bool:
    return post.said_by("zabbix") or any("/tr_events.php?" in part.title_link for part in post.parts)


def _read(post: Post) -> Reading | None:
    part = next((part for part in post.parts if part.title and (part.field("Host") or _TITLE.match(part.title))), None)
    if part is None:
        return read_loosely(post, SENDER.name)
    match, heading = _TITLE.match(part.title), read_heading(part.title)
    lead, name = (match[1], match[2]) if match else ("", heading.name if heading.leads else part.title)
    status = _status(lead, part) if match or not heading.leads else heading.status
    if status is None:
        return None
    at = read_time(part.field("Event time"))
    is_start = (status == "firing" or post.is_edit) and not lead.startswith("Updated")
    alert = make_alert(
        SENDER.name,
        name,
        status,
        severity=part.field("Severity"),
        labels=_labels(part),
        annotations=_annotations(part),
        value=part.field("Opdata"),
        starts_at=at if is_start else None,
        ends_at=at if status == "resolved" and not is_start else None,
        links=Links().add("source", part.title_link).add_links(part.buttons).by_kind(),
        raw=post.whole(),
    )
    own = _OWN_LEVELS.get(severity_written(part.field("Severity")) or "")
    return Reading((alert.model_copy(update={"severity": severity_of(own)}) if own else alert,))


def _status(lead: str, part: Part) -> AlertStatus | None:
    if lead.casefold().startswith(("resolved", "ok")):
        return "resolved"
    if lead.startswith("Updated") and _ACKNOWLEDGED.search(f"{part.field('Details')} {part.pretext} {part.text}"):
        return "acknowledged"
    if lead:
        return "firing"
    return "resolved" if part.color == "009900" else "firing" if part.field("Severity") else None


def _labels(part: Part) -> dict[str, str]:
    host = _HOST.match(part.field("Host")[:300])
    labels = {"host": host[1], "ip": host[2] or ""} if host else {}
    for line in part.field("Event tags").splitlines():
        key, colon, value = line.partition(":")
        if colon:
            labels.setdefault(key.strip(), value.strip())
    return labels


def _annotations(part: Part) -> dict[str, str]:
    return {"description": part.field("Trigger description"), "details": part.field("Details")}


SENDER = Sender(name="zabbix", claims=_claims, read=_read)
