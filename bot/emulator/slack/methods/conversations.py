"""conversations.*: what the bot may read of channels and threads."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack.arguments import Arguments, flag, page, required
from bot.emulator.slack.messages import public
from bot.emulator.slack.methods.base import Method, readable
from bot.emulator.slack.refusals import Refused
from bot.emulator.slack.state import BOT_USER, TEAM_ID, Channel, Json
from bot.emulator.slack.world import World

PLURALS = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}
KINDS = {"channel": "public_channel", "group": "private_channel", "im": "im", "mpim": "mpim"}
READ = ("channels:read", "groups:read", "im:read", "mpim:read")
HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")


def history(world: World, arguments: Arguments) -> dict[str, Any]:
    """Newest first, without the replies of threads."""
    channel = _with_history(world, arguments)
    stored = world.state.messages.get(channel.id, {}).values()
    roots = [message for message in stored if _is_root(message) and _between(message["ts"], arguments)]
    return _answer(sorted(roots, key=_instant, reverse=True), arguments)


def replies(world: World, arguments: Arguments) -> dict[str, Any]:
    """Oldest first, the root in front."""
    channel = _with_history(world, arguments)
    named = str(required(arguments, "ts"))
    message = world.state.message(channel.id, named)
    root_ts = str(message.get("thread_ts") or named) if message else named
    root = world.state.message(channel.id, root_ts)
    answers = world.state.replies(channel.id, root_ts)
    if root is None and not answers:
        raise Refused("thread_not_found")
    chosen = [root] if root else []
    return _answer([*chosen, *(each for each in answers if _between(each["ts"], arguments))], arguments)


def info(world: World, arguments: Arguments) -> dict[str, Any]:
    return {"channel": described(world.state.seen_by_bot(required(arguments, "channel")))}


def list_(world: World, arguments: Arguments) -> dict[str, Any]:
    types = str(arguments.get("types") or "public_channel").split(",")
    channels = [
        channel
        for channel in world.state.channels.values()
        if KINDS[channel.kind] in types
        and (channel.kind == "channel" or BOT_USER in channel.members)
        and not (flag(arguments, "exclude_archived") and channel.is_archived)
    ]
    some, cursor = page([described(channel) for channel in channels], arguments)
    return {"channels": some, "response_metadata": {"next_cursor": cursor}}


def members(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = world.state.seen_by_bot(required(arguments, "channel"))
    some, cursor = page(sorted(channel.members), arguments)
    return {"members": some, "response_metadata": {"next_cursor": cursor}}


def open_(world: World, arguments: Arguments) -> dict[str, Any]:
    """The direct message with one person."""
    if arguments.get("channel"):
        return {"channel": {"id": world.state.seen_by_bot(arguments["channel"]).id}}
    asked = str(required(arguments, "users")).split(",")
    if len(asked) != 1 or asked[0] not in world.state.users:
        raise Refused("user_not_found")
    channel = world.state.direct(world.state.users[asked[0]])
    return {"channel": described(channel) if flag(arguments, "return_im") else {"id": channel.id}}


def join(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = world.state.seen_by_bot(required(arguments, "channel"))
    if channel.is_archived:
        raise Refused("is_archived")
    channel.members.add(BOT_USER)
    return {"channel": described(channel)}


def described(channel: Channel) -> Json:
    """A conversation object."""
    if channel.kind == "im":
        return {"id": channel.id, "is_im": True, "user": channel.user, "is_archived": False, "is_org_shared": False}
    return {
        "id": channel.id, "name": channel.name, "is_channel": channel.kind == "channel",
        "is_group": channel.kind == "group", "is_im": False, "is_mpim": channel.kind == "mpim",
        "is_private": channel.kind != "channel", "is_archived": channel.is_archived,
        "is_member": BOT_USER in channel.members, "is_ext_shared": channel.is_ext_shared,
        "is_shared": channel.is_ext_shared, "is_general": False, "context_team_id": TEAM_ID,
        "topic": {"value": channel.topic}, "purpose": {"value": ""}, "num_members": len(channel.members),
    }  # fmt: skip


def _with_history(world: World, arguments: Arguments) -> Channel:
    """Each kind of conversation has its own scope."""
    channel = readable(world, required(arguments, "channel"))
    needed, scopes = f"{PLURALS[channel.kind]}:history", world.behaviour.scopes
    if needed not in scopes:
        raise Refused("missing_scope", {"needed": needed, "provided": ",".join(sorted(scopes))})
    return channel


def _answer(found: list[Json], arguments: Arguments) -> dict[str, Any]:
    some, cursor = page(found, arguments)
    metadata = flag(arguments, "include_all_metadata")
    shown = [public(message, metadata=metadata) for message in some]
    return {"messages": shown, "has_more": bool(cursor), "response_metadata": {"next_cursor": cursor}}


def _is_root(message: Json) -> bool:
    return message.get("thread_ts") in (None, message["ts"]) or message.get("subtype") == "thread_broadcast"


def _instant(message: Json) -> float:
    return float(message["ts"])


def _between(ts: str, arguments: Arguments) -> bool:
    oldest, latest = arguments.get("oldest") or "0", arguments.get("latest") or "9999999999"
    if flag(arguments, "inclusive"):
        return float(oldest) <= float(ts) <= float(latest)
    return float(oldest) < float(ts) < float(latest)


METHODS = {
    "conversations.history": Method(history, HISTORY),
    "conversations.replies": Method(replies, HISTORY),
    "conversations.info": Method(info, READ),
    "conversations.list": Method(list_, READ),
    "conversations.members": Method(members, READ),
    "conversations.open": Method(open_, ("im:write",)),
    "conversations.join": Method(join, ("channels:join",)),
}
