"""The Web API's methods by family; METHODS holds them all with the scope that each needs."""

from __future__ import annotations

from bot.emulator.slack.methods import (
    blocks,
    chat,
    conversations,
    files,
    people,
    reactions,
    sessions,
    streams,
    views,
)
from bot.emulator.slack.methods.base import Method

METHODS: dict[str, Method] = {
    **blocks.METHODS,
    **chat.METHODS,
    **conversations.METHODS,
    **files.METHODS,
    **people.METHODS,
    **reactions.METHODS,
    **sessions.METHODS,
    **streams.METHODS,
    **views.METHODS,
}
