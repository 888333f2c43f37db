"""The state and its changes as the page reads them (page_api.py says the shape)."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack.state import BOT_ID, BOT_USER, TEAM_ID, Channel, Json, StoredFile, User
from bot.emulator.slack.world import World


def whole_state(world: World) -> Json:
    state = world.state
    return {
        "revision": world.changes.revision,
        "team": {"id": TEAM_ID, "name": state.team_name},
        "bot": {"user_id": BOT_USER, "bot_id": BOT_ID, "name": state.users[BOT_USER].real_name},
        "users": [person(user) for user in state.users.values()],
        "channels": [conversation(channel) for channel in state.channels.values()],
        "messages": {channel: _messages(world, channel) for channel in state.channels},
        "statuses": list(state.statuses.values()),
        "sessions": list(state.sessions.values()),
        "prompts": list(state.prompts.values()),
        "views": state.views,
        "homes": state.homes,
        "files": [file(world, stored) for stored in state.files.values()],
        "shortcuts": world.shortcuts,
        "commands": world.commands,
    }


def as_told(world: World, change: dict[str, Any]) -> Json:
    """A change of changes.py with whole objects where it only names them."""
    if change["kind"] == "user":
        return {**change, "user": person(world.state.users[change["user"]])}
    if change["kind"] == "channel":
        return {**change, "channel": conversation(world.state.channels[change["channel"]])}
    return change


def person(user: User) -> Json:
    return {
        "id": user.id, "name": user.name, "real_name": user.real_name, "is_bot": user.is_bot,
        "is_guest": user.is_restricted, "is_stranger": user.is_stranger, "tz": user.tz, "locale": user.locale,
    }  # fmt: skip


def conversation(channel: Channel) -> Json:
    return {
        "id": channel.id, "name": channel.name, "kind": channel.kind, "is_archived": channel.is_archived,
        "bot_is_member": BOT_USER in channel.members, "user": channel.user, "topic": channel.topic,
        "members": sorted(channel.members),
    }  # fmt: skip


def file(world: World, stored: StoredFile) -> Json:
    text = stored.content.decode("utf-8", "replace") if stored.mimetype.startswith("text/") else None
    return {
        "id": stored.id, "name": stored.name, "title": stored.title, "mimetype": stored.mimetype,
        "size": len(stored.content), "permalink": f"{world.base_url}/page/file/{stored.id}", "content": text,
    }  # fmt: skip


def _messages(world: World, channel: str) -> list[Json]:
    stored = [*world.state.messages.get(channel, {}).values(), *world.state.ephemerals.get(channel, [])]
    return sorted(stored, key=lambda message: float(message["ts"]))
