"""assistant.threads.* and agents.sessions.*: the status under a thread, suggested prompts, the session with its Stop."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack.arguments import Arguments, required
from bot.emulator.slack.methods.base import Method, readable, writable
from bot.emulator.slack.refusals import Finding, refused_for
from bot.emulator.slack.state import Json
from bot.emulator.slack.world import World

STATUSES = ("processing", "active", "suspended", "closed")
MOST_PROMPTS = 4


def set_status(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = writable(world, required(arguments, "channel_id"))
    thread_ts = str(required(arguments, "thread_ts"))
    if "status" not in arguments:
        required(arguments, "status")
    status = {
        "channel": channel.id, "thread_ts": thread_ts, "status": str(arguments["status"]),
        "loading_messages": list(arguments.get("loading_messages") or []),
    }  # fmt: skip
    if status["status"]:
        world.state.statuses[channel.id, thread_ts] = status
    else:
        world.state.statuses.pop((channel.id, thread_ts), None)
    world.changes.publish("status", **status)
    return {}


def clear_status(world: World, channel: str, thread_ts: str) -> None:
    """The status goes when the app posts into the thread."""
    if world.state.statuses.pop((channel, thread_ts), None) is not None:
        world.changes.publish("status", channel=channel, thread_ts=thread_ts, status="", loading_messages=[])


def set_prompts(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = readable(world, required(arguments, "channel_id"))
    prompts = required(arguments, "prompts")
    if not isinstance(prompts, list) or len(prompts) > MOST_PROMPTS:
        raise refused_for("invalid_arguments", [Finding("/prompts", f"at most {MOST_PROMPTS} prompts")])
    for index, prompt in enumerate(prompts):
        if not prompt.get("title") or not prompt.get("message"):
            raise refused_for("invalid_arguments", [Finding(f"/prompts/{index}", "title and message are required")])
    thread_ts = str(arguments.get("thread_ts") or "")
    shown = {"channel": channel.id, "thread_ts": thread_ts, "title": arguments.get("title") or "", "prompts": prompts}
    world.state.prompts[channel.id, thread_ts] = shown
    world.changes.publish("prompts", **shown)
    return {}


def set_title(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = readable(world, required(arguments, "channel_id"))
    set_session(world, channel.id, str(required(arguments, "thread_ts")), title=str(required(arguments, "title")))
    return {}


def set_session_status(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = writable(world, required(arguments, "channel_id"))
    status = str(required(arguments, "status"))
    if status not in STATUSES:
        raise refused_for("invalid_arguments", [Finding("/status", f"must be one of {', '.join(STATUSES)}")])
    thread_ts = str(arguments.get("thread_ts") or "")
    more = {"title": str(arguments["title"])} if arguments.get("title") else {}
    session = set_session(world, channel.id, thread_ts, status=status, **more)
    answer: dict[str, Any] = {"session": session}
    if "agent_session_stopped" not in world.behaviour.subscriptions:
        answer["warning"] = "missing_agent_session_stopped_event_subscription"
    return answer


def rename(world: World, arguments: Arguments) -> dict[str, Any]:
    channel = writable(world, required(arguments, "channel_id"))
    title = str(required(arguments, "title"))
    return {"session": set_session(world, channel.id, str(arguments.get("thread_ts") or ""), title=title)}


def set_session(world: World, channel: str, thread_ts: str, **fields: str) -> Json:
    session = world.state.sessions.setdefault(
        (channel, thread_ts), {"channel": channel, "thread_ts": thread_ts, "status": "active", "title": ""}
    )
    session |= fields
    world.changes.publish("session", **session)
    return session


METHODS = {
    "assistant.threads.setStatus": Method(set_status, ("assistant:write",)),
    "assistant.threads.setSuggestedPrompts": Method(set_prompts, ("assistant:write",)),
    "assistant.threads.setTitle": Method(set_title, ("assistant:write",)),
    "agents.sessions.setStatus": Method(set_session_status, ("assistant:write",)),
    "agents.sessions.rename": Method(rename, ("assistant:write",)),
}
