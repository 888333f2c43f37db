"""New Relic: an issue of a workflow (blocks) or an incident of a policy (attachment)."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.noise import is_digest
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import Said, first_match, heading, headings, link_to, links_by_kind, links_of, said
from bot.alert_reading.times import read_time

_STATE = re.compile(
    r"\b(?:issue|incident|violation|condition)s?(?: #?[\w-]+)?(?: (?:is|was|has been))? (?P<state>activated|active|opened|open|created|triggered|acknowledged|closed|resolved)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\b(activated|active|opened|open|created|acknowledged|closed|resolved)\b", re.IGNORECASE)
_MARKED = re.compile(r"\A(?:\[(?=\w+\]))?(open|opened|activated|acknowledged|closed|resolved)(?:\]|:\s)", re.IGNORECASE)
_LEVEL = re.compile(r"\b(critical|high|medium|low)[ -]priority\b", re.IGNORECASE)
_NUMBER = re.compile(r"\bincident #?(\d{1,15})\b", re.IGNORECASE)
# Labels of links to an issue that say what a click does, or that it has been opened.
_NO_NAME = re.compile(r"(?:source|https?:.*|(?:view|open|see|go to|acknowledge|ack|close|investigate|mute|analy[sz]e|copy)\b.*)\Z", re.IGNORECASE)
_PREFIX = re.compile(
    r"\A(?:\[?(?:issue|incident|violation)?\s?#?\d*\s?(?:activated|opened|open|acknowledged|closed|resolved)\]?[:\s-]+)",
    re.IGNORECASE,
)
_STATES: dict[str, AlertStatus] = {"acknowledged": "acknowledged", "closed": "resolved", "resolved": "resolved"}


def _claims(post: Post) -> bool:
    return post.said_by("newrelic") or (
        link_to(post, "newrelic") is not None and first_match(_STATE, headings(post)) is not None
    )


def _read(post: Post) -> Reading | None:
    known, lines = said(post), list(headings(post))
    found = (
        first_match(_WORD, [known.get("state", "status", "issue state")])
        or first_match(_STATE, lines)
        or first_match(_MARKED, lines)
    )
    if found is None or is_digest(post):
        return None
    state = found[found.lastindex or 0].casefold()
    level, number = first_match(_LEVEL, lines), first_match(_NUMBER, lines)
    labels = known.labels(
        entity=("impacted entities", "impacted entity", "entity", "entities", "target", "targets"),
        policy=("policy", "policy name", "alert policy", "policies"),
        condition=("condition", "condition name", "conditions"),
        account=("account", "account name"),
    )
    alert = make_alert(
        SENDER.name,
        _name(post, known, lines),
        _STATES.get(state, "firing"),
        severity=known.get("priority", "severity") or (level[1] if level else None),
        labels={**labels, **({"incident": number[1]} if number else {})},
        annotations=known.labels(description=("description", "details")),
        value=known.get("value", "current value"),
        starts_at=read_time(known.get("started", "started at", "opened", "opened at", "activated at", "created at")),
        ends_at=read_time(known.get("closed at", "closed", "ended at")),
        links=links_by_kind(post),
        raw=post.whole(),
    )
    return Reading((alert,))


def _name(post: Post, known: Said, lines: list[str]) -> str | None:
    """The attachment's title, the issue's linked title, or the first heading past its state."""
    title = next((_PREFIX.sub("", heading(part.title)) for part in post.parts if part.title and not _STATE.search(part.title)), "")
    labels = (heading(link.label) for link in links_of(post) if "/issue" in link.url or "/incident" in link.url)
    label = next((label for label in labels if label and not _NUMBER.match(label) and not _NO_NAME.match(label)), "")
    rest = (cut for line in lines if (cut := _PREFIX.sub("", line)) != line and cut)
    return (
        title
        or known.get("title", "issue title")
        or label
        or next(rest, None)
        or known.get("condition", "condition name")
    )


SENDER = Sender(name="newrelic", claims=_claims, read=_read)
