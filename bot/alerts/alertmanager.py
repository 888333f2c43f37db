"""Prometheus Alertmanager: its default Slack template, and bodies of the team's own under the same title."""

from __future__ import annotations

import re

from bot.alert_reading.bracketed import read_bracketed
from bot.alert_reading.loose import read_loosely
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post

# Its own form of a title; others write [RESOLVED] too.
_NUMBERED = re.compile(r"\[FIRING:\d+")


def _claims(post: Post) -> bool:
    if post.said_by("grafana") or any(part.footer.startswith("Grafana") for part in post.parts):
        return False
    if post.said_by("alertmanager", "prometheus") or any(_NUMBERED.search(title[:80]) for title in post.titles()):
        return True
    return any("/#/alerts" in part.title_link or "/#/alerts" in part.fallback for part in post.parts)


def _read(post: Post) -> Reading | None:
    return read_bracketed(post, SENDER.name) or read_loosely(post, SENDER.name)


SENDER = Sender(name="alertmanager", claims=_claims, read=_read)
