"""chat.startStream, appendStream, stopStream: a message that grows, and that Slack closes after a while."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack import messages
from bot.emulator.slack.arguments import Arguments, required
from bot.emulator.slack.methods.base import Method, message_at, writable
from bot.emulator.slack.methods.chat import bot_fields
from bot.emulator.slack.methods.sessions import clear_status, set_session
from bot.emulator.slack.refusals import Finding, Refused, refused_for
from bot.emulator.slack.state import Channel, Json
from bot.emulator.slack.stream_life import stream_of
from bot.emulator.slack.streaming import Stream
from bot.emulator.slack.world import World

MODES = ("timeline", "plan")


def start(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = writable(world, required(arguments, "channel"))
    if channel.kind in world.behaviour.no_streams_in:
        raise Refused("channel_type_not_supported")
    _refuse_without_recipient(channel, arguments)
    mode = str(arguments.get("task_display_mode") or "timeline")
    if mode not in MODES:
        raise refused_for("invalid_arguments", [Finding("/task_display_mode", f"must be one of {', '.join(MODES)}")])
    thread_ts = str(arguments["thread_ts"]) if arguments.get("thread_ts") else None
    stream = Stream(channel.id, thread_ts, mode, world.state.clock())
    _add(world, stream, arguments)
    fields = bot_fields(world) | {"text": stream.text, "blocks": stream.blocks(), "streaming_state": "in_progress"}
    if thread_ts:
        fields["thread_ts"] = thread_ts
        clear_status(world, channel.id, thread_ts)
    message = messages.post(world, channel, fields)
    world.streams[channel.id, message["ts"]] = stream
    return {"channel": channel.id, "ts": message["ts"]}


def append(world: World, arguments: Arguments) -> dict[str, Any]:
    channel, message, stream = _running(world, arguments)
    _add(world, stream, arguments)
    message |= {"text": stream.text, "blocks": stream.blocks()}
    messages.shown(world, channel, message)
    return {"channel": channel.id, "ts": message["ts"]}


def stop(world: World, arguments: Arguments) -> dict[str, Any]:
    channel, message, stream = _running(world, arguments)
    _add(world, stream, arguments)
    stream.state = "completed"
    shown = {
        "text": stream.text,
        "blocks": stream.blocks() + [dict(block) for block in arguments.get("blocks") or []],
        "streaming_state": "completed",
    }
    if arguments.get("metadata"):
        shown["metadata"] = arguments["metadata"]
    messages.edit(world, channel, message, shown)
    if arguments.get("session_status") and stream.thread_ts:
        set_session(world, channel.id, stream.thread_ts, status=str(arguments["session_status"]))
    return {"channel": channel.id, "ts": message["ts"], "message": messages.public(message, metadata=True)}


def _running(world: World, arguments: Arguments) -> tuple[Channel, Json, Stream]:
    channel = writable(world, required(arguments, "channel"))
    message = message_at(world, channel, arguments)
    stream = stream_of(world, channel, message)
    if stream is not None and stream.stopped_by_user:
        raise Refused("stopped_by_user")
    if stream is None or stream.state != "in_progress":
        raise Refused("message_not_in_streaming_state")
    return channel, message, stream


def _add(world: World, stream: Stream, arguments: Arguments) -> None:
    text, chunks = arguments.get("markdown_text"), arguments.get("chunks") or []
    if text is not None and chunks:
        raise refused_for("invalid_arguments", [Finding("/markdown_text", "cannot be used together with chunks")])
    kept = stream.parts[:], {key: dict(task) for key, task in stream.tasks.items()}, stream.plan_title
    try:
        stream.add([{"type": "markdown_text", "text": text}] if text is not None else chunks)
        stream.refuse_too_long(world.behaviour.stream_text, world.behaviour.stream_total)
    except Refused:
        stream.parts, stream.tasks, stream.plan_title = kept
        raise


def _refuse_without_recipient(channel: Channel, arguments: Arguments) -> None:
    if channel.kind == "im":
        return
    for name in ("recipient_team_id", "recipient_user_id"):
        if not arguments.get(name):
            raise Refused(f"missing_{name}")


METHODS = {
    "chat.startStream": Method(start, ("chat:write",)),
    "chat.appendStream": Method(append, ("chat:write",)),
    "chat.stopStream": Method(stop, ("chat:write",)),
}
