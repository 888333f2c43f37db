"""Alert posts by sender: one file a sender with SENDER, found by being here; generic.py is asked last."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from bot.alert_reading.build import with_sender
from bot.alert_reading.changes import change_note
from bot.alert_reading.noise import deleted_ts_of, is_deletion, reason_before, reason_without, same_content
from bot.alert_reading.overall import overall_status
from bot.alert_reading.parsed import ChangeNote, Parsed, Reading, Sender
from bot.alert_reading.post import Post, read_message, read_post, squeezed

__all__ = ["ChangeNote", "Parsed", "Reading", "Sender", "parse_alerts", "senders"]

LAST = "generic"


def parse_alerts(event: Mapping[str, Any], *, own_bot_ids: Collection[str] = ()) -> Parsed:
    """What a Slack message event says of alerts. `own_bot_ids`: this bot's bot, user and app ids. Pure; takes any JSON."""
    if not isinstance(event, Mapping):
        return Parsed(ignored_reason="not a message event")
    if is_deletion(event):
        return Parsed(ignored_reason="the post was deleted", update_of_ts=deleted_ts_of(event))
    post = read_post(event)
    if reason := reason_before(post, own_bot_ids):
        change = change_note(post) if post.by_person else None
        return Parsed(ignored_reason=reason, change=change, update_of_ts=_edited(post))
    if post.is_edit and _only_unfurled(event, post):
        return Parsed(ignored_reason="the same post: only a preview or a mark was added", update_of_ts=post.update_of_ts)
    return _parsed(post, _reading(post))


@cache
def senders() -> tuple[Sender, ...]:
    """All, by their files' names, the generic one last."""
    names = sorted((found.name for found in pkgutil.iter_modules(__path__)), key=lambda name: (name == LAST, name))
    return tuple(importlib.import_module(f"{__name__}.{name}").SENDER for name in names)


def _reading(post: Post) -> Reading | None:
    """The first that knows the post's form. The generic one reads for a known sender that posts in a form of its own."""
    named = ""
    for sender in senders():
        if sender.claims(post):
            if reading := sender.read(post):
                return _said_by(reading, named) if named else reading
            named = named or (sender.name if post.said_by(squeezed(sender.name)) else "")
    return None


def _said_by(reading: Reading, sender: str) -> Reading:
    return replace(reading, alerts=tuple(with_sender(alert, sender) for alert in reading.alerts))


def _parsed(post: Post, reading: Reading | None) -> Parsed:
    if reading is None or not reading.alerts:
        change = reading.change if reading else change_note(post)
        reason = (reading.ignored_reason if reading else None) or ("a deploy note" if change else reason_without(post))
        return Parsed(ignored_reason=reason, change=change, update_of_ts=_edited(post))
    return Parsed(
        alerts=reading.alerts,
        count=max(reading.count or 0, len(reading.alerts)),
        status=overall_status(reading.alerts),
        update_of_ts=post.update_of_ts,
        change=reading.change,
    )


def _edited(post: Post) -> str | None:
    return post.update_of_ts if post.is_edit else None


def _only_unfurled(event: Mapping[str, Any], post: Post) -> bool:
    before = event.get("previous_message")
    return isinstance(before, Mapping) and same_content(read_message(before), post)
