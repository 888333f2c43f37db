"""Datadog's Slack app: `Triggered: [P2] name`, tags in a field, the time in a sentence."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import first_match, headings, link_to, links_by_kind, said, tagged, tags_of, without
from bot.alert_reading.times import read_time

_TITLE = re.compile(
    r"\A(?:\[(?P<first>P[1-5])\]\s*)?\[?(?P<state>(?:re-?)?triggered|recovered|(?:re-?)?warn(?:ing|ed)?|no[ -]?data|re-?no[ -]?data|re-?notif(?:y|ied)|escalated|alert|ok)"
    r"(?: from [\w ]{2,20})?(?: on (?P<group>\{[^{}]*\}))?\]?:?\s+(?:\[(?P<code>P[1-5])\]\s*)?(?P<name>\S.*)\Z",
    re.IGNORECASE,
)
_SCOPE = re.compile(r"\{([\w.@/-]+:[^{}]{1,300})\}|\s(?:on|over|for) ([\w.-]+:[^\s,{}]+)\Z")
_LAST = re.compile(r"last (triggered|resolved|recovered) at ([^.\n(]{10,60})", re.IGNORECASE)
_VALUE = re.compile(r"(?:metric|current|last) value:?\s*\**([^\s*]+(?: ?%)?)", re.IGNORECASE)
_QUERY = re.compile(r"`([^`\n{]{0,200}\{[^`\n]{0,300}[<>=][^`\n]{0,300})`")
_STATES: dict[str, AlertStatus] = {
    "recovered": "resolved",
    "ok": "resolved",
    "nodata": "no_data",
    "renodata": "no_data",
}


def _claims(post: Post) -> bool:
    return post.said_by("datadog") or (link_to(post, "datadog") is not None and _title(post) is not None)


def _read(post: Post) -> Reading | None:
    title = _title(post)
    if title is None:
        return None
    known, body = said(post), post.whole()
    state = re.sub(r"[^a-z]", "", title["state"].casefold())
    times = {word.casefold(): read_time(at) for word, at in _LAST.findall(body)}
    query, value = _QUERY.search(body), _VALUE.search(body)
    alert = make_alert(
        SENDER.name,
        title["name"],
        _STATES.get(state, "firing"),
        severity=title["code"]
        or title["first"]
        or known.get("priority")
        or (title["state"] if state.startswith("warn") else None),
        labels={**_scope(title), **without(tags_of(post), "tags")},
        annotations={"query": query[1]} if query else {},
        value=value[1] if value else None,
        starts_at=times.get("triggered"),
        ends_at=times.get("resolved") or times.get("recovered"),
        links=links_by_kind(post),
        raw=body,
    )
    return Reading((alert,))


def _title(post: Post) -> re.Match[str] | None:
    return first_match(_TITLE, headings(post))


def _scope(title: re.Match[str]) -> dict[str, str]:
    """`{service:checkout,env:prod}` in the title, or `on host:web-1` at its end."""
    found = [one or two for one, two in _SCOPE.findall(f"{title['name']} {title['group'] or ''}".strip())]
    return {key: value for scope in found for key, value in without(tagged(scope), "tags").items()}


SENDER = Sender(name="datadog", claims=_claims, read=_read)
