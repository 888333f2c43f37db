"""Gatus: the attachment's title is the product's name, its text has the endpoint."""

from __future__ import annotations

import re

from bot.alert_reading.build import make_alert
from bot.alert_reading.markup import bare
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.words import status_of

_TEXT = re.compile(r"An alert for \*?([^\n*]{1,300}?)\*? has been (triggered|resolved)\b([^\n]*)(.*)", re.DOTALL)


def _claims(post: Post) -> bool:
    return any(_TEXT.match(part.text) for part in post.parts) or _TEXT.match(post.text) is not None


def _read(post: Post) -> Reading | None:
    part = next((part for part in post.parts if _TEXT.match(part.text)), None)
    match = _TEXT.match(part.text if part else post.text)
    status = status_of(match[2]) if match else None
    if match is None or status is None:
        return None
    alert = make_alert(
        SENDER.name,
        match[1],
        status,
        labels={"endpoint": match[1]},
        annotations={
            "description": match[4].strip().lstrip("> ").strip(),
            "reason": match[3].strip(" :"),
            "conditions": bare(part.field("Condition results")) if part else "",
        },
        raw=post.whole(),
    )
    return Reading((alert,))


SENDER = Sender(name="gatus", claims=_claims, read=_read)
