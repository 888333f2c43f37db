"""Is it ours? A post of this bot, or of another Proofthread in the same channel: neither is an alert, or two bots would
triage each other for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.blocks import ids
from bot.slack.identity import Identity

# What our metadata begin with, and the app's name unless somebody chose another.
NAME = "proofthread"
_BUTTONS = frozenset({ids.EVIDENCE, ids.TRACE})


def is_ours(message: Mapping[str, Any], bot: Identity) -> bool:
    """By its author, by what we put into a message for ourselves, by its buttons, or by the app's name."""
    if message.get("user") == bot.user_id or (bot.bot_id and message.get("bot_id") == bot.bot_id):
        return True
    metadata, profile = message.get("metadata"), message.get("bot_profile")
    if isinstance(metadata, Mapping) and str(metadata.get("event_type") or "").startswith(NAME):
        return True
    named = (message.get("username"), profile.get("name") if isinstance(profile, Mapping) else None)
    if any(str(name or "").lower().startswith(NAME) for name in named):
        return True
    return set(_actions(message.get("blocks"))) >= _BUTTONS


def _actions(blocks: object) -> Iterator[str]:
    for block in blocks if isinstance(blocks, list) else []:
        elements = block.get("elements") if isinstance(block, Mapping) else None
        for element in elements if isinstance(elements, list) else []:
            if isinstance(element, Mapping) and element.get("action_id"):
                yield str(element["action_id"])
