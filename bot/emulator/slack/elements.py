"""Interactive elements inside blocks: finding them, and what Slack says was done with one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.emulator.slack.refusals import ActRefused
from bot.emulator.slack.state import Json

OPTIONS = ("static_select", "external_select", "radio_buttons", "overflow")
PICKS = {
    "users_select": "selected_user", "conversations_select": "selected_conversation",
    "channels_select": "selected_channel", "datepicker": "selected_date", "timepicker": "selected_time",
    "datetimepicker": "selected_date_time",
}  # fmt: skip
MANY = {
    "multi_users_select": "selected_users", "multi_conversations_select": "selected_conversations",
    "multi_channels_select": "selected_channels",
}  # fmt: skip


def actionable(blocks: list[Json]) -> Iterator[tuple[Json, Json]]:
    """(block, element) for every element with an action_id, wherever it stands in the block."""
    for block in blocks:
        for element in _within(block):
            yield block, element


def _within(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        if "action_id" in value:
            yield value
        for part in value.values():
            yield from _within(part)
    elif isinstance(value, list):
        for part in value:
            yield from _within(part)


def find(blocks: list[Json], action_id: str, value: Any = None, block_id: str | None = None) -> tuple[Json, Json]:
    """The element that a person means: by action_id, and by block_id or value where several share it."""
    found = [
        (block, element)
        for block, element in actionable(blocks)
        if element["action_id"] == action_id and block_id in (None, block.get("block_id"))
    ]
    if not found:
        there = sorted({element["action_id"] for _, element in actionable(blocks)})
        raise ActRefused(f"nothing with action_id {action_id!r} there; there are {', '.join(there) or 'no actions'}")
    return next((pair for pair in found if value is not None and pair[1].get("value") == value), found[0])


def action(block: Json, element: Json, value: Any, action_ts: str) -> Json:
    """One entry of block_actions' `actions`."""
    kind = element["type"]
    done = {"type": kind, "action_id": element["action_id"], "block_id": block.get("block_id"), "action_ts": action_ts}
    if kind == "feedback_buttons":
        return done | {"value": _feedback(element, value)}
    if kind in ("button", "icon_button", "workflow_button"):
        return done | {name: element[name] for name in ("text", "value", "style", "icon") if name in element}
    return done | entered(element, value)


def _feedback(element: Json, value: Any) -> str:
    buttons = {name: element[f"{name}_button"]["value"] for name in ("positive", "negative")}
    if value is None:
        return str(buttons["positive"])
    if value in buttons:
        return str(buttons[value])
    if value in buttons.values():
        return str(value)
    raise ActRefused(f"the feedback buttons say {buttons}, not {value!r}")


def entered(element: Json, value: Any) -> Json:
    """What an input holds, in the form of view.state.values; `value` None takes what it starts with."""
    kind = element["type"]
    if kind in OPTIONS:
        return {"selected_option": _option(element, value) if value is not None else element.get("initial_option")}
    if kind in ("checkboxes", "multi_static_select", "multi_external_select"):
        chosen = element.get("initial_options", []) if value is None else [_option(element, each) for each in value]
        return {"selected_options": chosen}
    if kind in PICKS:
        return {PICKS[kind]: value if value is not None else element.get(PICKS[kind].replace("selected", "initial"))}
    if kind in MANY:
        return {MANY[kind]: value if value is not None else element.get(MANY[kind].replace("selected", "initial"), [])}
    return {"value": value if value is not None else element.get("initial_value")}


def _option(element: Json, value: Any) -> Json:
    options = list(element.get("options", []))
    for group in element.get("option_groups", []):
        options += group.get("options", [])
    for option in options:
        if value in (option.get("value"), option.get("text", {}).get("text")):
            return dict(option)
    raise ActRefused(f"no option {value!r} in {element.get('action_id')}")
