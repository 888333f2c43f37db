"""Lists of blocks, views, stream chunks, attachments and metadata: what a call carries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from bot.shapes.blocks import TASK_STATUS, Surface, block, texts
from bot.shapes.elements import plain, url_source
from bot.shapes.rules import (
    Problem,
    Rule,
    anything,
    boolean,
    choice,
    coded,
    listed,
    mapping,
    shape,
    string,
    typed,
    units,
)

MARKDOWN_CHARS = 12_000
# Seen in practice at about 13,200 (bolt-js#2509); nothing documents it.
BLOCK_CHARS = 13_000
METADATA_BYTES = 8_000
# The documented figure. Longer ones were seen to pass, and then to add up to msg_too_long when the stream stops.
TASK_CHARS = 256


def blocks(surface: Surface, high: int = 50) -> Rule:
    """The blocks of a message (at most 50) or of a view (at most 100), each and together."""
    each = listed(block(surface), 0, high)

    def check(value: object, at: str) -> Iterator[Problem]:
        yield from each(value, at)
        if isinstance(value, list | tuple):
            yield from _twice(value, at)
            if surface == "message":
                yield from _together(value, at)

    return check


def _twice(members: list[object] | tuple[object, ...], at: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for pointer, member in _nested(members, at):
        name = member.get("block_id")
        if isinstance(name, str):
            if name in seen:
                yield Problem(f"{pointer}/block_id", f"block_id {name!r} already exists")
            seen.add(name)


def _nested(members: object, at: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    if not isinstance(members, list | tuple):
        return
    for index, member in enumerate(members):
        if isinstance(member, Mapping):
            yield f"{at}/{index}", member
            yield from _nested(member.get("child_blocks"), f"{at}/{index}/child_blocks")


def _together(members: list[object] | tuple[object, ...], at: str) -> Iterator[Problem]:
    kinds = [(pointer, member.get("type"), member.get("text")) for pointer, member in _nested(members, at)]
    for pointer, *_ in [item for item in kinds if item[1] == "table"][1:]:
        yield Problem(pointer, "only one table block is allowed in a message", "only_one_table_allowed")
    markdown = sum(units(text) for _, kind, text in kinds if kind == "markdown" and isinstance(text, str))
    if markdown > MARKDOWN_CHARS:
        yield Problem(at, f"markdown blocks must be less than {MARKDOWN_CHARS + 1} characters in all, have {markdown}")
    shown = sum(units(text) for text in texts(members))
    if shown > BLOCK_CHARS:
        message = f"blocks must be less than {BLOCK_CHARS + 1} characters in all, have {shown}"
        yield Problem(at, message, "msg_blocks_too_long")


# ---------------------------------------------------------------- views

_IDS = {"private_metadata": string(3000, low=0), "callback_id": string(255), "external_id": string(255)}


def _submit_with_inputs(value: object, at: str) -> Iterator[Problem]:
    members = value.get("blocks") if isinstance(value, Mapping) else None
    inputs = [pointer for pointer, member in _nested(members, f"{at}/blocks") if member.get("type") == "input"]
    if isinstance(value, Mapping) and inputs and not value.get("submit"):
        yield Problem(f"{at}/submit", "a modal with input blocks needs submit")


def _one_focus(value: object, at: str) -> Iterator[Problem]:
    if isinstance(value, Mapping) and _focused(value.get("blocks")) > 1:
        yield Problem(at, "only one element may have focus_on_load")


def _focused(value: object) -> int:
    if isinstance(value, Mapping):
        return int(value.get("focus_on_load") is True) + sum(_focused(member) for member in value.values())
    return sum(_focused(member) for member in value) if isinstance(value, list | tuple) else 0


MODAL = shape(
    {"type": choice("modal"), "title": plain(24), "blocks": blocks("modal", 100)},
    _IDS | {"submit": plain(24), "close": plain(24), "clear_on_close": boolean, "notify_on_close": boolean},
    _submit_with_inputs,
    _one_focus,
)
HOME = shape({"type": choice("home"), "blocks": blocks("home", 100)}, _IDS, _one_focus)
ANY_VIEW = typed({"modal": MODAL, "home": HOME}, "view")

# ---------------------------------------------------------------- streams

_TASK_UPDATE = shape(
    {"type": choice("task_update"), "id": string(), "title": string(TASK_CHARS), "status": TASK_STATUS},
    {"details": string(TASK_CHARS), "output": string(TASK_CHARS), "sources": listed(url_source())},
)
_CHUNKS: dict[str, Rule] = {
    # A stream's text comes in pieces: a blank between two words is one.
    "markdown_text": shape({"type": choice("markdown_text"), "text": string(MARKDOWN_CHARS, low=0, pattern=r"(?s).+")}),
    "plan_update": shape({"type": choice("plan_update"), "title": string(TASK_CHARS)}),
    "task_update": _TASK_UPDATE,
    "blocks": shape({"type": choice("blocks"), "blocks": blocks("message")}),
}


def chunks(value: object, at: str) -> Iterator[Problem]:
    yield from coded("invalid_chunks", listed(typed(_CHUNKS, "chunk"), 1))(value, at)
    streamed = sum(units(text) for text in _streamed(value))
    if streamed > MARKDOWN_CHARS:
        yield Problem(at, f"chunks must be less than {MARKDOWN_CHARS + 1} characters, have {streamed}", "msg_too_long")


def _streamed(value: object) -> Iterator[str]:
    for chunk in value if isinstance(value, list | tuple) else ():
        if isinstance(chunk, Mapping) and chunk.get("type") != "blocks":
            yield from (
                part for key, part in chunk.items() if isinstance(part, str) and key not in ("type", "id", "status")
            )


# ---------------------------------------------------------------- metadata and attachments


def metadata(value: object, at: str) -> Iterator[Problem]:
    known = {"event_type": string(255), "event_payload": mapping}
    problems = list(shape(known, {"entities": listed(mapping)})(value, at))
    if not problems:
        try:
            size = len(json.dumps(value, ensure_ascii=False).encode())
        except (TypeError, ValueError):
            problems = [Problem(at, "must be JSON")]
        else:
            problems = (
                [Problem(at, f"must be less than {METADATA_BYTES + 1} bytes, has {size}")]
                if size > METADATA_BYTES
                else []
            )
    for problem in problems:
        too_large = "must be less than" in problem.message and problem.pointer == at
        yield Problem(
            problem.pointer, problem.message, "metadata_too_large" if too_large else "invalid_metadata_format"
        )


_ATTACHMENT_TEXTS = (
    "app_id", "app_unfurl_url", "author_icon", "author_link", "author_name", "author_subname", "bot_id", "callback_id",
    "color", "fallback", "footer", "footer_icon", "image_url", "pretext", "text", "thumb_url", "title", "title_link",
)  # fmt: skip
_ATTACHMENT = shape(
    {},
    {name: string(low=0) for name in _ATTACHMENT_TEXTS}
    | {
        "ts": anything,
        "is_app_unfurl": boolean,
        "preview": mapping,
        "actions": listed(mapping),
        "blocks": blocks("message"),
        "fields": listed(shape({"title": string(low=0), "value": string(low=0)}, {"short": boolean})),
        "mrkdwn_in": listed(choice("pretext", "text", "fields")),
    },
)
attachments = coded("invalid_attachments", listed(_ATTACHMENT, 0, 100))
