"""blocks.validate and api.test."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack.arguments import Arguments
from bot.emulator.slack.methods.base import Method
from bot.emulator.slack.refusals import Finding, Refused, refused_for
from bot.emulator.slack.world import World

SUBJECTS = ("blocks", "message", "view")


def validate(world: World, arguments: Arguments) -> dict[str, Any]:
    """Exactly one of blocks, message and view; what is wrong is listed with its pointer."""
    given = [name for name in SUBJECTS if arguments.get(name) is not None]
    if len(given) != 1:
        raise refused_for("invalid_arguments", [Finding("/", "exactly one of blocks, message and view")])
    method, as_call = _as_call(given[0], arguments[given[0]])
    problems = [problem for check in world.checks for problem in check(method, as_call)]
    if problems:
        errors = [{"pointer": each.pointer, "code": "invalid", "message": each.message} for each in problems]
        raise Refused("invalid_blocks", {"errors": errors})
    return {"errors": []}


def _as_call(subject: str, value: Any) -> tuple[str, dict[str, Any]]:
    """The call that would carry it."""
    if subject == "blocks":
        return "chat.postMessage", {"channel": "C0", "text": "-", "blocks": value}
    if subject == "message":
        return "chat.postMessage", {"channel": "C0", **value}
    if isinstance(value, dict) and value.get("type") == "home":
        return "views.publish", {"user_id": "U0", "view": value}
    return "views.open", {"trigger_id": "-", "view": value}


def api_test(_: World, arguments: Arguments) -> dict[str, Any]:
    if arguments.get("error"):
        raise Refused(str(arguments["error"]), {"args": arguments})
    return {"args": arguments}


METHODS = {"blocks.validate": Method(validate), "api.test": Method(api_test)}
