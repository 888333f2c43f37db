"""What is said once an incident is over: how long it lasted and what was true at the end. The report stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.answers.printable import printable
from bot.blocks.parts import context, paragraph
from bot.blocks.reader import Reader
from bot.blocks.rich import Block, bullets, rich, section, spans
from bot.blocks.text import escaped_line, shown_pieces

_NAME_CHARS, _TEXT_CHARS = 120, 150
_AT_END, _AT_END_CHARS = 5, 300
# From so many turns on an incident is called flapping.
FLAPPING = 3


@dataclass(frozen=True)
class Resolved:
    """`ended_at` has a zone; `lasted` None where the start is not known, and `at_least` where only the time of the
    first post is. `at_end`: what the last notices say, each one line (a value, say). `turns` counts how often it has fired
    and resolved lately."""

    name: str
    ended_at: datetime
    lasted: timedelta | None = None
    at_end: Sequence[str] = ()
    alerts: int = 1
    turns: int = 1
    at_least: bool = False


@dataclass(frozen=True)
class ResolvedMessage:
    blocks: list[Block]
    text: str


def resolved_message(resolved: Resolved, reader: Reader) -> ResolvedMessage:
    """`text` is what a notification shows."""
    name = " ".join(printable(resolved.name).split())
    title = reader.say("resolved_title", name=shown_pieces(name, _NAME_CHARS)[0]) if name else reader.say("resolved_plain")
    said = list(_said(resolved, reader))
    blocks: list[Block] = [paragraph(title, reader, bold=True), context(*said)]
    at_end = [text for text in resolved.at_end if text.strip()]
    if at_end:
        blocks.insert(1, rich(section(spans(reader.say("resolved_end"), bold=True)), _list(at_end[:_AT_END])))
    return ResolvedMessage(blocks, escaped_line(f"{title}{reader.say('sentence_end')}{said[0]}", _TEXT_CHARS))


def _said(resolved: Resolved, reader: Reader) -> Iterator[str]:
    when = reader.at(resolved.ended_at)
    if resolved.lasted is not None and resolved.lasted >= timedelta():
        key = "resolved_at_least" if resolved.at_least else "resolved_after"
        yield reader.say(key, lasted=span_text(resolved.lasted, reader), when=when)
    else:
        yield reader.say("resolved_at", when=when)
    if resolved.alerts > 1:
        yield reader.say("resolved_alerts", count=resolved.alerts)
    if resolved.turns >= FLAPPING:
        yield reader.say("resolved_flapping", count=resolved.turns)


def _list(texts: Sequence[str]) -> Block:
    return bullets(spans(shown_pieces(text, _AT_END_CHARS)[0]) for text in texts)


def span_text(lasted: timedelta, reader: Reader) -> str:
    """`12 min`, `1 h 5 min`, `2 d 3 h`: as exact as anybody needs it."""
    seconds = int(lasted.total_seconds())
    minutes, hours = seconds // 60, seconds // 3600
    if seconds < 60:
        return reader.say("span_seconds", seconds=seconds)
    if hours < 1:
        return reader.say("span_minutes", minutes=minutes)
    if hours < 48:
        return reader.say("span_hours", hours=hours, minutes=minutes % 60)
    return reader.say("span_days", days=hours // 24, hours=hours % 24)
