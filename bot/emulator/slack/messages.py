"""What happens to messages, whoever does it: posted, edited, deleted, reacted to; page and app hear of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from bot.emulator.slack import events
from bot.emulator.slack.state import Channel, Json
from bot.emulator.slack.world import World


def post(world: World, channel: Channel, fields: Mapping[str, Any]) -> Json:
    """Stores a message with the next time stamp and returns it. A reply to a reply joins its thread."""
    message: Json = {"type": "message", **fields, "ts": world.state.next_ts()}
    message.setdefault("text", "")
    _number_blocks(message, world)
    root_ts = _root_of(world, channel, message.get("thread_ts"))
    if root_ts is not None:
        message["thread_ts"] = root_ts
    world.state.messages.setdefault(channel.id, {})[message["ts"]] = message
    if root_ts is not None:
        world.state.threads.setdefault((channel.id, root_ts), []).append(message["ts"])
        _count_replies(world, channel, root_ts)
    shown(world, channel, message)
    events.message_posted(world, channel, message)
    return message


def edit(
    world: World, channel: Channel, message: Json, fields: Mapping[str, Any], *, edited_by: str | None = None
) -> None:
    """Changes fields in place (None removes); `edited_by` leaves Slack's edited mark."""
    previous = copy.deepcopy(message)
    for name, value in fields.items():
        if value is None:
            message.pop(name, None)
        else:
            message[name] = value
    if edited_by is not None:
        message["edited"] = {"user": edited_by, "ts": world.state.next_ts()}
    _number_blocks(message, world)
    shown(world, channel, message)
    events.message_changed(world, channel, message, previous)


def remove(world: World, channel: Channel, message: Json) -> None:
    """A root with replies leaves a tombstone, everything else is gone."""
    ts = message["ts"]
    previous = copy.deepcopy(message)
    if world.state.replies(channel.id, ts):
        for name in ("blocks", "attachments", "files", "metadata", "reactions"):
            message.pop(name, None)
        message |= {"subtype": "tombstone", "text": "This message was deleted.", "user": "USLACKBOT"}
        shown(world, channel, message)
    else:
        del world.state.messages[channel.id][ts]
        world.streams.pop((channel.id, ts), None)
        root_ts = message.get("thread_ts")
        if root_ts and root_ts != ts:
            world.state.threads[channel.id, root_ts].remove(ts)
            _count_replies(world, channel, root_ts)
        world.changes.publish("message_gone", channel=channel.id, ts=ts)
    events.message_deleted(world, channel, previous)


def react(world: World, channel: Channel, message: Json, user: str, name: str) -> bool:
    """False when the person has reacted like that already."""
    reactions = message.setdefault("reactions", [])
    found = next((each for each in reactions if each["name"] == name), None)
    if found is None:
        found = {"name": name, "users": [], "count": 0}
        reactions.append(found)
    if user in found["users"]:
        return False
    found["users"].append(user)
    found["count"] = len(found["users"])
    shown(world, channel, message)
    events.reaction(world, "reaction_added", channel, message, user, name)
    return True


def unreact(world: World, channel: Channel, message: Json, user: str, name: str) -> bool:
    """False when there is no such reaction of that person."""
    reactions = message.get("reactions", [])
    found = next((each for each in reactions if each["name"] == name and user in each["users"]), None)
    if found is None:
        return False
    found["users"].remove(user)
    found["count"] = len(found["users"])
    if not found["users"]:
        reactions.remove(found)
    shown(world, channel, message)
    events.reaction(world, "reaction_removed", channel, message, user, name)
    return True


def public(message: Json, *, metadata: bool = False) -> Json:
    """A message as the Web API answers it: its metadata only where asked for."""
    return {
        name: value for name, value in message.items() if name != "ephemeral_to" and (metadata or name != "metadata")
    }


def shown(world: World, channel: Channel, message: Json) -> None:
    world.changes.publish("message", channel=channel.id, message=message)


def whisper(world: World, channel: Channel, user: str, fields: Mapping[str, Any]) -> Json:
    """An ephemeral message: on one person's page only, in no history, no event."""
    message: Json = {"type": "message", **fields, "ts": world.state.next_ts(), "ephemeral_to": user}
    _number_blocks(message, world)
    world.state.ephemerals.setdefault(channel.id, []).append(message)
    shown(world, channel, message)
    return message


def _root_of(world: World, channel: Channel, thread_ts: object) -> str | None:
    if not thread_ts:
        return None
    named = world.state.message(channel.id, str(thread_ts))
    return str(named.get("thread_ts") or named["ts"]) if named else str(thread_ts)


def _count_replies(world: World, channel: Channel, root_ts: str) -> None:
    root = world.state.message(channel.id, root_ts)
    if root is None:
        return
    replies = world.state.replies(channel.id, root_ts)
    if not replies:
        for name in ("thread_ts", "reply_count", "reply_users", "reply_users_count", "latest_reply"):
            root.pop(name, None)
    else:
        who = list(dict.fromkeys(str(reply.get("user") or reply.get("bot_id")) for reply in replies))
        root |= {
            "thread_ts": root_ts, "reply_count": len(replies), "reply_users": who,
            "reply_users_count": len(who), "latest_reply": replies[-1]["ts"],
        }  # fmt: skip
    shown(world, channel, root)


def _number_blocks(message: Json, world: World) -> None:
    """Slack gives each block without one a block_id of its own."""
    for block in message.get("blocks") or []:
        if isinstance(block, dict) and not block.get("block_id"):
            block["block_id"] = world.state.next_id("b")
