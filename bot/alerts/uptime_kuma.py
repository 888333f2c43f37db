"""Uptime Kuma: `[Monitor] [🔴 Down] reason`, in blocks within an attachment or as plain text."""

from __future__ import annotations

import re

from bot.alert_reading.build import Links, make_alert
from bot.alert_reading.markup import bare
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.times import read_time, zone_in
from bot.alert_reading.words import status_of

_MESSAGE = re.compile(r"\[([^\n]{1,200})\] \[[^\w\]\n]{0,6}(Down|Up)\] ?(.*)", re.DOTALL)
_CERTIFICATE = re.compile(r"\[([^\n\]]{1,200})\]\[(https?://[^\n\]\s]{1,500})\] ([^\n]{0,200}\bcertificate\b[^\n]{0,300}\bexpired?\b[^\n]{0,100})")
_MENTION = re.compile(r"\s{0,5}@(?:channel|here|everyone)\Z")


def _claims(post: Post) -> bool:
    return post.said_by("uptimekuma") or "Uptime Kuma" in post.text[:200] or _MESSAGE.search(post.text[:400]) is not None


def _read(post: Post) -> Reading | None:
    message = _MENTION.sub("", (post.field("Message") or post.text)[:4_000].rstrip())
    match = _MESSAGE.search(message)
    status = status_of(match[2]) if match else None
    if match is None or status is None:
        return _expiry(message)
    buttons = [(button.label, button.url) for part in post.parts for button in part.buttons]
    alert = make_alert(
        SENDER.name,
        match[1],
        status,
        labels={"monitor": match[1]},
        annotations={"description": bare(match[3])},
        at=_time(post),
        links=Links().add_all(("dashboard" if "kuma" in label.casefold() else label, url) for label, url in buttons).by_kind(),
        raw=message,
    )
    return Reading((alert,))


def _expiry(message: str) -> Reading | None:
    match = _CERTIFICATE.search(message)
    if match is None:
        return None
    links = Links().add("monitor", match[2]).by_kind()
    notes = {"description": match[3]}
    alert = make_alert(SENDER.name, match[1], "firing", labels={"monitor": match[1]}, annotations=notes, links=links, raw=message)
    return Reading((alert,))


def _time(post: Post) -> str | None:
    """`Time (UTC)`, `Time (Asia/Shanghai)`."""
    field = next((field for field in post.fields if field.title.startswith("Time")), None)
    return read_time(field.value, zone=zone_in(field.title)) if field else None


SENDER = Sender(name="uptime-kuma", claims=_claims, read=_read)
