"""Sentry's Slack app: metric alerts (`Critical: name`) and issues (title, tags in back-ticks, project and short id below)."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import first_match, heading, headings, link_to, links_by_kind, links_of, said
from bot.alert_reading.times import read_time

_METRIC = re.compile(r"\A(Critical|Warning|Resolved|Triggered): (\S.*)\Z", re.IGNORECASE)
_VALUE = re.compile(r"\A\W*(\d[\d.,]*\s?(?:%|[a-zµ]{1,2}\b)?)", re.IGNORECASE)
_TAG = re.compile(r"([\w.-]{1,60}): `([^`\n]{1,500})`")
_OVER = re.compile(
    r"\Aissue (?:was |has been |marked as |automatically ){0,2}resolved\b|\Aresolved (?:issue|by)\b|\bmarked\b[^\n]{0,80}\bas resolved\b|"
    r"\A\S{1,60}(?: \S{1,60})? resolved (?:issue\b|(?-i:[A-Z][A-Z0-9_]{0,30}-[0-9A-Z]{1,8})\b)",
    re.IGNORECASE,
)
_ARCHIVED = re.compile(r"\Aissue (?:was |has been |marked as ){0,2}(?:archived|ignored)\b", re.IGNORECASE)
_SHORT_ID = re.compile(r"[A-Z][A-Z0-9_-]{0,60}-[0-9A-Z]{1,8}")


def _claims(post: Post) -> bool:
    link = link_to(post, "sentry.io/")
    return post.said_by("sentry") or (link is not None and _METRIC.match(heading(link.label)) is not None)


def _read(post: Post) -> Reading | None:
    metric = first_match(_METRIC, headings(post))
    if metric and link_to(post, "/alerts/", "/issues/", "/monitors/"):
        return _metric(post, metric)
    return _issue(post)


def _metric(post: Post, title: re.Match[str]) -> Reading:
    word = title[1].casefold()
    body = "\n".join(part.text for part in post.parts)
    value = _VALUE.search(body)
    alert = make_alert(
        SENDER.name,
        title[2],
        "resolved" if word == "resolved" else "firing",
        severity=title[1] if word in ("critical", "warning") else None,
        annotations={"summary": body.partition("\n")[0]} if body else {},
        value=value[1] if value else None,
        starts_at=read_time(body),
        links=links_by_kind(post),
        raw=post.whole(),
    )
    return Reading((alert,))


def _issue(post: Post) -> Reading | None:
    link = next((link for link in links_of(post) if "/issues/" in link.url), None)
    if link is None:
        return None
    known, body = said(post), post.whole()
    own = next((part.title for part in post.parts if part.title_link == link.url), "")
    name = heading(own or link.label)
    tags = dict(_TAG.findall(body[:8_000]))
    fields = {field.title: field.value for field in post.fields if field.title.islower()}
    labels = fields | tags | known.labels(project=("project",), short_id=("short id",)) | _of_footer(post)
    only_id, status = _SHORT_ID.fullmatch(name), _status(post, known.get("state"))
    if only_id and status == "firing":
        return Reading(ignored_reason="said of an issue, its state is the same")
    if not only_id and name not in headings(post):
        return None
    alert = make_alert(
        SENDER.name,
        None if only_id else name,
        status,
        severity=tags.get("level") or known.get("level"),
        labels={**labels, **({"short_id": name} if only_id else {})},
        links=links_by_kind(post, link.url),
        raw=body,
    )
    return Reading((alert,))


def _of_footer(post: Post) -> dict[str, str]:
    """Older posts: `SHOP-1A via prod errors` below an attachment."""
    found = next((match for part in post.parts if (match := _SHORT_ID.match(part.footer))), None)
    return {"short_id": found[0]} if found else {}


def _status(post: Post, state: str) -> AlertStatus:
    lines = [heading(line) for part in post.parts for line in part.text[:4_000].splitlines()]
    lines.append(heading(post.text))
    if state.casefold() == "resolved" or first_match(_OVER, lines):
        return "resolved"
    return "acknowledged" if state.casefold() in ("archived", "ignored") or first_match(_ARCHIVED, lines) else "firing"


SENDER = Sender(name="sentry", claims=_claims, read=_read)
