"""What every Web API method is, and the questions that most of them ask first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.emulator.slack.arguments import Arguments, required
from bot.emulator.slack.refusals import Refused
from bot.emulator.slack.state import BOT_USER, Channel, Json
from bot.emulator.slack.world import World

Run = Callable[[World, Arguments], dict[str, Any]]


@dataclass(frozen=True)
class Method:
    """`scopes`: any one of them is enough; none means that every bot token may. `app_level` takes the app's token."""

    run: Run
    scopes: tuple[str, ...] = ()
    app_level: bool = False


def writable(world: World, named: object) -> Channel:
    """The conversation to post to; a user id means the direct message with that person."""
    if str(named).startswith("U") and str(named) in world.state.users:
        return world.state.direct(world.state.users[str(named)])
    channel = world.state.seen_by_bot(named)
    if channel.is_archived:
        raise Refused("is_archived")
    if BOT_USER not in channel.members:
        raise Refused("not_in_channel")
    return channel


def readable(world: World, named: object) -> Channel:
    channel = world.state.seen_by_bot(named)
    if BOT_USER not in channel.members:
        raise Refused("not_in_channel")
    return channel


def message_at(world: World, channel: Channel, arguments: Arguments, name: str = "ts") -> Json:
    message = world.state.message(channel.id, str(required(arguments, name)))
    if message is None or message.get("subtype") == "tombstone":
        raise Refused("message_not_found")
    return message
