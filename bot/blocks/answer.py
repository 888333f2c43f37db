"""What the message of every ended run has: its parts to send, its lists, its foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.contracts import RunOutcome
from bot.blocks import ids
from bot.blocks.feedback import feedback_block
from bot.blocks.parts import actions, button, context
from bot.blocks.reader import Reader
from bot.blocks.rich import Block, Element, bullets, section, spans, told
from bot.blocks.snippet import Snippet
from bot.blocks.text import shown_pieces
from bot.blocks.usage import usage_line, window_line
from bot.shapes.rules import units

LIST_CHARS = 1_400
_ITEM_CHARS, _LEAST_ROOM = 600, 60


@dataclass(frozen=True)
class AnswerView:
    """`mention` is the user whom the message calls back; `votes` False leaves the feedback buttons out; `missing` is what
    the message itself lacks."""

    reader: Reader
    mention: str | None = None
    votes: bool = True
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """`text` is what a notification shows. `overflow`, where there is one, holds the whole answer: post it as a file
    in the thread, since the message had to leave something out."""

    blocks: list[Block]
    text: str
    overflow: Snippet | None


def listed(heading: str, items: Sequence[str], reader: Reader, room: int = LIST_CHARS) -> tuple[list[Element], bool]:
    """The items as far as there is room, and whether one was cut or left out."""
    shown: list[str] = []
    for item in items:
        if room < _LEAST_ROOM:
            break
        text, cut = within(item, min(room, _ITEM_CHARS))
        shown.append(f"{text.rstrip()} …" if cut else text)
        room -= units(text)
    if not shown:
        return [], bool(items)
    elements = [section(spans(heading, bold=True)), bullets(told(text, reader.link_hosts) for text in shown)]
    more = len(items) - len(shown)
    if more:
        elements.append(section(spans(reader.say("items_left", count=more), italic=True)))
    return elements, more > 0 or shown != list(items)


def within(text: str, limit: int) -> tuple[str, bool]:
    """The first piece, and whether there are more."""
    first, *rest = shown_pieces(text, limit)
    return first, bool(rest)


def foot(outcome: RunOutcome, view: AnswerView) -> list[Block]:
    """What it took, and the buttons."""
    reader = view.reader
    blocks = [
        context(" · ".join(part for part in (window_line(outcome, reader), usage_line(outcome, reader)) if part)),
        actions(
            button(reader.say("button_evidence"), ids.EVIDENCE, outcome.run_id),
            button(reader.say("button_trace"), ids.TRACE, outcome.run_id),
        ),
    ]
    return [*blocks, feedback_block(outcome.run_id, reader)] if view.votes else blocks
