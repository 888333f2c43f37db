"""Netdata's alarm-notify: `edge-7 is critical, `chart`, *disk space usage = 96.2%*` above an attachment."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import Links, make_alert
from bot.alert_reading.markup import bare, instant_of
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post

_TEXT = re.compile(r"\A(\S{1,253}) (is critical|needs attention|recovered|[a-z][a-z ]{2,40}), ?`([^`\n]{1,200})`, ?\*?([^\n]{1,500}?)\*?\Z")
_RAISED_FOR = re.compile(r"\s*\((?:alarm|alert) was raised for [^)]*\)|\s*\(was [^)]*\)")
_STATUSES: dict[str, AlertStatus] = {"is critical": "firing", "needs attention": "firing", "recovered": "resolved"}
_LEVELS = {"is critical": "critical", "needs attention": "needs attention"}


def _claims(post: Post) -> bool:
    return post.said_by("netdata")


def _read(post: Post) -> Reading | None:
    match = _TEXT.match(post.text)
    if match is None or match[2] not in _STATUSES:
        return None
    status = _STATUSES[match[2]]
    part = post.parts[0] if post.parts else None
    name, _, value = _RAISED_FOR.sub("", bare(match[4])).partition(" = ")
    alert = make_alert(
        SENDER.name,
        name,
        status,
        severity=_LEVELS.get(match[2]),
        labels={"host": match[1], "chart": match[3]},
        annotations={"description": part.text if part else ""},
        value=value,
        at=instant_of(part.ts) if part and part.ts else None,
        links=Links().add("source", part.title_link if part else "").by_kind(),
        raw=post.whole(),
    )
    return Reading((alert,))


SENDER = Sender(name="netdata", claims=_claims, read=_read)
