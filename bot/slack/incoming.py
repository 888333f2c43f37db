"""A message event, read once at the border: where, who, what was said, and whether it can start anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.slack.text import mentioned, message_text, read_markup
from storage.jobs import JobKey
from storage.sessions import Thread

# What people write has no subtype, comes with a file, is sent to the channel too, or is a /me.
_PEOPLES = (None, "file_share", "thread_broadcast", "me_message")
MENTION = "mention"


@dataclass(frozen=True)
class Incoming:
    """`text` is what was said, without our mention; `others` are the further people whom it mentions. `kind` is
    channel, group, im, mpim or empty (an app_mention does not say). `deleted_ts` is set where this tells of a deletion;
    `thread_ts` is the deleted message's then."""

    team: str
    channel: str
    kind: str
    ts: str
    thread_ts: str | None
    user: str
    text: str
    is_mention: bool
    others: tuple[str, ...]
    event_id: str
    starts_nothing: bool
    has_files: bool
    deleted_ts: str = ""

    @property
    def thread(self) -> Thread:
        return Thread(self.team, self.channel, self.thread_ts or self.ts)

    @property
    def key(self) -> JobKey:
        """One key for app_mention and message, and for every delivery of them."""
        return JobKey(self.team, self.channel, self.ts, MENTION)

    @property
    def at(self) -> datetime:
        return instant(self.ts)

    @property
    def is_direct(self) -> bool:
        return self.kind == "im" or self.channel.startswith("D")


def read_message(body: Mapping[str, Any], team: str, bot_user: str) -> Incoming:
    """From the envelope of a message or app_mention event. Missing fields become empty ones: such an event starts nothing."""
    event = _mapping(body.get("event"))
    text, user = _text(event.get("text")), _text(event.get("user"))
    named = mentioned(text)
    own_words = read_markup(text, without=bot_user)
    deleted_ts = _text(event.get("deleted_ts"))
    gone = _mapping(event.get("previous_message"))
    thread_ts = (gone.get("thread_ts") or deleted_ts) if deleted_ts else event.get("thread_ts")
    return Incoming(
        team=team,
        channel=_text(event.get("channel")),
        kind=_text(event.get("channel_type")),
        ts=_text(event.get("ts")),
        thread_ts=_text(thread_ts) or None,
        user=user,
        text=own_words or ("" if bot_user in named else _of_blocks(event)),
        is_mention=bot_user in named or event.get("type") == "app_mention",
        others=tuple(name for name in named if name != bot_user),
        event_id=_text(body.get("event_id")),
        starts_nothing=_starts_nothing(event),
        has_files=bool(event.get("files")),
        deleted_ts=deleted_ts,
    )


def instant(ts: str) -> datetime:
    """A message's time stamp as an instant; the epoch for what is none."""
    try:
        return datetime.fromtimestamp(float(ts), UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _text(value: object) -> str:
    """What no database takes (half a character) becomes a question mark."""
    return str(value or "").encode(errors="replace").decode()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _starts_nothing(event: Mapping[str, Any]) -> bool:
    """Bots, edits, deletions, joins, unfurls and what has no author, place or time."""
    missing = not (event.get("user") and event.get("channel") and event.get("ts"))
    machine = event.get("bot_id") or event.get("hidden") or event.get("user") == "USLACKBOT"
    return bool(missing or machine or event.get("edited") or event.get("subtype") not in _PEOPLES)


def _of_blocks(event: Mapping[str, Any]) -> str:
    return message_text({"blocks": event.get("blocks")})
