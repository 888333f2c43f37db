"""Opsgenie's Slack app: `#7341: message` with fields, and one line for what somebody did to an alert."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import first_match, headings, link_to, links_by_kind, said, tags_of
from bot.alert_reading.times import read_time

_TITLE = re.compile(
    r"#(?P<number>\d{1,12})\]?\s?[:\s-]\s*(?:(?:was |has been )?(?:closed|acknowledged|acked|resolved)(?: by [^:\"“\n]{1,60})?:\s*)?"
    r"[\"“]?(?P<name>[^\"”\n]*[^\"”\s])"
    r"|\balert [\"“](?P<quoted>[^\"”\n]{1,300})[\"”] (?:was |has been )?(?=closed|acknowledged|acked|resolved)"
)
_OVER = re.compile(r"\b(?:auto-?)?(?:closed|resolved|deleted)\b", re.IGNORECASE)
_SEEN = re.compile(r"\b(?:un-?)?ack(?:nowledged|ed)\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"\b(?:added|assigned|snoozed|took ownership|removed|updated|executed|escalated|notified|viewed)\b", re.IGNORECASE
)


def _claims(post: Post) -> bool:
    numbered = first_match(_TITLE, headings(post))
    return post.said_by("opsgenie", "jiraservicemanagement") or (
        numbered is not None and link_to(post, "opsgenie", "//opsg.in/") is not None
    )


def _read(post: Post) -> Reading | None:
    title, known = first_match(_TITLE, headings(post)), said(post)
    if title is None:
        return None
    status = _status(post, known.get("status", "state"))
    if status is None:
        return Reading(ignored_reason="said of an alert, its state is the same")
    named = known.labels(
        source=("source",), team=("routed teams", "teams", "team", "responders"), entity=("entity",), alias=("alias",)
    )
    alert = make_alert(
        SENDER.name,
        title["name"] or title["quoted"],
        status,
        severity=known.get("priority"),
        labels={**tags_of(post), **named, **({"alert_id": title["number"]} if title["number"] else {})},
        annotations=known.labels(description=("description", "details")),
        starts_at=read_time(known.get("created at", "created", "started at")),
        ends_at=read_time(known.get("closed at")),
        links=links_by_kind(post),
        raw=post.whole(),
    )
    return Reading((alert,))


def _status(post: Post, field: str) -> AlertStatus | None:
    """None for a note, an assignment and the like. What the alert's own name says does not count."""
    told = " ".join(_besides(line) for line in headings(post))
    told = f"{told} {field}" if field else told
    if _OVER.search(told):
        return "resolved"
    if word := _SEEN.search(told):
        return "firing" if word[0].casefold().startswith("un") else "acknowledged"
    return None if _ASIDE.search(told) else "firing"


def _besides(line: str) -> str:
    """What a line says beside the alert's own name."""
    title = _TITLE.search(line)
    name = (title["name"] or title["quoted"]) if title else None
    return line.replace(name, "", 1) if name else line


SENDER = Sender(name="opsgenie", claims=_claims, read=_read)
