"""incident.io: incidents that were declared, changed or closed, and alert cards."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.noise import is_digest
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import Said, first_match, heading, headings, link_to, links_by_kind, said
from bot.alert_reading.times import read_time

_ID = re.compile(r"\b(INC-\d{1,9})\b")
_OVER = re.compile(
    r"\b(?:resolved|closed|declined|cancell?ed|merged|post-incident|learning|documenting|reviewing|completed)\b",
    re.IGNORECASE,
)
_SEEN = re.compile(r"\b(?:acknowledged|ack'?ed)\b", re.IGNORECASE)
_ENDED = re.compile(
    r"\b(?:was|been|is now|now|has|marked as|alert|incident)\s\*{0,2}(?P<word>resolved|closed|acknowledged|declined)\b|\A\W*(?P<first>resolved|closed|acknowledged)\b",
    re.IGNORECASE,
)
_NEW = re.compile(
    r"\A(?:new (?:incident|alert|escalation)|incident (?:declared|reported|created|opened|update[d]?)|alert(?: fired)?|escalation|firing|triggered|resolved|closed)\s?[:–-]\s*",
    re.IGNORECASE,
)
_DECLARED = re.compile(
    r"\A.{1,60}? (?:declared|reported|created|opened) (?:a |an )?(?:new )?(?:incident|alert):?\s*", re.IGNORECASE
)
_MOVED = re.compile(r"\bstatus (?:was )?(?:changed|updated|moved)\b.{0,60}\bto (?P<word>[\w-]+)", re.IGNORECASE)
_ASIDE = re.compile(r"\A(?:reminder|please|nudge|follow-?up|your |don't forget|scheduled)\b", re.IGNORECASE)
_LEVEL = re.compile(r"\s*\((?P<level>critical|major|minor|sev-?\d|p\d)\)\Z", re.IGNORECASE)
_TAIL = re.compile(
    r"\s+(?:(?:has been|was|is now|is)\s+)?(?:resolved|closed|acknowledged|declined|declared|reported)\s*(?:by .{1,80})?\Z",
    re.IGNORECASE,
)
_PRODUCTS = ("view incident", "join the channel", "source", "homepage", "incident homepage")


def _claims(post: Post) -> bool:
    return post.said_by("incidentio") or (
        link_to(post, "//app.incident.io/") is not None and first_match(_ID, headings(post)) is not None
    )


def _read(post: Post) -> Reading | None:
    lines, known = list(headings(post)), said(post)
    name, number = _name(post, lines, known), first_match(_ID, [*lines, post.whole()])
    if is_digest(post) or first_match(_ASIDE, lines) or (name is None and number is None):
        return Reading(ignored_reason="a reminder or a digest") if lines else None
    alert = make_alert(
        SENDER.name,
        name,
        _status(lines, known.get("status", "state")),
        severity=known.get("severity", "priority")
        or (level["level"] if (level := first_match(_LEVEL, lines)) else None),
        labels={
            **({"incident": number[1]} if number else {}),
            **known.labels(
                service=("affected", "service", "services", "affected services"),
                source=("source", "alert source"),
                team=("team", "teams"),
            ),
        },
        annotations=known.labels(summary=("summary",), description=("description",)),
        starts_at=read_time(known.get("started at", "reported at", "declared at", "created at", "opened")),
        ends_at=read_time(known.get("resolved at", "closed at")),
        links=links_by_kind(post),
        raw=post.whole(),
    )
    return Reading((alert,))


def _status(lines: list[str], field: str) -> AlertStatus:
    if field:
        return "resolved" if _OVER.search(field) else "acknowledged" if _SEEN.search(field) else "firing"
    if moved := first_match(_MOVED, lines):
        return "resolved" if _OVER.match(moved["word"]) else "firing"
    ended = first_match(_ENDED, lines)
    if ended is None:
        return "firing"
    return "acknowledged" if (ended["word"] or ended["first"]).casefold() == "acknowledged" else "resolved"


def _name(post: Post, lines: list[str], known: Said) -> str | None:
    """The link to the incident or alert where its label is a name, else the first heading past its prefix."""
    link = link_to(post, "/incidents/", "/alerts/")
    label = _cut(link.label) if link and link.label.casefold() not in _PRODUCTS else ""
    return label or known.get("name", "title") or next((cut for line in lines if (cut := _cut(line))), None)


def _cut(line: str) -> str:
    line = _LEVEL.sub("", _DECLARED.sub("", _NEW.sub("", heading(line))))
    if _MOVED.search(line):
        return ""
    return _TAIL.sub("", _ID.sub("", line, count=1).strip(" :–-[]()")).strip()


SENDER = Sender(name="incident-io", claims=_claims, read=_read)
