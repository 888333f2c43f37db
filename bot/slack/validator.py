"""The one check that every outgoing Slack call passes: structure, and the limits that Slack enforces but its SDK does not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bot.shapes.methods import METHODS
from bot.shapes.rules import Problem

__all__ = ["Problem", "check", "refusal"]

# The SDK sends these as JSON strings.
_JSON_FIELDS = ("blocks", "chunks", "view", "metadata", "attachments", "files", "message", "prompts")
# A form or a query string knows no booleans and no numbers.
_BOOLEANS = ("as_user", "link_names", "mrkdwn", "reply_broadcast", "unfurl_links", "unfurl_media")
_FORM_WORDS = {"1": True, "true": True, "0": False, "false": False}


def check(method: str, arguments: Mapping[str, object]) -> list[Problem]:
    """Every problem of a call to a Web API method (`chat.postMessage`), each with a JSON pointer into its arguments.

    An argument of None is none. JSON fields may be given as values or as JSON strings. A method that carries nothing of ours has no rules and no
    problems.
    """
    rule = METHODS.get(method)
    if rule is None:
        return []
    given, broken = _parsed(arguments)
    return [*broken, *(_coded(problem) for problem in rule(given, ""))]


def refusal(problems: Sequence[Problem]) -> dict[str, Any]:
    """How Slack answers a call with these problems. There must be at least one."""
    return {
        "ok": False,
        "error": problems[0].code,
        "errors": [f"{problem.message} [json-pointer:{problem.pointer}]" for problem in problems],
        "response_metadata": {
            "messages": [f"[ERROR] {problem.message} [json-pointer:{problem.pointer}]" for problem in problems]
        },
    }


def _parsed(arguments: Mapping[str, object]) -> tuple[dict[str, object], list[Problem]]:
    given = {key: value for key, value in arguments.items() if value is not None}
    broken: list[Problem] = []
    for key in _JSON_FIELDS:
        value = given.get(key)
        if isinstance(value, str):
            try:
                given[key] = json.loads(value)
            except ValueError:
                del given[key]
                broken.append(_coded(Problem(f"/{key}", "must be valid JSON")))
    for key in _BOOLEANS:
        if key in given:
            given[key] = _FORM_WORDS.get(str(given[key]).lower(), given[key])
    if isinstance(length := given.get("length"), str) and length.isdecimal():
        given["length"] = int(length)
    return given, broken


def _coded(problem: Problem) -> Problem:
    """A problem outside of a message's blocks is one of the arguments."""
    in_blocks = problem.pointer.startswith(("/blocks", "/message/blocks"))
    if problem.code != "invalid_blocks" or in_blocks:
        return problem
    return Problem(problem.pointer, problem.message, "invalid_arguments")
