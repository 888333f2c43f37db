"""UptimeRobot: `Monitor is DOWN: name ( address ) - Reason: …`, as text or as an attachment's title."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import make_alert
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import first_match, headings, links_by_kind, links_of, said
from bot.alert_reading.times import read_time

_TITLE = re.compile(
    r"\A(?:Monitor(?: is|'s)? (?P<what>DOWN|UP|SSL[^:\n]{0,80}|domain[^:\n]{0,80}|PAUSED|STARTED|[a-z ]*response[^:\n]{0,60})|(?P<short>DOWN|UP)):\s*(?P<name>\S.*)\Z"
    r"|\A(?P<name2>[^:\n]{1,200}?) (?:is|went) (?:currently |now |back )?(?P<what2>down|up)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"\s*\(\s*(?P<url>(?:https?://|[\w-]+(?:\.[\w-]+)+)[^\s)]*)\s*\).*\Z|\s+-\s+Reason:.*\Z|\.?\s+It was down for.*\Z",
    re.IGNORECASE,
)
_REASON = re.compile(r"\bReason:\s*([^\n]{1,500})", re.IGNORECASE)


def _claims(post: Post) -> bool:
    return post.said_by("uptimerobot") or post.text.startswith(("Monitor is DOWN:", "Monitor is UP:"))


def _read(post: Post) -> Reading | None:
    title = first_match(_TITLE, headings(post))
    if title is None:
        return None
    what = (title["what"] or title["short"] or title["what2"]).casefold()
    if what in ("paused", "started"):
        return Reading(ignored_reason="a monitor was paused or started")
    known, name = said(post), title["name"] or title["name2"]
    address = _ADDRESS.search(name)
    url = known.get("monitor url", "url") or (address["url"] if address else None) or _first_address(post)
    reason = _REASON.search(name)
    status: AlertStatus = "resolved" if what.split()[0] == "up" else "firing"
    alert = make_alert(
        SENDER.name,
        name[: address.start()] if address else name,
        status,
        labels={"url": url},
        annotations={"reason": known.get("reason", "root cause") or (reason[1] if reason else "")},
        starts_at=read_time(
            known.get("started at", "started", "incident started", "incident started at", "down since")
        ),
        ends_at=read_time(known.get("resolved at", "ended at")),
        links=links_by_kind(post),
        raw=post.whole(),
    )
    return Reading((alert,))


def _first_address(post: Post) -> str:
    """Of what is monitored: a link that is no page of UptimeRobot's own."""
    return next((link.url for link in links_of(post) if "uptimerobot" not in link.url), "")


SENDER = Sender(name="uptimerobot", claims=_claims, read=_read)
