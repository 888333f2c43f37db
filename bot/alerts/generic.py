"""Any alert-like post whose sender is not known."""

from __future__ import annotations

from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post


def _claims(_: Post) -> bool:
    return True


def _read(_: Post) -> Reading | None:
    return None


SENDER = Sender(name="unknown", claims=_claims, read=_read)
