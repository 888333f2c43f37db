"""Which events the app gets when something happens, in Slack's envelope, as far as it subscribed and can see."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack.state import APP_ID, BOT_USER, TEAM_ID, Channel, Json
from bot.emulator.slack.world import World

HIDDEN = ("metadata", "reactions", "reply_count", "reply_users", "reply_users_count", "latest_reply", "ephemeral_to")


def send_event(world: World, event: Json, *, delay: float = 0.0) -> str:
    """Any event, subscribed or not; returns its event_id."""
    event_id = world.state.next_id("Ev")
    channel = world.state.channels.get(str(event.get("channel", "")))
    world.deliveries.event(
        {
            "token": "loopback",
            "team_id": TEAM_ID,
            "context_team_id": TEAM_ID,
            "api_app_id": APP_ID,
            "event": event,
            "type": "event_callback",
            "event_id": event_id,
            "event_time": int(world.state.clock()),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": TEAM_ID,
                    "user_id": BOT_USER,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": bool(channel and channel.is_ext_shared),
            "event_context": f"4-{event_id}",
        },
        delay=delay,
    )
    return event_id


def message_posted(world: World, channel: Channel, message: Json) -> None:
    """A message, and when it names the bot also an app_mention with an id of its own, in the order that is set."""
    said = as_event(channel, message)
    happened = [("message", said)] if _subscribed(world, channel) else []
    if _mentions(world, channel, message):
        fields = {
            name: value for name, value in said.items() if name not in ("channel_type", "parent_user_id", "subtype")
        }
        happened.insert(0, ("app_mention", {**fields, "type": "app_mention"}))
    if len(happened) == 2 and _message_first(world):
        happened.reverse()
    delay = 0.0
    for _, event in happened:
        send_event(world, event, delay=delay)
        delay += world.state.chance.uniform(*world.behaviour.mention_gap)


def as_event(channel: Channel, message: Json) -> Json:
    """A stored message as an event carries it: without what only the Web API's answers have."""
    fields = {name: value for name, value in message.items() if name not in HIDDEN}
    return {**fields, "channel": channel.id, "channel_type": channel.kind, "event_ts": message["ts"]}


def message_changed(world: World, channel: Channel, message: Json, previous: Json) -> None:
    event = {"subtype": "message_changed", "message": _nested(message), "previous_message": _nested(previous)}
    _hidden_event(world, channel, event)


def message_deleted(world: World, channel: Channel, previous: Json) -> None:
    event = {"subtype": "message_deleted", "deleted_ts": previous["ts"], "previous_message": _nested(previous)}
    _hidden_event(world, channel, event)


def reaction(world: World, kind: str, channel: Channel, message: Json, user: str, name: str) -> None:
    """kind is reaction_added or reaction_removed. There is no thread_ts in it, as in Slack."""
    if kind not in world.behaviour.subscriptions or BOT_USER not in channel.members:
        return
    item = {"type": "message", "channel": channel.id, "ts": message["ts"]}
    event: Json = {"type": kind, "user": user, "reaction": name, "item": item, "event_ts": world.state.next_ts()}
    if world.behaviour.with_item_user and message.get("user"):
        event["item_user"] = message["user"]
    send_event(world, event)


def home_opened(world: World, user: str, channel: Channel, tab: str) -> None:
    event: Json = {
        "type": "app_home_opened", "user": user, "channel": channel.id, "tab": tab, "event_ts": world.state.next_ts(),
    }  # fmt: skip
    if tab == "home" and user in world.state.homes:
        event["view"] = world.state.homes[user]
    _send_subscribed(world, event)


def session_stopped(world: World, channel: Channel, thread_ts: str, user: str, streams: list[str]) -> None:
    _send_subscribed(
        world,
        {
            "type": "agent_session_stopped", "channel": channel.id, "user": user, "thread_ts": thread_ts,
            "streaming_message_ts": streams, "event_ts": world.state.next_ts(),
        },
    )  # fmt: skip


def _send_subscribed(world: World, event: Json) -> None:
    if event["type"] in world.behaviour.subscriptions:
        send_event(world, event)


def _hidden_event(world: World, channel: Channel, fields: dict[str, Any]) -> None:
    if _subscribed(world, channel):
        ts = world.state.next_ts()
        where = {"channel": channel.id, "channel_type": channel.kind, "ts": ts, "event_ts": ts}
        send_event(world, {"type": "message", "hidden": True, **fields, **where})


def _nested(message: Json) -> Json:
    return {name: value for name, value in message.items() if name != "ephemeral_to"}


def _subscribed(world: World, channel: Channel) -> bool:
    plural = {"channel": "channels", "group": "groups"}.get(channel.kind, channel.kind)
    return BOT_USER in channel.members and f"message.{plural}" in world.behaviour.subscriptions


def _mentions(world: World, channel: Channel, message: Json) -> bool:
    return (
        "app_mention" in world.behaviour.subscriptions
        and channel.kind != "im"
        and BOT_USER in channel.members
        and message.get("user") != BOT_USER
        and f"<@{BOT_USER}" in str(message.get("text", ""))
    )


def _message_first(world: World) -> bool:
    order = world.behaviour.mention_order
    return order == "message_first" or (order == "any" and world.state.chance.random() < 0.5)
