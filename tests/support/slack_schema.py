"""Slack's own types as a JSON schema (generated from @slack/types), dispatched by `type`: an error names its field, and a
message is checked in milliseconds instead of through a twenty-way anyOf."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator

FILE = Path(__file__).parents[1] / "data" / "slack_schema.json"
_NAMES = {
    "actions": "ActionsBlock", "alert": "AlertBlock", "card": "CardBlock", "carousel": "CarouselBlock",
    "container": "ContainerBlock", "context": "ContextBlock", "context_actions": "ContextActionsBlock",
    "data_table": "DataTableBlock", "divider": "DividerBlock", "file": "FileBlock", "header": "HeaderBlock",
    "image": "ImageBlock", "input": "InputBlock", "markdown": "MarkdownBlock", "plan": "PlanBlock",
    "rich_text": "RichTextBlock", "section": "SectionBlock", "table": "TableBlock", "task_card": "TaskCardBlock",
    "video": "VideoBlock",
}  # fmt: skip
_CHUNKS = {
    "markdown_text": "MarkdownTextChunk",
    "plan_update": "PlanUpdateChunk",
    "task_update": "TaskUpdateChunk",
    "blocks": "BlocksChunk",
}


def block_problems(blocks: list[dict[str, Any]]) -> list[str]:
    return [problem for block in blocks for problem in _problems(_NAMES, block)]


def chunk_problems(chunks: list[dict[str, Any]]) -> list[str]:
    return [problem for chunk in chunks for problem in _problems(_CHUNKS, chunk)]


def view_problems(view: dict[str, Any]) -> list[str]:
    shell = view | {"blocks": []}
    name = {"modal": "ModalView", "home": "HomeView"}.get(view.get("type", ""))
    if name is None:
        return [f"no view of type {view.get('type')!r}"]
    return [error.message for error in _validator(name).iter_errors(shell)] + block_problems(view["blocks"])


def _problems(names: dict[str, str], value: dict[str, Any]) -> Iterator[str]:
    kind = value.get("type") if isinstance(value, dict) else None
    name = names.get(kind) if isinstance(kind, str) else None
    if name is None:
        yield f"nothing of type {kind!r}"
        return
    for error in _validator(name).iter_errors(value):
        yield f"{value['type']}{error.json_path[1:]}: {error.message[:200]}"


@cache
def _validator(name: str) -> Draft7Validator:
    schema = json.loads(FILE.read_text(encoding="utf-8"))
    return Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": schema["definitions"]})
