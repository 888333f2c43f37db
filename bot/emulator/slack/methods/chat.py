"""chat.*: posting, editing, deleting, ephemeral messages, permalinks."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack import messages
from bot.emulator.slack.arguments import Arguments, flag, required
from bot.emulator.slack.methods.base import Method, message_at, readable, writable
from bot.emulator.slack.methods.sessions import clear_status
from bot.emulator.slack.refusals import Refused
from bot.emulator.slack.state import APP_ID, BOT_ID, BOT_USER, TEAM_ID, Json
from bot.emulator.slack.stream_life import stream_of
from bot.emulator.slack.world import World


def post_message(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = writable(world, required(arguments, "channel"))
    fields = bot_fields(world) | content(arguments)
    if arguments.get("thread_ts"):
        fields["thread_ts"] = str(arguments["thread_ts"])
        clear_status(world, channel.id, fields["thread_ts"])
        if flag(arguments, "reply_broadcast"):
            fields["subtype"] = "thread_broadcast"
    for name in ("metadata", "username"):
        if arguments.get(name):
            fields[name] = arguments[name]
    message = messages.post(world, channel, fields)
    return {"channel": channel.id, "ts": message["ts"], "message": messages.public(message, metadata=True)}


def update(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = writable(world, required(arguments, "channel"))
    message = message_at(world, channel, arguments)
    if message.get("user") != BOT_USER:
        raise Refused("cant_update_message")
    stream = stream_of(world, channel, message)
    if stream is not None and stream.state == "in_progress":
        raise Refused("streaming_state_conflict")
    fields = content(arguments)
    if "text" in arguments and "blocks" not in fields and not arguments.get("attachments"):
        fields["blocks"] = None
    fields |= {"metadata": arguments["metadata"]} if arguments.get("metadata") else {}
    messages.edit(world, channel, message, fields, edited_by=None if fields.get("blocks") else BOT_USER)
    shown = messages.public(message, metadata=True)
    return {"channel": channel.id, "ts": message["ts"], "text": message.get("text", ""), "message": shown}


def delete(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = writable(world, required(arguments, "channel"))
    message = message_at(world, channel, arguments)
    if message.get("user") != BOT_USER:
        raise Refused("cant_delete_message")
    messages.remove(world, channel, message)
    return {"channel": channel.id, "ts": message["ts"]}


def post_ephemeral(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = writable(world, required(arguments, "channel"))
    user = str(required(arguments, "user"))
    if user not in channel.members:
        raise Refused("user_not_in_channel")
    fields = bot_fields(world) | content(arguments)
    if arguments.get("thread_ts"):
        fields["thread_ts"] = str(arguments["thread_ts"])
    return {"message_ts": messages.whisper(world, channel, user, fields)["ts"]}


def get_permalink(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = readable(world, required(arguments, "channel"))
    message = message_at(world, channel, arguments, "message_ts")
    link = f"{world.base_url}/archives/{channel.id}/p{message['ts'].replace('.', '')}"
    if message.get("thread_ts") not in (None, message["ts"]):
        link += f"?thread_ts={message['thread_ts']}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def bot_fields(world: World) -> Json:
    name = world.state.users[BOT_USER].real_name
    profile = {"id": BOT_ID, "app_id": APP_ID, "name": name, "team_id": TEAM_ID, "deleted": False}
    return {"user": BOT_USER, "bot_id": BOT_ID, "app_id": APP_ID, "team": TEAM_ID, "bot_profile": profile}


def content(arguments: Arguments) -> Json:
    """text, blocks and attachments of a call; markdown_text stands alone and becomes a markdown block."""
    text, markdown = arguments.get("text"), arguments.get("markdown_text")
    blocks, attachments = arguments.get("blocks"), arguments.get("attachments")
    if markdown is not None and (text is not None or blocks):
        raise Refused("markdown_text_conflict")
    if not (text or markdown or blocks or attachments):
        raise Refused("no_text")
    if markdown is not None:
        return {"text": str(markdown), "blocks": [{"type": "markdown", "text": str(markdown)}]}
    fields: Json = {} if text is None else {"text": str(text)}
    if blocks is not None:
        fields["blocks"] = [dict(block) for block in blocks]
    if attachments is not None:
        fields["attachments"] = [{"id": number, **each} for number, each in enumerate(attachments, 1)]
    return fields


METHODS = {
    "chat.postMessage": Method(post_message, ("chat:write",)),
    "chat.update": Method(update, ("chat:write",)),
    "chat.delete": Method(delete, ("chat:write",)),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",)),
    "chat.getPermalink": Method(get_permalink),
}
