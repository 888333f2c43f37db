"""reactions.*: the bot's own reactions, and what everybody left on a message."""

from __future__ import annotations

import re
from typing import Any

from bot.emulator.slack import messages
from bot.emulator.slack.arguments import Arguments, required
from bot.emulator.slack.methods.base import Method, message_at, readable, writable
from bot.emulator.slack.refusals import Refused
from bot.emulator.slack.state import BOT_USER
from bot.emulator.slack.world import World

NAME = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")


def add(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = writable(world, required(arguments, "channel"))
    message = message_at(world, channel, arguments, "timestamp")
    if not messages.react(world, channel, message, BOT_USER, _name(arguments)):
        raise Refused("already_reacted")
    return {}


def remove(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = writable(world, required(arguments, "channel"))
    message = message_at(world, channel, arguments, "timestamp")
    if not messages.unreact(world, channel, message, BOT_USER, _name(arguments)):
        raise Refused("no_reaction")
    return {}


def get(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = readable(world, required(arguments, "channel"))
    message = message_at(world, channel, arguments, "timestamp")
    return {"type": "message", "channel": channel.id, "message": messages.public(message)}


def _name(arguments: Arguments) -> str:
    name = str(required(arguments, "name")).strip(":")
    if NAME.fullmatch(name) is None:
        raise Refused("invalid_name")
    return name


METHODS = {
    "reactions.add": Method(add, ("reactions:write",)),
    "reactions.remove": Method(remove, ("reactions:write",)),
    "reactions.get": Method(get, ("reactions:read",)),
}
