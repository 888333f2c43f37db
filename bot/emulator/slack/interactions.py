"""Clicks, forms, shortcuts and commands: the payload that goes to the app, and what its answer does."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack import messages, views
from bot.emulator.slack.deliveries import Delivery
from bot.emulator.slack.elements import action, find
from bot.emulator.slack.refusals import ActRefused, Refused
from bot.emulator.slack.state import APP_ID, BOT_ID, BOT_USER, TEAM_ID, Channel, Json, ResponseUrl, Trigger, User
from bot.emulator.slack.world import World

LINK_SECONDS = 1800.0


def click(
    world: World, channel: Channel, message: Json, action_id: str, user: User, value: Any, block_id: str | None
) -> Delivery:
    """A button or select of a message."""
    block, element = find(message.get("blocks") or [], action_id, value, block_id)
    seen_by = element.get("visible_to_user_ids")
    if seen_by and user.id not in seen_by:
        raise ActRefused(f"{user.name} does not see {action_id}")
    container: Json = {
        "type": "message", "message_ts": message["ts"], "channel_id": channel.id,
        "is_ephemeral": "ephemeral_to" in message,
    }  # fmt: skip
    if message.get("thread_ts"):
        container["thread_ts"] = message["thread_ts"]
    payload = _payload(world, "block_actions", user) | {
        "container": container,
        "channel": {"id": channel.id, "name": _name(channel)},
        "message": messages.public(message),
        "state": {"values": {}},
        "response_url": _response_url(world, channel, user, message["ts"], message.get("thread_ts")),
        "actions": [action(block, element, value, world.state.next_ts())],
    }
    return _send(world, payload, user)


def click_view(world: World, view_id: str, action_id: str, user: User, value: Any) -> Delivery:
    """A button or select inside a modal or App Home."""
    view = views.open_view(world, view_id, user)
    block, element = find(view["blocks"], action_id, value)
    payload = _payload(world, "block_actions", user, view_id) | {
        "container": {"type": "view", "view_id": view_id},
        "view": view,
        "actions": [action(block, element, value, world.state.next_ts())],
    }
    return _send(world, payload, user)


def submit(world: World, view_id: str, user: User, values: dict[str, Any]) -> Delivery:
    """A form: what is missing is refused as Slack's client does; then the answer closes, updates or marks errors."""
    view = views.open_view(world, view_id, user)
    view["state"] = {"values": views.filled(view, values)}
    view.pop("errors", None)
    payload = _payload(world, "view_submission", user, view_id) | {"view": view, "response_urls": []}

    def done(delivery: Delivery) -> None:
        if delivery.outcome != "taken":
            _trouble(world, user)
        else:
            views.answered(world, view_id, user, delivery.answer)

    return world.deliveries.interaction("interactive", payload, done)


def close(world: World, view_id: str, user: User) -> Delivery | None:
    """A person closes a modal; the app hears of it when it asked to (notify_on_close)."""
    view = views.open_view(world, view_id, user)
    views.drop(world, user.id, view_id)
    if not view.get("notify_on_close"):
        return None
    payload = _payload(world, "view_closed", user) | {"view": view, "is_cleared": False}
    payload.pop("trigger_id")
    return _send(world, payload, user)


def shortcut(world: World, callback_id: str, channel: Channel, message: Json, user: User) -> Delivery:
    """A message shortcut."""
    payload = _payload(world, "message_action", user) | {
        "callback_id": callback_id,
        "message_ts": message["ts"],
        "channel": {"id": channel.id, "name": _name(channel)},
        "message": messages.public(message),
        "action_ts": world.state.next_ts(),
        "response_url": _response_url(world, channel, user, None, message.get("thread_ts") or message["ts"]),
    }
    return _send(world, payload, user)


def slash(world: World, command: str, text: str, channel: Channel, user: User) -> Delivery:
    """A command; what comes with the acknowledgement is shown to the person."""
    payload = {
        "token": "loopback", "team_id": TEAM_ID, "team_domain": "loopback", "channel_id": channel.id,
        "channel_name": _name(channel), "user_id": user.id, "user_name": user.name, "command": command, "text": text,
        "api_app_id": APP_ID, "is_enterprise_install": "false",
        "response_url": _response_url(world, channel, user, None, None), "trigger_id": _trigger(world, user),
    }  # fmt: skip

    def done(delivery: Delivery) -> None:
        if delivery.outcome != "taken":
            world.changes.publish("notice", user=user.id, text=f"{command} failed: the app did not answer")
        elif delivery.answer:
            answer = delivery.answer if isinstance(delivery.answer, dict) else {"text": delivery.answer}
            _say(world, channel, user, answer, None)

    return world.deliveries.interaction("slash_commands", payload, done)


def respond(world: World, link_id: str, answer: Json) -> None:
    """What the app posts to a response_url: five times within thirty minutes."""
    link = world.state.response_urls.get(link_id)
    if link is None or link.uses_left <= 0 or link.expires_at < world.state.clock():
        raise Refused("used_url" if link else "invalid_url", status=404)
    link.uses_left -= 1
    channel, user = world.state.channels[link.channel], world.state.users[link.user]
    original = world.state.message(link.channel, link.ts) if link.ts else None
    if answer.get("delete_original") and original:
        messages.remove(world, channel, original)
    elif answer.get("replace_original") and original:
        fields = {
            "text": str(answer.get("text", "")),
            "blocks": answer.get("blocks"),
            "attachments": answer.get("attachments"),
        }
        messages.edit(world, channel, original, fields)
    else:
        _say(world, channel, user, answer, link.thread_ts if answer.get("thread_ts") else None)


def _say(world: World, channel: Channel, user: User, answer: Json, thread_ts: str | None) -> None:
    fields: Json = {"user": BOT_USER, "bot_id": BOT_ID, "app_id": APP_ID, "text": str(answer.get("text", ""))}
    fields |= {name: answer[name] for name in ("blocks", "attachments") if answer.get(name)}
    if answer.get("thread_ts") or thread_ts:
        fields["thread_ts"] = answer.get("thread_ts") or thread_ts
    if answer.get("response_type") == "in_channel":
        messages.post(world, channel, fields)
    else:
        messages.whisper(world, channel, user.id, fields)


def _send(world: World, payload: Json, user: User) -> Delivery:
    def done(delivery: Delivery) -> None:
        if delivery.outcome != "taken":
            _trouble(world, user)

    return world.deliveries.interaction("interactive", payload, done)


def _trouble(world: World, user: User) -> None:
    world.changes.publish("notice", user=user.id, text="The app did not answer in time. Try again.")


def _payload(world: World, kind: str, user: User, view_id: str | None = None) -> Json:
    return {
        "type": kind,
        "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team_id},
        "api_app_id": APP_ID,
        "token": "loopback",
        "team": {"id": TEAM_ID, "domain": "loopback"},
        "enterprise": None,
        "is_enterprise_install": False,
        "trigger_id": _trigger(world, user, view_id),
    }


def _trigger(world: World, user: User, view_id: str | None = None) -> str:
    trigger_id = world.state.next_id("Tr")
    world.state.triggers[trigger_id] = Trigger(user.id, world.state.clock() + world.behaviour.trigger_seconds, view_id)
    return trigger_id


def _response_url(world: World, channel: Channel, user: User, ts: str | None, thread_ts: str | None) -> str:
    link_id = world.state.next_id("Ru")
    world.state.response_urls[link_id] = ResponseUrl(
        channel.id, user.id, ts, thread_ts, world.state.clock() + LINK_SECONDS
    )
    return f"{world.base_url}/respond/{link_id}"


def _name(channel: Channel) -> str:
    return {"im": "directmessage", "group": "privategroup"}.get(channel.kind, channel.name)
