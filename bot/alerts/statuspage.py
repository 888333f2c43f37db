"""Statuspage: a provider's incident as its page tells it; over only where it says Resolved. Planned maintenance is no alert."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import Said, first_match, heading, headings, link_to, links_by_kind, said
from bot.alert_reading.times import read_time
from bot.alert_reading.words import severity_of

_STATES = "investigating|identified|monitoring|update|resolved|postmortem|scheduled|in progress|verifying|completed|maintenance"
_FIRST = re.compile(rf"\A\[?(?P<state>{_STATES})\]?\s*[-–—:|]?\s+(?P<name>\S.*)\Z", re.IGNORECASE)
_LAST = re.compile(rf"\A(?P<name>\S.*?)\s*[-–—:|(\[]\s*(?P<state>{_STATES})[)\]]?\Z", re.IGNORECASE)
_STATE = re.compile(rf"\b(?P<state>{_STATES})\b", re.IGNORECASE)
_NO_ALERT = ("scheduled", "in progress", "verifying", "completed", "maintenance", "postmortem")
_PAGES = ("statuspage", "//stspg.", "//status.")


def _claims(post: Post) -> bool:
    titled = link_to(post, *_PAGES) is not None and first_match(_FIRST, headings(post)) is not None
    return titled or post.said_by("statuspage")


def _read(post: Post) -> Reading | None:
    lines, known = list(headings(post)), said(post)
    title = first_match(_FIRST, lines) or first_match(_LAST, lines)
    own = next(
        (
            part.title
            for part in post.parts
            if part.title and not first_match(_FIRST, [part.title]) and not first_match(_LAST, [part.title])
        ),
        "",
    )
    word = _STATE.search(known.get("status", "incident status", "state")) or title
    name = own or (title["name"] if title else _linked(post))
    if word is None or not name:
        return None
    state = word["state"].casefold()
    if state in _NO_ALERT:
        return Reading(ignored_reason="planned maintenance or a post-mortem of a provider's")
    status: AlertStatus = "resolved" if state == "resolved" else "firing"
    impact = known.get("impact", "severity")
    alert = make_alert(
        SENDER.name,
        name,
        status,
        severity=impact if severity_of(impact) else None,
        labels=_labels(post, known),
        annotations={"state": state, "update": next((part.text for part in post.parts if part.text), "")},
        starts_at=read_time(known.get("started at", "started", "created at", "posted")),
        links=links_by_kind(post),
        raw=post.whole(),
    )
    return Reading((alert,))


def _linked(post: Post) -> str | None:
    link = link_to(post, *_PAGES)
    return heading(link.label) if link and link.label != "source" else None


def _labels(post: Post, known: Said) -> dict[str, str]:
    page = next((part.author for part in post.parts if part.author), "") or known.get("page", "status page")
    return {"page": page, **known.labels(components=("components", "affected components", "affects", "affected"))}


SENDER = Sender(name="statuspage", claims=_claims, read=_read)
