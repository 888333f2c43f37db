"""Modals and App Home: a person's stack of open modals, their fields, and what an answer to a form does."""

from __future__ import annotations

import json
from typing import Any

from bot.emulator.slack.elements import entered
from bot.emulator.slack.http_delivery import Answer
from bot.emulator.slack.refusals import ActRefused
from bot.emulator.slack.state import APP_ID, BOT_ID, TEAM_ID, Json, User
from bot.emulator.slack.world import World

DEPTH = 3
EMPTY: tuple[object, ...] = (None, "", [])


def new_view(world: World, given: Json, previous: Json | None = None) -> Json:
    """A view as Slack answers it: the app's fields plus ids, hash and state."""
    view_id = world.state.next_id("V")
    return _with_defaults(world, given) | {
        "id": view_id,
        "team_id": TEAM_ID,
        "app_id": APP_ID,
        "bot_id": BOT_ID,
        "root_view_id": previous["root_view_id"] if previous else view_id,
        "previous_view_id": previous["id"] if previous else None,
    }


def replace(world: World, view: Json, given: Json) -> None:
    """The view's content anew, its identity kept."""
    kept = {name: view[name] for name in ("id", "team_id", "app_id", "bot_id", "root_view_id", "previous_view_id")}
    view.clear()
    view.update(_with_defaults(world, given) | kept)


def _with_defaults(world: World, given: Json) -> Json:
    view: Json = {
        "callback_id": "", "private_metadata": "", "external_id": "", "submit": None, "close": None,
        "clear_on_close": False, "notify_on_close": False, "state": {"values": {}}, **given,
    }  # fmt: skip
    for block in view.get("blocks", []):
        if not block.get("block_id"):
            block["block_id"] = world.state.next_id("b")
    return view | {"hash": f"{world.state.next_ts()}.{world.state.next_id('h')}"}


def show(world: World, user: str) -> None:
    world.changes.publish("views", user=user, views=world.state.views.get(user, []))


def drop(world: World, user: str, view_id: str) -> None:
    """Closes a modal and whatever lies on it."""
    stack = world.state.views.get(user, [])
    at = next((index for index, view in enumerate(stack) if view["id"] == view_id), len(stack))
    del stack[at:]
    show(world, user)


def open_view(world: World, view_id: str, user: User) -> Json:
    found = world.state.view(view_id)
    if found is None or found[0] != user.id:
        raise ActRefused(f"{user.name} has no open view {view_id}")
    return found[1]


def filled(view: Json, values: dict[str, Any]) -> Json:
    """view.state.values from {action_id or block_id: value}; refuses an empty required field and an unknown name."""
    unknown = set(values)
    state: Json = {}
    for block in view["blocks"]:
        for element in _inputs(block):
            names = {element.get("action_id"), block["block_id"]}
            unknown -= names
            given = next((values[name] for name in names if name in values), None)
            held = entered(element, given)
            _refuse_empty(block, element, held)
            state.setdefault(block["block_id"], {})[element["action_id"]] = {"type": element["type"], **held}
    if unknown:
        raise ActRefused(f"the form has no field {', '.join(sorted(unknown))}")
    return state


def _inputs(block: Json) -> list[Json]:
    if block["type"] == "input":
        return [block["element"]]
    if block["type"] == "actions":
        return [each for each in block["elements"] if each["type"] != "button"]
    accessory = block.get("accessory")
    return [accessory] if accessory and accessory["type"] not in ("button", "image") else []


def _refuse_empty(block: Json, element: Json, held: Json) -> None:
    value = next(iter(held.values()))
    if block["type"] == "input" and not block.get("optional") and value in EMPTY:
        raise ActRefused(f"please complete the required field {element.get('action_id')}")
    longest = element.get("max_length")
    if longest is not None and isinstance(value, str) and len(value) > longest:
        raise ActRefused(f"{element.get('action_id')} takes {longest} characters, not {len(value)}")


def answered(world: World, view_id: str, user: User, answer: Answer) -> None:
    """An empty acknowledgement closes the form; response_action errors, update, push or clear does what it says."""
    told = json.loads(answer) if isinstance(answer, str) and answer.startswith("{") else answer
    wanted = told.get("response_action") if isinstance(told, dict) else None
    found = world.state.view(view_id)
    if found is None or not isinstance(told, dict) or wanted is None:
        drop(world, user.id, view_id)
    elif wanted == "errors":
        found[1]["errors"] = told["errors"]
        show(world, user.id)
    elif wanted == "update":
        replace(world, found[1], told["view"])
        show(world, user.id)
    elif wanted == "push":
        world.state.views[user.id].append(new_view(world, told["view"], found[1]))
        show(world, user.id)
    elif wanted == "clear":
        world.state.views[user.id] = []
        show(world, user.id)
