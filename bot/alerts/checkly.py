"""Checkly: `Check "name" has failed`, recovered or degraded, with the kind of check and where it ran."""

from __future__ import annotations

import re

from bot.alert_reading.build import make_alert
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import first_match, headings, link_to, links_by_kind, said
from bot.alert_reading.times import read_time

_TITLE = re.compile(
    r"\A(?:checkly\s+)?(?:alert:?\s+)?(?:the\s+)?(?:(?:api|browser|heartbeat|multistep|tcp|url|dns|icmp|playwright)?\s?(?:check|monitor|heartbeat|group)\s+)?[\"“'`]?(?P<name>\S[^\n]*?)[\"”'`]?\s+"
    r"(?:(?:has|is|was|started)\s+(?:now\s+|still\s+|been\s+)?(?P<state>fail(?:ed|ing)|down|degraded|recovered|passing|up|resolved|late|missing)|(?P<alone>failed|recovered))\b",
    re.IGNORECASE,
)
_PREFIXED = re.compile(
    r"\A(?P<state>failed|failing|failure|degraded|recovered|recovery|passing)\s?[:|-]\s*(?P<name>\S.*)\Z", re.IGNORECASE
)
_OVER = ("recovered", "recovery", "passing", "up", "resolved")
_SSL = re.compile(
    r"\ASSL certificate (?:of|for)\s+(?P<name>\S+)\s+(?P<state>expires|will expire|expired)", re.IGNORECASE
)


def _claims(post: Post) -> bool:
    return post.said_by("checkly") or (
        link_to(post, "checkly") is not None and first_match(_TITLE, headings(post)) is not None
    )


def _read(post: Post) -> Reading | None:
    lines = list(headings(post))
    title = first_match(_PREFIXED, lines) or first_match(_TITLE, lines) or first_match(_SSL, lines)
    if title is None:
        return None
    known = said(post)
    began = next((line for line in post.whole().splitlines() if "started" in line.casefold()), "")
    alert = make_alert(
        SENDER.name,
        title["name"],
        "resolved" if _state(title) in _OVER else "firing",
        labels=known.labels(
            check_type=("check type", "type"),
            location=("location", "locations", "region"),
            group=("group", "check group"),
            tags=("tags",),
        ),
        annotations=known.labels(error=("error", "error message", "reason")),
        value=known.get("response time"),
        starts_at=read_time(known.get("started at", "started") or began),
        links=links_by_kind(post),
        raw=post.whole(),
    )
    return Reading((alert,))


def _state(title: re.Match[str]) -> str:
    parts = title.groupdict()
    return (parts["state"] or parts.get("alone") or "").casefold()


SENDER = Sender(name="checkly", claims=_claims, read=_read)
