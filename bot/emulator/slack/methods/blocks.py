"""blocks.validate and api.test."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack.arguments import Arguments
from bot.emulator.slack.methods.base import Method
from bot.emulator.slack.refusals import Finding, Refused, refused_for
from bot.emulator.slack.world import World

SUBJECTS = {"blocks": "chat.postMessage", "message": "chat.postMessage", "view": "views.open"}


def validate(world: World, arguments: Arguments) -> dict[str, Any]:
    """Exactly one of blocks, message and view; what is wrong is listed with its pointer."""
    given = [name for name in SUBJECTS if arguments.get(name) is not None]
    if len(given) != 1:
        raise refused_for("invalid_arguments", [Finding("/", "exactly one of blocks, message and view")])
    subject = given[0]
    value = arguments[subject]
    as_call = {"channel": "C0", **value} if subject == "message" else {"channel": "C0", "text": "-", "blocks": value}
    if subject == "view":
        as_call = {"trigger_id": "-", "view": value}
    problems = [problem for check in world.checks for problem in check(SUBJECTS[subject], as_call)]
    if problems:
        errors = [{"pointer": each.pointer, "code": "invalid", "message": each.message} for each in problems]
        raise Refused("invalid_blocks", {"errors": errors})
    return {"errors": []}


def api_test(_: World, arguments: Arguments) -> dict[str, Any]:
    if arguments.get("error"):
        raise Refused(str(arguments["error"]), {"args": arguments})
    return {"args": arguments}


METHODS = {"blocks.validate": Method(validate), "api.test": Method(api_test)}
