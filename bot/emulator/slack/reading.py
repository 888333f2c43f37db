"""A message or view as plain text, for a terminal and for tests: what stands in its blocks, in order."""

from __future__ import annotations

from typing import Any

from bot.emulator.slack.state import Json

SHOWN = ("title", "subtitle", "header", "text", "body", "fields", "elements", "accessory", "details", "output", "tasks",
         "blocks", "children", "rows", "label", "element", "hint", "actions", "sources", "positive_button",
         "negative_button", "pretext", "value", "options", "alt_text", "placeholder")  # fmt: skip


def readable_text(message: Json) -> str:
    """Blocks where there are any, else the text; then attachments and the names of files."""
    parts = [_text(block) for block in message.get("blocks") or []] or [str(message.get("text") or "")]
    parts += [_text(each) for each in message.get("attachments") or []]
    parts += [f"[file {each.get('title') or each.get('name')}]" for each in message.get("files") or []]
    return "\n".join(part for part in parts if part)


def _text(block: Json) -> str:
    return "\n".join(_lines(block))


def _lines(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, list):
        return [line for part in value for line in _lines(part)]
    if not isinstance(value, dict):
        return []
    kind = value.get("type")
    if kind in ("plain_text", "mrkdwn", "text", "raw_text"):
        return _lines(value.get("text"))
    if kind in ("rich_text_section", "rich_text_preformatted", "rich_text_quote"):
        return ["".join(_inline(part) for part in value.get("elements", []))]
    if kind in ("button", "icon_button"):
        return [f"[{line}]" for line in _lines(value.get("text"))]
    if kind == "task_card":
        return [f"({value.get('status')}) {value.get('title')}", *_lines([value.get("details"), value.get("output")])]
    return [line for name in SHOWN if name in value and name != "value" for line in _lines(value[name])]


def _inline(element: Json) -> str:
    kind = element.get("type")
    if kind == "user":
        return f"<@{element.get('user_id')}>"
    if kind == "emoji":
        return f":{element.get('name')}:"
    return str(element.get("text") or element.get("url") or "")
