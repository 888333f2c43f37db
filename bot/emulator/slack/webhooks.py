"""Incoming webhooks, by which most alert senders post: POST /services/T…/B…/… with Slack's JSON, answered in plain text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from bot.emulator.slack import messages
from bot.emulator.slack.state import TEAM_ID, Channel, Json, Webhook
from bot.emulator.slack.world import World

MOST_ATTACHMENTS = 100
COLOURS = {"good": "2eb886", "warning": "daa038", "danger": "a30200"}
KEPT = ("text", "blocks", "username", "icon_emoji", "icon_url", "thread_ts", "mrkdwn")


class WebhookRefused(Exception):
    """`word` is all that Slack says."""

    def __init__(self, word: str, status: int = 400) -> None:
        super().__init__(word)
        self.word, self.status = word, status


def new_webhook(world: World, channel: Channel, name: str) -> Webhook:
    hook = Webhook(world.state.next_id("B"), f"{world.state.chance.getrandbits(96):024x}", channel.id, name)
    world.state.webhooks[hook.bot_id] = hook
    return hook


def address_of(world: World, hook: Webhook) -> str:
    return f"{world.base_url}/services/{TEAM_ID}/{hook.bot_id}/{hook.secret}"


async def serve(world: World, request: web.Request) -> web.StreamResponse:
    try:
        hook = _named(world, request.match_info)
        _take(world, hook, _payload(await request.read(), request.content_type, dict(await request.post())))
    except WebhookRefused as refused:
        return web.Response(text=refused.word, status=refused.status)
    return web.Response(text="ok")


def _named(world: World, path: Mapping[str, str]) -> Webhook:
    if path["team"] != TEAM_ID:
        raise WebhookRefused("no_team", 404)
    hook = world.state.webhooks.get(path["bot"])
    if hook is None:
        raise WebhookRefused("no_service", 404)
    if hook.secret != path["secret"]:
        raise WebhookRefused("invalid_token", 403)
    return hook


def _payload(body: bytes, content_type: str, form: Mapping[str, Any]) -> Json:
    """JSON in the body, or in the field `payload` of a form."""
    text = form.get("payload", "") if content_type == "application/x-www-form-urlencoded" else body
    try:
        payload = json.loads(text)
    except (ValueError, TypeError) as error:
        raise WebhookRefused("invalid_payload") from error
    if not isinstance(payload, dict):
        raise WebhookRefused("invalid_payload")
    return payload


def _take(world: World, hook: Webhook, payload: Json) -> None:
    attachments, blocks = payload.get("attachments") or [], payload.get("blocks") or []
    if not isinstance(attachments, list) or not all(isinstance(each, dict) for each in attachments):
        raise WebhookRefused("invalid_attachments")
    if len(attachments) > MOST_ATTACHMENTS:
        raise WebhookRefused("too_many_attachments")
    if not (payload.get("text") or attachments or blocks):
        raise WebhookRefused("no_text")
    channel = _channel(world, str(payload.get("channel") or hook.channel))
    if blocks and any(check("chat.postMessage", {"channel": channel.id, "text": "-", "blocks": blocks}) for check in world.checks):
        raise WebhookRefused("invalid_blocks")
    fields: Json = {name: payload[name] for name in KEPT if payload.get(name)}
    fields |= {"subtype": "bot_message", "bot_id": hook.bot_id, "username": payload.get("username") or hook.name}
    if attachments:
        fields["attachments"] = [_stored(number, each) for number, each in enumerate(attachments, 1)]
    messages.post(world, channel, fields)


def _channel(world: World, named: str) -> Channel:
    try:
        channel = world.state.channel(named)
    except LookupError as error:
        raise WebhookRefused("channel_not_found", 404) from error
    if channel.is_archived:
        raise WebhookRefused("channel_is_archived", 410)
    return channel


def _stored(number: int, attachment: Json) -> Json:
    """As Slack keeps it: numbered, the colour in hexadecimal."""
    colour = str(attachment.get("color") or "").lstrip("#")
    return {**attachment, "id": number, **({"color": COLOURS.get(colour, colour)} if colour else {})}
