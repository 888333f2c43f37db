"""auth.test, apps.connections.open, users.*, bots.info, team.info: who is who."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack.arguments import Arguments, flag, page, required
from bot.emulator.slack.methods.base import Method
from bot.emulator.slack.methods.conversations import READ, described
from bot.emulator.slack.refusals import Refused
from bot.emulator.slack.state import APP_ID, BOT_ID, BOT_USER, TEAM_ID, Json, User
from bot.emulator.slack.world import World


def auth_test(world: World, _: Arguments) -> dict[str, Any]:
    bot = world.state.users[BOT_USER]
    return {
        "url": f"{world.base_url}/", "team": world.state.team_name, "user": bot.name, "team_id": TEAM_ID,
        "user_id": BOT_USER, "bot_id": BOT_ID, "is_enterprise_install": False,
    }  # fmt: skip


def connections_open(world: World, _: Arguments) -> dict[str, Any]:
    if world.sockets.refuses():
        raise Refused("internal_error")
    address = world.base_url.replace("http://", "ws://", 1)
    return {"url": f"{address}/link/?ticket={world.sockets.new_ticket()}&app_id={APP_ID}"}


def users_info(world: World, arguments: Arguments) -> dict[str, Any]:
    user = world.state.users.get(str(required(arguments, "user")))
    if user is None:
        raise Refused("user_not_found")
    return {"user": person(user, locale=flag(arguments, "include_locale"))}


def users_list(world: World, arguments: Arguments) -> dict[str, Any]:
    locale = flag(arguments, "include_locale")
    some, cursor = page([person(user, locale=locale) for user in world.state.users.values()], arguments)
    return {"members": some, "response_metadata": {"next_cursor": cursor}}


def users_conversations(world: World, arguments: Arguments) -> dict[str, Any]:
    user = str(arguments.get("user") or BOT_USER)
    joined = [described(channel) for channel in world.state.channels.values() if {user, BOT_USER} <= channel.members]
    some, cursor = page(joined, arguments)
    return {"channels": some, "response_metadata": {"next_cursor": cursor}}


def bots_info(world: World, arguments: Arguments) -> dict[str, Any]:
    bot_id = str(arguments.get("bot") or BOT_ID)
    bot = next((user for user in world.state.users.values() if user.bot_id == bot_id), None)
    if bot is None:
        raise Refused("bot_not_found")
    app_id = APP_ID if bot_id == BOT_ID else f"A{bot_id[1:]}"
    return {"bot": {"id": bot_id, "app_id": app_id, "user_id": bot.id, "name": bot.real_name, "deleted": bot.deleted}}


def team_info(world: World, _: Arguments) -> dict[str, Any]:
    return {"team": {"id": TEAM_ID, "name": world.state.team_name, "domain": "loopback", "url": f"{world.base_url}/"}}


def person(user: User, *, locale: bool = False) -> Json:
    """A user object."""
    shown: Json = {
        "id": user.id, "team_id": user.team_id, "name": user.name, "deleted": user.deleted,
        "real_name": user.real_name, "tz": user.tz, "tz_label": user.tz, "tz_offset": user.tz_offset,
        "profile": {"real_name": user.real_name, "display_name": user.name, "bot_id": user.bot_id, "team": user.team_id},
        "is_admin": False, "is_owner": False, "is_restricted": user.is_restricted,
        "is_ultra_restricted": user.is_ultra_restricted, "is_bot": user.is_bot, "is_stranger": user.is_stranger,
    }  # fmt: skip
    return shown | ({"locale": user.locale} if locale else {})


METHODS = {
    "auth.test": Method(auth_test),
    "apps.connections.open": Method(connections_open, app_level=True),
    "users.info": Method(users_info, ("users:read",)),
    "users.list": Method(users_list, ("users:read",)),
    "users.conversations": Method(users_conversations, READ),
    "bots.info": Method(bots_info, ("users:read",)),
    "team.info": Method(team_info, ("team:read",)),
}
