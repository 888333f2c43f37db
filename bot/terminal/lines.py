"""Lines with a hanging indent: wrapped to a terminal's width, one long line each where the output is piped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from bot.answers.printable import printable

# With less room than this beside the indent, text would run down the screen letter by letter.
_LEAST_WIDTH = 20


@dataclass(frozen=True)
class Line:
    """`lead` stands before the first row, `hang` before the others (spaces of its width where it is None). What
    is longer than `max_chars` loses whole rows on a terminal and says so; a pipe always gets the whole."""

    text: str = ""
    lead: str = ""
    hang: str | None = None
    max_chars: int | None = None
    style: str = ""
    lead_style: str = ""


def console_for(stream_is_stderr: bool = False) -> Console:
    return Console(stderr=stream_is_stderr, highlight=False, markup=False, emoji=False)


def show(console: Console, lines: Iterable[Line]) -> None:
    for line in lines:
        for row in _rows(line, console):
            console.print(row, soft_wrap=True)


def _rows(line: Line, console: Console) -> list[Text]:
    room = max(_LEAST_WIDTH, console.width - cell_len(line.lead))
    rows: list[Text] = []
    for part in printable(line.text).split("\n"):
        text = Text(part, style=line.style)
        rows += list(text.wrap(console, room)) if console.is_terminal else [text]
    kept = len(rows) if line.max_chars is None else 2 + line.max_chars // room
    if console.is_terminal and len(rows) > kept:
        left_out = sum(len(row.plain) for row in rows[kept:])
        rows = [*rows[:kept], Text(f"… {left_out} more characters", style="dim")]
    return [_indented(row, line, first=index == 0) for index, row in enumerate(rows)]


def _indented(row: Text, line: Line, *, first: bool) -> Text:
    hang = " " * cell_len(line.lead) if line.hang is None else line.hang
    lead = line.lead if first else hang
    row.rstrip()
    return Text.assemble((lead, line.lead_style), row) if lead.strip() or row.plain else Text("")
