"""Any alert-like post whose sender is not known, asked last."""

from __future__ import annotations

from bot.alert_reading.changes import change_note
from bot.alert_reading.loose import read_loosely
from bot.alert_reading.noise import is_digest, is_reply_to_another
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post


def _claims(post: Post) -> bool:
    return not is_reply_to_another(post) and not is_digest(post) and change_note(post) is None


def _read(post: Post) -> Reading | None:
    return read_loosely(post, SENDER.name)


SENDER = Sender(name="unknown", claims=_claims, read=_read)
