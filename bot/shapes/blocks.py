"""Every block of Block Kit, with its limits, and on which surfaces it may stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from bot.shapes import elements as part
from bot.shapes.rules import (
    Problem,
    Rule,
    at_least_one_of,
    boolean,
    choice,
    listed,
    number,
    one_of,
    shape,
    string,
    typed,
    unique,
    units,
)

Surface = Literal["message", "modal", "home"]
BLOCK_ID = {"block_id": string(255)}
TASK_STATUS = choice("pending", "in_progress", "complete", "error")
_UNIQUE_ACTIONS = unique("elements", "action_id")


def _block(kind: str, required: Mapping[str, Rule], optional: Mapping[str, Rule] | None = None, *also: Rule) -> Rule:
    return shape({"type": choice(kind)} | dict(required), BLOCK_ID | dict(optional or {}), *also)


def _columns(value: object, at: str) -> Iterator[Problem]:
    """At most 20 cells a row, and every row as wide as the first."""
    rows = value.get("rows") if isinstance(value, Mapping) else None
    widths = [len(row) for row in rows if isinstance(row, list)] if isinstance(rows, list) else []
    for index, width in enumerate(widths):
        if width > 20 or width != widths[0]:
            yield Problem(f"{at}/rows/{index}", f"a row has 1 to 20 cells, as many as the first; has {width}")


def _data_size(value: object, at: str) -> Iterator[Problem]:
    size = sum(units(text) for text in texts(value))
    if size > 20_000:
        yield Problem(at, f"must be less than 20001 characters in all, has {size}")


_ACTION_ELEMENTS = (
    {"button": part.BUTTON, "rich_text_input": part.INPUTS["rich_text_input"]}
    | part.SELECTS | part.CHECKS | part.TIMES | part.OVERFLOW | part.WORKFLOW
)  # fmt: skip
_ACCESSORIES = (
    {"button": part.BUTTON, "image": part.IMAGE, "datepicker": part.TIMES["datepicker"], "timepicker": part.TIMES["timepicker"]}
    | part.SELECTS | part.CHECKS | part.OVERFLOW | part.WORKFLOW
)  # fmt: skip
_INPUT_ELEMENTS = part.INPUTS | part.SELECTS | part.CHECKS | part.TIMES
_CELL = typed(
    {
        "raw_text": shape({"type": choice("raw_text"), "text": string()}),
        "raw_number": shape({"type": choice("raw_number"), "text": string(), "value": number()}),
        "rich_text": part.RICH_TEXT,
    },
    "cell",
)
_CARD = _block(
    "card",
    {},
    {
        "title": part.mrkdwn(150),
        "subtitle": part.mrkdwn(150),
        "body": part.mrkdwn(200),
        "icon": part.IMAGE,
        "hero_image": part.IMAGE,
        "actions": listed(part.BUTTON, 1, 3),
    },
    at_least_one_of("title", "body", "hero_image", "actions"),
    unique("actions", "action_id"),
)
_TASK_CARD = _block(
    "task_card",
    {"task_id": string(), "title": string(), "status": TASK_STATUS},
    {"details": part.RICH_TEXT, "output": part.RICH_TEXT, "sources": listed(part.url_source())},
)

_PLAIN_BLOCKS: dict[str, Rule] = {
    "actions": _block(
        "actions", {"elements": listed(typed(_ACTION_ELEMENTS, "element in actions"), 1, 25)}, None, _UNIQUE_ACTIONS
    ),
    "context": _block(
        "context",
        {
            "elements": listed(
                typed(
                    {"image": part.IMAGE, "plain_text": part.plain(3000), "mrkdwn": part.mrkdwn(3000)},
                    "element in context",
                ),
                1,
                10,
            )
        },
    ),
    "divider": _block("divider", {}),
    "file": _block("file", {"external_id": string(), "source": choice("remote")}),
    "header": _block("header", {"text": part.plain(150)}),
    "image": _block(
        "image",
        {"alt_text": string(2000)},
        {"title": part.plain(2000), "image_url": part.URL, "slack_file": part.SLACK_FILE},
        one_of("image_url", "slack_file"),
    ),
    "input": _block(
        "input",
        {"label": part.plain(2000), "element": typed(_INPUT_ELEMENTS, "element of an input")},
        {"hint": part.plain(2000), "optional": boolean, "dispatch_action": boolean},
    ),
    "rich_text": part.RICH_TEXT,
    "section": _block(
        "section",
        {},
        {
            "text": part.text(3000),
            "fields": listed(part.text(2000), 1, 10),
            "accessory": typed(_ACCESSORIES, "accessory"),
            "expand": boolean,
        },
        at_least_one_of("text", "fields"),
    ),
    "table": _block(
        "table",
        {"rows": listed(listed(_CELL, 1, 20), 1, 100)},
        {
            "column_settings": listed(
                shape({}, {"align": choice("left", "center", "right"), "is_wrapped": boolean}), 0, 20
            )
        },
        _columns,
    ),
    "video": _block(
        "video",
        {"alt_text": string(2000), "title": part.plain(200), "thumbnail_url": part.URL, "video_url": part.URL},
        {
            "author_name": string(50),
            "description": part.plain(200),
            "provider_icon_url": part.URL,
            "provider_name": string(50),
            "title_url": part.URL,
        },
    ),
}
# What may stand inside a container: no markdown, no plan, no task card.
BLOCKS: dict[str, Rule] = _PLAIN_BLOCKS | {
    "alert": _block(
        "alert", {"text": part.text(200)}, {"level": choice("default", "info", "warning", "error", "success")}
    ),
    "card": _CARD,
    "carousel": _block("carousel", {"elements": listed(typed({"card": _CARD}, "element of a carousel"), 1, 10)}),
    "container": _block(
        "container",
        {"child_blocks": listed(typed(_PLAIN_BLOCKS, "block in a container"), 1, 10)},
        {
            "title": part.plain(150),
            "rich_text_title": part.RICH_TEXT,
            "subtitle": part.text(150),
            "icon": part.IMAGE,
            "width": choice("narrow", "standard", "wide", "full"),
            "is_collapsible": boolean,
            "default_collapsed": boolean,
            "has_header_divider": boolean,
        },
    ),
    "context_actions": _block(
        "context_actions",
        {
            "elements": listed(
                typed(
                    {"feedback_buttons": part.FEEDBACK_BUTTONS, "icon_button": part.ICON_BUTTON},
                    "element in context_actions",
                ),
                1,
                5,
            )
        },
        None,
        _UNIQUE_ACTIONS,
    ),
    "data_table": _block(
        "data_table",
        {"caption": string(), "rows": listed(listed(_CELL, 1, 20), 2, 201)},
        {"page_size": number(1, 100), "row_header_column_index": number(0, 19)},
        _columns,
        _data_size,
    ),
    "markdown": _block("markdown", {"text": string(12_000)}),
    "plan": _block(
        "plan",
        {"title": string()},
        {"tasks": listed(typed({"task_card": _TASK_CARD}, "task"), 0, 50)},
        unique("tasks", "task_id"),
    ),
    "task_card": _TASK_CARD,
}

_EVERYWHERE = {"actions", "card", "context", "divider", "header", "image", "input", "rich_text", "section", "video"}
_FOLDING = {"carousel", "container", "data_table", "table"}
SURFACES: dict[Surface, frozenset[str]] = {
    "message": frozenset(_EVERYWHERE | _FOLDING | {"context_actions", "file", "markdown", "plan", "task_card"}),
    "modal": frozenset(_EVERYWHERE | {"alert"}),
    "home": frozenset(_EVERYWHERE | _FOLDING),
}


def block(surface: Surface) -> Rule:
    """One block, well formed and allowed on this surface."""
    any_block = typed(BLOCKS, "block")

    def check(value: object, at: str) -> Iterator[Problem]:
        yield from any_block(value, at)
        kind = value.get("type") if isinstance(value, Mapping) else None
        if isinstance(kind, str) and kind in BLOCKS and kind not in SURFACES[surface]:
            yield Problem(f"{at}/type", f"block {kind} is not supported on {surface} surfaces")
        # Only the tasks of a plan can wait; a card alone has begun.
        if kind == "task_card" and isinstance(value, Mapping) and value.get("status") == "pending":
            yield Problem(f"{at}/status", "a task_card outside a plan cannot be pending")

    return check


_SHOWN = ("text", "title", "subtitle", "body", "caption", "alt_text", "fallback", "description", "url")


def texts(value: object) -> Iterator[str]:
    """Every string in it that a reader sees; a bare link is its own text."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            if isinstance(member, str):
                yield from (member,) if key in _SHOWN else ()
            else:
                yield from texts(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from texts(member)
