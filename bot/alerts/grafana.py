"""Grafana: unified alerting's default template (token or webhook), and the legacy `[Alerting] Panel` form."""

from __future__ import annotations

from bot.alert_reading.bracketed import read_bracketed
from bot.alert_reading.loose import read_loosely
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post


def _claims(post: Post) -> bool:
    return post.said_by("grafana") or any(part.footer.startswith("Grafana") for part in post.parts)


def _read(post: Post) -> Reading | None:
    return read_bracketed(post, SENDER.name) or read_loosely(post, SENDER.name)


SENDER = Sender(name="grafana", claims=_claims, read=_read)
