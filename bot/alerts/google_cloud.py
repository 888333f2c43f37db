"""Google Cloud Monitoring: an incident that is open or closed, its policy, condition and resource."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import Said, first_match, heading, headings, link_to, links_by_kind, said
from bot.alert_reading.times import read_time
from bot.alert_reading.words import severity_of

_PAGE = "/monitoring/alerting/"
_INCIDENT = re.compile(r"\bincident\s+#?(?P<number>\d\.[a-z0-9]{2,30})\b", re.IGNORECASE)
_IN_URL = re.compile(r"/incidents/(?P<number>\d\.[a-z0-9]{2,30})\b")
_STATE = re.compile(
    r"\[?\b(?P<over>resolved|closed|recovered)\b\]?|\[?\b(?P<seen>acknowledged)\b\]?|\[?\b(?P<on>is ongoing|is open|open|ongoing|firing|triggered|alert(?=\]|:| firing))\b\]?",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\bincident\b[^\n:]{0,60}\bis (?:ongoing|open|resolved|closed)\b[.:]?\s*(?P<name>[^\n]*?)(?:\s+-\s+(?P<reason>[^\n]*))?\Z",
    re.IGNORECASE,
)
_MARKED = re.compile(r"\A(?:\[[A-Z ]{2,20}\]|alert(?: firing| resolved)?:)\s*(?P<name>\S.*)\Z", re.IGNORECASE)
_VALUE = re.compile(r"\bwith a value of (?P<value>-?[\d.,]+\d\s?%?)", re.IGNORECASE)


def _claims(post: Post) -> bool:
    return post.said_by("googlecloud", "stackdriver", "gcpmonitoring", "gcpalert") or link_to(post, _PAGE) is not None


def _read(post: Post) -> Reading | None:
    known, lines, body = said(post), list(headings(post)), post.whole()
    state = first_match(_STATE, [known.get("state", "status"), *lines])
    name = _name(post, known, lines)
    if not name or (state is None and link_to(post, _PAGE) is None):
        return None
    value, severity = _VALUE.search(body), known.get("severity")
    alert = make_alert(
        SENDER.name,
        name,
        _status(state),
        severity=severity if severity_of(severity) else None,
        labels={
            **known.labels(
                condition=("condition", "condition name"),
                project=("project", "project id", "scoping project"),
                resource=("resource", "resource name", "resource labels"),
                metric=("metric",),
            ),
            **_number(post, lines),
        },
        annotations={
            "summary": known.get("summary") or (value.string[: value.end()].rpartition("\n")[2] if value else "")
        },
        value=value["value"] if value else known.get("value", "observed value"),
        starts_at=read_time(known.get("start time", "started at", "started", "opened at", "opened")),
        ends_at=read_time(known.get("end time", "ended at", "closed at", "closed")),
        links=links_by_kind(post),
        raw=body,
    )
    return Reading((alert,))


def _status(state: re.Match[str] | None) -> AlertStatus:
    return "firing" if state is None or state["on"] else "resolved" if state["over"] else "acknowledged"


def _name(post: Post, known: Said, lines: list[str]) -> str | None:
    if named := known.get("policy", "policy name", "alerting policy", "alert policy"):
        return named
    found = first_match(_AFTER, lines)
    if found and found["name"]:
        return found["name"]
    link = link_to(post, _PAGE)
    label = heading(link.label) if link else ""
    if label and label not in ("source", "View incident") and not label.startswith("#") and not _INCIDENT.search(label):
        return label
    marked = first_match(_MARKED, lines)
    return marked["name"] if marked else known.get("condition", "condition name") or None


def _number(post: Post, lines: list[str]) -> dict[str, str]:
    link = link_to(post, _PAGE)
    found = first_match(_INCIDENT, lines) or (_IN_URL.search(link.url) if link else None)
    return {"incident": found["number"]} if found else {}


SENDER = Sender(name="google-cloud", claims=_claims, read=_read)
