"""A run while it works: its events as cards, and the cards as stream chunks, as blocks or as markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bot.blocks import ids
from bot.blocks.cards import Card
from bot.blocks.parts import actions, button
from bot.blocks.reader import Reader
from bot.blocks.rich import Block, rich, section, spans
from bot.blocks.text import markdown_escape, phone_line, unpinged
from bot.shapes.contents import TASK_CHARS

Chunk = dict[str, Any]

# Beyond this many, the oldest are counted instead of shown.
_MAX_CARDS = 48
_MARKDOWN_LINES, _LINE_CHARS = 30, 200
_MARKS = {"pending": "▫️", "in_progress": "🔄", "complete": "✅", "error": "❌"}


def progress_chunks(before: Sequence[Card], now: Sequence[Card], reader: Reader) -> list[Chunk]:
    """What to append to a stream that shows `before`. A text is sent once: Slack adds up what it gets."""
    shown = {card.id: card for card in before}
    start = [] if before else [plan_chunk(reader.say("progress_title"))]
    return start + [_task_chunk(card, shown.get(card.id)) for card in now if shown.get(card.id) != card]


def plan_chunk(title: str) -> Chunk:
    return {"type": "plan_update", "title": _field(title)}


def _task_chunk(card: Card, before: Card | None) -> Chunk:
    chunk = {"type": "task_update", "id": card.id, "title": _field(card.title), "status": card.status}
    added = card.output if before is None else card.output.removeprefix(before.output).strip()
    return chunk | {"output": _field(added)} if added.strip() else chunk


def _field(text: str) -> str:
    return phone_line(unpinged(text), TASK_CHARS) or "…"


# ---------------------------------------------------------------- without a stream


def progress_blocks(cards: Sequence[Card], reader: Reader, title: str | None = None) -> list[Block]:
    """One plan block, for chat.postMessage and chat.update."""
    tasks = [_task_card(card) for card in cards[-_MAX_CARDS:]]
    earlier = len(cards) - len(tasks)
    if earlier > 0:
        text = reader.say("progress_earlier", count=earlier)
        tasks.insert(0, {"type": "task_card", "task_id": "earlier", "title": text, "status": "complete"})
    return [{"type": "plan", "title": _field(title or reader.say("progress_title")), "tasks": tasks}]


def _task_card(card: Card) -> Block:
    made = {"type": "task_card", "task_id": card.id, "title": _field(card.title), "status": card.status}
    output = rich(section(spans(_field(card.output)))) if card.output.strip() else None
    return made if output is None else made | {"output": output}


def progress_markdown(cards: Sequence[Card], reader: Reader, title: str | None = None) -> str:
    """For `markdown_text` of chat.update; at most about 7,000 characters."""
    lines = list(_lines(cards))
    earlier = len(lines) - _MARKDOWN_LINES
    head = [f"**{markdown_escape(title or reader.say('progress_title'))}**", ""]
    head += [f"- {markdown_escape(reader.say('progress_earlier', count=earlier))}"] if earlier > 0 else []
    return "\n".join([*head, *lines[-_MARKDOWN_LINES:]])


def _lines(cards: Sequence[Card]) -> Iterator[str]:
    for card in cards:
        text = f"{card.title}: {card.output}" if card.output.strip() else card.title
        indent = "  " if card.is_call else ""
        yield f"{indent}- {_MARKS[card.status]} {markdown_escape(phone_line(text, _LINE_CHARS))}"


# ---------------------------------------------------------------- one line


def progress_line(cards: Sequence[Card], seconds: float, reader: Reader, *, stopped: bool = False) -> str:
    """What a finished progress message folds to."""
    calls = sum(card.is_call for card in cards)
    return reader.say("progress_stopped" if stopped else "progress_done", seconds=f"{seconds:.0f}", calls=calls)


def status_line(cards: Sequence[Card], reader: Reader) -> str:
    """What goes on now, for a status under the thread."""
    running = [card for card in cards if card.status == "in_progress"]
    return phone_line(unpinged(running[-1].title if running else reader.say("progress_title")), 100)


def waiting_line(place: int, reader: Reader) -> str:
    return reader.say("progress_waiting", place=place)


def stop_block(run_id: str, reader: Reader) -> Block:
    return actions(button(reader.say("button_stop"), ids.STOP, run_id, style="danger"))
