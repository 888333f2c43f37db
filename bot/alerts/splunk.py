"""Splunk's alert action (text and the result's fields) and Splunk Observability (`Cleared: Critical Alert: name`)."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.labels import role_of
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import Said, first_match, headings, link_to, links_by_kind, said
from bot.alert_reading.times import read_time

_CONDITION = re.compile(r"alert condition for ['\"‘“](?P<name>[^\n]{1,300}?)['\"’”] was triggered", re.IGNORECASE)
_TRIGGERED = re.compile(
    r"\A(?:splunk )?alert:? ['\"]?(?P<name>[^\n]{1,300}?)['\"]? (?:was |has )?(?:been )?(?:triggered|fired)\b",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"\A(?:splunk\s+)?alert(?: triggered)?:\s*(?P<name>\S.*)\Z", re.IGNORECASE)
_DETECTOR = re.compile(
    r"\A(?:(?P<state>cleared|stopped|manually resolved|resolved|triggered|auto-cleared|alert cleared)\s?[:–-]\s*)?(?P<severity>critical|major|minor|warning|info)(?: severity)? alert"
    r"(?: (?P<after>cleared|stopped|resolved|triggered))?\s?[:–-]\s*(?P<name>\S.*)\Z",
    re.IGNORECASE,
)
_OVER = ("cleared", "stopped", "resolved", "ok", "normal")
_PLACES = ("host", "service", "instance", "env", "cluster", "namespace", "region")


def _claims(post: Post) -> bool:
    """Splunk On-Call is another product, with posts of its own."""
    return not post.said_by("oncall", "victorops") and (
        post.said_by("splunk", "signalfx")
        or first_match(_CONDITION, [post.text[:600]]) is not None
        or link_to(post, "splunk", ".signalfx.") is not None
    )


def _read(post: Post) -> Reading | None:
    known, lines = said(post), list(headings(post))
    detector = first_match(_DETECTOR, lines)
    name = detector["name"] if detector else _name(post, lines)
    if name is None:
        return None
    state = known.get("state", "status") or ((detector["state"] or detector["after"] or "") if detector else "")
    status: AlertStatus = (
        "resolved"
        if state.casefold().split()[-1:] and state.casefold().split()[-1].removeprefix("auto-") in _OVER
        else "firing"
    )
    alert = make_alert(
        SENDER.name,
        name,
        status,
        severity=known.get("severity", "urgency", "priority") or (detector["severity"] if detector else None),
        labels=_labels(post, known),
        annotations=known.labels(description=("description", "message")),
        value=known.get("value", "current value", "count", "current"),
        starts_at=read_time(known.get("trigger time", "triggered at", "time", "started at", " time")),
        links=links_by_kind(post),
        raw=post.whole(),
    )
    return Reading((alert,))


def _name(post: Post, lines: list[str]) -> str | None:
    if found := first_match(_CONDITION, lines) or first_match(_TRIGGERED, lines) or first_match(_PREFIX, lines):
        return found["name"]
    alike = "alert" in post.text.casefold()
    return next(
        (part.title for part in post.parts if part.title and (part.fields or (part.title_link and alike))), None
    )


def _labels(post: Post, known: Said) -> dict[str, str]:
    """The result's fields by their names, and places where a line names one; measured values and times are none."""
    own = {field.title: field.value for field in post.fields if role_of(field.title) in (None, *_PLACES)}
    lines = {key: value for key, value in known.pairs.items() if role_of(key) in _PLACES}
    return lines | {key: value for key, value in own.items() if key.casefold() not in lines}


SENDER = Sender(name="splunk", claims=_claims, read=_read)
