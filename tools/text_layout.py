"""What a line of plain tool output stands under: its section (kubectl describe, YAML) or its table's header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_KEY = re.compile(r"([A-Za-z][\w ./()-]{0,60}?):(?:\s+(.*))?$")
_COLUMN = re.compile(r"\S+(?: \S+)*")
_HEADER = re.compile(r"[A-Z][A-Z0-9 _()/%#:.-]*")
_RULE = re.compile(r"[-=+| ]{6,}")
_WRAPPERS = frozenset({"stdout:", "stderr:", "---", "<none>"})


@dataclass(frozen=True)
class Line:
    """`section` like "Containers > main > Last State"; `columns` are the header names of the table it is a row of.
    `quotable` is false for blank lines, rules, bare headings and wrappers."""

    number: int
    text: str
    section: str = ""
    columns: str = ""
    quotable: bool = True


def laid_out(lines: Sequence[str]) -> list[Line]:
    """Every line, in order, each with its surroundings."""
    layout = _Layout()
    return [layout.place(number, line, _following(lines, number)) for number, line in enumerate(lines)]


class _Layout:
    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self._columns = ""

    def place(self, number: int, raw: str, following: str) -> Line:
        line = raw.expandtabs(8)
        text = line.strip()
        if not text or text in _WRAPPERS or not any(c.isalnum() for c in text):
            if not text or text in _WRAPPERS:
                self._columns = ""
            return Line(number, raw, quotable=False)
        indent = len(line) - len(line.lstrip())
        item = text.startswith("- ")
        self._close(indent + item)  # a list item may stand as far left as the key it belongs to
        section = " > ".join(name for _, name in self._open)
        if _is_header(text, following):
            self._columns = ", ".join(_COLUMN.findall(text))
            return Line(number, raw, section, quotable=False)
        heading = self._heading(text.removeprefix("- ").strip(), indent + 2 * item)
        if heading is not None:
            self._columns = ""
        return Line(number, raw, section, self._columns, quotable=heading != "")

    def _close(self, indent: int) -> None:
        while self._open and self._open[-1][0] >= indent:
            self._open.pop()

    def _heading(self, text: str, indent: int) -> str | None:
        """The value after a key, "" for a bare heading, None where the line has no key."""
        key = None if self._columns else _KEY.fullmatch(text)
        if key is None:
            return None
        self._open.append((indent, key[1].strip()))
        return (key[2] or "").strip()


def _is_header(text: str, following: str) -> bool:
    columns = _wide_columns(text)
    if len(columns) < 2:
        return False
    ruled = bool(_RULE.fullmatch(following.strip())) and following.count("--") > 1
    return ruled or (len(columns) >= 3 or "  " in text) and all(_HEADER.fullmatch(column) for column in columns)


def _wide_columns(text: str) -> list[str]:
    return [column for column in re.split(r"\s{2,}|\t|\s\|\s", text) if column]


def _following(lines: Sequence[str], number: int) -> str:
    return lines[number + 1] if number + 1 < len(lines) else ""
