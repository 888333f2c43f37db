"""The arguments of a Web API call, wherever a client puts them: query string, form and JSON body merged into one."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from bot.emulator.slack.refusals import Finding, Refused, refused_for

Arguments = dict[str, Any]
STRUCTURED = (
    "attachments", "blocks", "chunks", "files", "loading_messages", "message", "metadata", "prompts", "unfurls", "view",
)  # fmt: skip
TRUE, FALSE = ("1", "true"), ("0", "false", "")


async def arguments_of(request: web.Request) -> Arguments:
    """Later wins: query, form, JSON. Structured fields may come as JSON text."""
    merged: Arguments = dict(request.query)
    if request.content_type == "application/json":
        text = await request.text()
        try:
            body = json.loads(text) if text else {}
        except json.JSONDecodeError:
            raise Refused("invalid_json") from None
        if not isinstance(body, dict):
            raise Refused("json_not_object")
        merged |= body
    elif request.method == "POST":
        merged |= {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
    return {name: _structured(name, value) for name, value in merged.items()}


def _structured(name: str, value: Any) -> Any:
    if name not in STRUCTURED or not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        raise Refused("invalid_blocks_format" if name == "blocks" else "invalid_arguments") from None


def required(arguments: Arguments, name: str) -> Any:
    value = arguments.get(name)
    if value is None or value == "":
        raise refused_for("invalid_arguments", [Finding(f"/{name}", f"missing required field: {name}")])
    return value


def flag(arguments: Arguments, name: str) -> bool:
    value = arguments.get(name, False)
    if isinstance(value, bool | int):
        return bool(value)
    if str(value).lower() in TRUE:
        return True
    if str(value).lower() in FALSE:
        return False
    raise refused_for("invalid_arguments", [Finding(f"/{name}", "must be a boolean")])


def whole(arguments: Arguments, name: str, otherwise: int) -> int:
    try:
        return int(arguments.get(name) or otherwise)
    except ValueError:
        raise refused_for("invalid_arguments", [Finding(f"/{name}", "must be an integer")]) from None


def page(items: list[Any], arguments: Arguments, most: int = 1000, usual: int = 100) -> tuple[list[Any], str]:
    """One page of items and the cursor of the next ("" at the end). The cursor is the offset as text."""
    start = whole(arguments, "cursor", 0)
    end = start + min(most, max(1, whole(arguments, "limit", usual)))
    return items[start:end], str(end) if end < len(items) else ""
