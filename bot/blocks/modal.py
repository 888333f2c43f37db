"""Modals and what stands in them: inputs, pages, the loading and the gone view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.blocks import ids
from bot.blocks.parts import actions, button, context, paragraph
from bot.blocks.reader import Reader
from bot.blocks.rich import Block
from bot.blocks.text import plain
from bot.shapes.blocks import texts
from bot.shapes.rules import units

View = dict[str, Any]

_PAGE_CHARS, _PAGE_BLOCKS = 9_000, 80


def modal(
    callback_id: str,
    title: str,
    blocks: Sequence[Block],
    reader: Reader,
    *,
    submit: str | None = None,
    metadata: str = "",
) -> View:
    """`submit` is the key of the word on the button; without it the modal only shows."""
    view: View = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain(title, 24),
        "close": plain(reader.say("cancel" if submit else "close"), 24),
        "blocks": list(blocks),
        "private_metadata": metadata,
    }
    return view | {"submit": plain(reader.say(submit), 24)} if submit else view


def loading_view(callback_id: str, reader: Reader) -> View:
    """Opened at once, since a trigger lives three seconds; filled by views.update."""
    return modal(callback_id, reader.say(f"{callback_id}_title"), [paragraph(reader.say("loading"), reader)], reader)


def gone_view(callback_id: str, reader: Reader) -> View:
    """What a click on a deleted run gets."""
    return modal(callback_id, reader.say("gone_title"), [paragraph(reader.say("gone"), reader)], reader)


def text_input(
    name: str,
    label: str,
    *,
    initial: str = "",
    multiline: bool = False,
    optional: bool = False,
    max_length: int | None = None,
    hint: str = "",
) -> Block:
    """Its value is at values[name][name]["value"]. `initial` must fit into 3,000 characters."""
    element: dict[str, Any] = {"type": "plain_text_input", "action_id": name, "multiline": multiline}
    if initial:
        element["initial_value"] = initial
    if max_length is not None:
        element["max_length"] = max_length
    made: Block = {"type": "input", "block_id": name, "label": plain(label, 2000), "element": element, "optional": optional}
    return made | {"hint": plain(hint, 2000)} if hint else made


# ---------------------------------------------------------------- pages


@dataclass(frozen=True)
class Item:
    """A block of a long modal. `again` stands before it where a page begins with it: what it is a part of."""

    block: Block
    again: Block | None = None


def pages_of(items: Sequence[Item]) -> list[list[Block]]:
    """The blocks in order, on as few pages as Slack's limits for a modal allow; at least one page."""
    pages: list[list[Block]] = [[]]
    chars = 0
    for item in items:
        size = block_chars(item.block)
        if pages[-1] and (chars + size > _PAGE_CHARS or len(pages[-1]) >= _PAGE_BLOCKS):
            pages.append([item.again] if item.again is not None else [])
            chars = 0
        pages[-1].append(item.block)
        chars += size
    return pages


def block_chars(block: Block) -> int:
    return sum(units(text) for text in texts(block))


def paged_view(name: str, run_id: str, pages: Sequence[Sequence[Block]], page: int, reader: Reader) -> View:
    """Page `page` (from 1; clamped), with buttons `NAME_previous` and `NAME_next` whose value is RUN:PAGE."""
    last = len(pages)
    page = min(max(page, 1), last)
    blocks = list(pages[page - 1])
    if last > 1:
        blocks.append(context(reader.say("page", page=page, pages=last)))
        steps = []
        if page > 1:
            steps.append(button(reader.say("button_previous"), f"{name}_previous", ids.numbered(run_id, page - 1)))
        if page < last:
            steps.append(button(reader.say("button_next"), f"{name}_next", ids.numbered(run_id, page + 1)))
        blocks.append(actions(*steps))
    metadata = ids.carried(run_id=run_id, page=page)
    return modal(name, reader.say(f"{name}_title"), blocks, reader, metadata=metadata)
