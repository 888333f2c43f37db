"""How long a stream lives: Slack closes it by itself after a while, and a person may stop it."""

from __future__ import annotations

from bot.emulator.slack import messages
from bot.emulator.slack.state import Channel, Json
from bot.emulator.slack.streaming import Stream
from bot.emulator.slack.world import World


def stream_of(world: World, channel: Channel, message: Json) -> Stream | None:
    """The stream behind a message, closed on the way when its time is up. What it holds stays."""
    stream, ttl = world.streams.get((channel.id, message["ts"])), world.behaviour.stream_ttl
    if stream is None or stream.state != "in_progress" or ttl is None:
        return stream
    if world.state.clock() - stream.started_at >= ttl:
        stream.state = "errored"
        messages.edit(world, channel, message, {"streaming_state": "errored"})
    return stream


def stop_by_user(world: World, channel: Channel, thread_ts: str) -> list[str]:
    """Ends a thread's open streams, as Slack's own Stop does; returns their time stamps."""
    stopped = []
    for (named, ts), stream in world.streams.items():
        if named == channel.id and stream.thread_ts == thread_ts and stream.state == "in_progress":
            stream.state, stream.stopped_by_user = "completed", True
            messages.edit(world, channel, world.state.messages[named][ts], {"streaming_state": "completed"})
            stopped.append(ts)
    return stopped
