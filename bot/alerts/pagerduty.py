"""PagerDuty's Slack app: an incident's post, its edits, and what people did to it as replies in its thread."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import Said, first_match, headings, link_to, links_by_kind, said
from bot.alert_reading.times import read_time

_NUMBERED = re.compile(
    r"\[?#(?P<number>\d{1,12})\]?(?:(?: on (?P<service>[^:\n]{1,60}))?:|\s)\s*(?P<name>\S.*)\Z"
    r"|\A(?:[\w-]{6,14}:\s*)(?P<name2>\S.*?)\s*[(\[]#(?P<number2>\d{1,12})[)\]]\Z"
)
_NO_NAME = re.compile(
    r"\A(?:was |has been )?(?:acknowledged|resolved|triggered|reopened|escalated)\b(?: (?:by|on|at|to)\b.*)?\Z",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(r"\s+[-–]\s+(?:triggered|acknowledged|resolved)(?: (?:on|by) .{1,80})?\Z", re.IGNORECASE)
_STATE = re.compile(
    r"\b(re-?triggered|triggered|re-?opened|opened|unacknowledged|acknowledged|resolved|escalated)\b", re.IGNORECASE
)
_LEADS = re.compile(r"\A\[?(triggered|acknowledged|resolved)\]?[:\s]", re.IGNORECASE)
_DONE = re.compile(
    r"\b(acknowledged|resolved|re-?opened)\b(?=\s+(?:by\b|the\b|this\b|incident\b|on\b|\[?#\d)|\W*\Z)", re.IGNORECASE
)
_ASIDE = re.compile(
    r"\b(?:added a note|reassigned|snoozed|was paged|is on[- ]call|requested|status update|runs? play|changed the)\b",
    re.IGNORECASE,
)
_STATES: dict[str, AlertStatus] = {"acknowledged": "acknowledged", "resolved": "resolved"}


def _claims(post: Post) -> bool:
    numbered = first_match(_NUMBERED, headings(post))
    return post.said_by("pagerduty") or (numbered is not None and link_to(post, "pagerduty") is not None)


def _read(post: Post) -> Reading | None:
    known, lines = said(post), list(headings(post))
    numbered = first_match(_NUMBERED, lines)
    state = _state(lines, known, numbered is not None)
    if state is None:
        aside = first_match(_ASIDE, lines)
        return Reading(ignored_reason="said of an incident, its state is the same") if aside else None
    link = link_to(post, "/incidents/")
    named = known.labels(service=("service", "impacted service"))
    alert = make_alert(
        SENDER.name,
        _name(post, numbered) or known.get("title", "incident"),
        _STATES.get(state, "firing"),
        severity=known.get("priority", "severity", "urgency"),
        labels={**_of_heading(numbered), **named},
        starts_at=read_time(known.get("opened", "created", "triggered", "opened at", "created at", "triggered at")),
        ends_at=read_time(known.get("resolved at", "resolved")),
        links=links_by_kind(post, link.url if link else ""),
        raw=post.whole(),
    )
    return Reading((alert,))


def _name(post: Post, numbered: re.Match[str] | None) -> str | None:
    """None for what is only said of an incident: `#48213 acknowledged by Li Na`."""
    if numbered is None:
        return next((part.title for part in post.parts if part.title and "/incidents/" in part.title_link), None)
    name = _AFTER_NAME.sub("", numbered["name"] or numbered["name2"])
    return None if _NO_NAME.match(name) else name


def _of_heading(numbered: re.Match[str] | None) -> dict[str, str]:
    if numbered is None:
        return {}
    found = {"service": numbered["service"], "incident": numbered["number"] or numbered["number2"]}
    return {key: value for key, value in found.items() if value}


def _state(lines: list[str], known: Said, numbered: bool) -> str | None:
    """A status field counts before words; words count where they stand before the incident, or say what somebody did."""
    if word := _STATE.search(known.get("status", "state")):
        return word[1].casefold()
    if numbered and (word := first_match(_LEADS, lines)):
        return word[1].casefold()
    if done := first_match(_DONE, (line for line in lines if not line.startswith(("[", "#")))):
        return done[1].casefold()
    before = (line.partition("#")[0] for line in lines if "#" in line) if numbered else ()
    if word := first_match(_STATE, before):
        return word[1].casefold()
    return "triggered" if numbered and not first_match(_ASIDE, lines) else None


SENDER = Sender(name="pagerduty", claims=_claims, read=_read)
