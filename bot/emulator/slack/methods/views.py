"""views.*: modals opened by a trigger, pushed, updated; App Home published."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack import views
from bot.emulator.slack.arguments import Arguments, required
from bot.emulator.slack.methods.base import Method
from bot.emulator.slack.refusals import Finding, Refused, refused_for
from bot.emulator.slack.state import Json, Trigger
from bot.emulator.slack.world import World


def open_(world: World, arguments: Arguments) -> dict[str, Any]:
    given = _given(arguments, "modal")
    trigger = _exchange(world, arguments)
    view = views.new_view(world, given)
    world.state.views[trigger.user] = [view]
    views.show(world, trigger.user)
    return {"view": view}


def push(world: World, arguments: Arguments) -> dict[str, Any]:
    given = _given(arguments, "modal")
    trigger = _exchange(world, arguments)
    stack = world.state.views.get(trigger.user, [])
    if not stack or trigger.view_id not in [view["id"] for view in stack]:
        raise Refused("not_found")
    if len(stack) >= views.DEPTH:
        raise Refused("push_limit_reached")
    view = views.new_view(world, given, stack[-1])
    stack.append(view)
    views.show(world, trigger.user)
    return {"view": view}


def update(world: World, arguments: Arguments) -> dict[str, Any]:
    if not arguments.get("view_id") and not arguments.get("external_id"):
        required(arguments, "view_id")
    found = world.state.view(str(arguments["view_id"])) if arguments.get("view_id") else _external(world, arguments)
    if found is None:
        raise Refused("not_found")
    user, view = found
    given = _given(arguments, view["type"])
    if arguments.get("hash") and arguments["hash"] != view["hash"]:
        raise Refused("hash_conflict")
    views.replace(world, view, given)
    views.show(world, user)
    return {"view": view}


def publish(world: World, arguments: Arguments) -> dict[str, Any]:
    given = _given(arguments, "home")
    user = str(required(arguments, "user_id"))
    if user not in world.state.users:
        raise Refused("user_not_found")
    home = world.state.homes.get(user)
    if home is None:
        home = world.state.homes[user] = views.new_view(world, given)
    elif arguments.get("hash") and arguments["hash"] != home["hash"]:
        raise Refused("hash_conflict")
    else:
        views.replace(world, home, given)
    world.changes.publish("home", user=user, view=home)
    return {"view": home}


def _given(arguments: Arguments, kind: str) -> Json:
    view = required(arguments, "view")
    if not isinstance(view, dict) or view.get("type") != kind:
        raise refused_for("invalid_arguments", [Finding("/view/type", f"must be {kind}")])
    return dict(view)


def _exchange(world: World, arguments: Arguments) -> Trigger:
    trigger = world.state.triggers.get(str(required(arguments, "trigger_id")))
    if trigger is None:
        raise Refused("invalid_trigger_id")
    if trigger.used:
        raise Refused("exchanged_trigger_id")
    if trigger.expires_at < world.state.clock():
        raise Refused("expired_trigger_id")
    trigger.used = True
    return trigger


def _external(world: World, arguments: Arguments) -> tuple[str, Json] | None:
    for user, stack in world.state.views.items():
        for view in stack:
            if view.get("external_id") == arguments["external_id"]:
                return user, view
    return None


METHODS = {
    "views.open": Method(open_),
    "views.push": Method(push),
    "views.update": Method(update),
    "views.publish": Method(publish),
}
