"""Block Kit, flattened to lines, fields and buttons. Depth and number are capped: any JSON may stand in a block."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 12
MAX_BLOCKS = 400
MAX_CELL = 4_000
_TITLED = re.compile(r"\A\s*(\*{1,2}[^*\n]{1,80}\*{1,2}:?|[^\n:：]{1,60}[:：])\s*(?:\n|(?<=[:：*])\s*)(.*)\Z", re.DOTALL)
_WORDED = ("header", "title", "subtitle", "text", "body", "fields", "elements", "accessory", "rows", "blocks", "children", "description")  # fmt: skip
_LINES = ("rich_text_section", "rich_text_quote", "rich_text_preformatted")

Take = Callable[[object], str]


@dataclass
class BlockParts:
    """As markup: `headers` (the first header block), `lines` (all other text, in order), `cells` (of sections' fields), `pairs`
    (rows of tables with two columns), `buttons` (label, address)."""

    headers: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)

    @property
    def said(self) -> bool:
        return bool(self.headers or self.lines or self.cells or self.pairs or self.buttons)


def flatten(blocks: object, take: Take) -> BlockParts:
    parts, left = BlockParts(), [MAX_BLOCKS * 4]
    for block in _mappings(blocks)[:MAX_BLOCKS]:
        _block(block, parts, take, left, 0)
    return parts


def fields_of(parts: BlockParts) -> Iterator[tuple[str, str]]:
    """Cells such as `*Service:*\\npayments` as pairs; a cell without a title has an empty one, or the title in the cell before."""
    title = ""
    for cell in parts.cells:
        match = _TITLED.match(cell.lstrip()[:MAX_CELL])
        if match and not match[2].strip():
            title = match[1]
            continue
        yield (match[1], match[2].strip()) if match else (title, cell)
        title = ""
    yield from parts.pairs


def _block(block: Mapping[str, Any], parts: BlockParts, take: Take, left: list[int], depth: int) -> None:
    left[0] -= 1
    if depth > MAX_DEPTH or left[0] < 0:
        return
    kind = block.get("type")
    if kind in ("button", "workflow_button"):
        _button(block, parts, take)
    elif kind == "header":
        (parts.lines if parts.headers else parts.headers).append(take(_text_of(block.get("text"))))
    elif kind in _LINES:
        _inline_line(block, parts, take)
    elif kind == "table":
        _table(block, parts, take)
    elif kind == "image":
        return
    else:
        _other(block, parts, take, left, depth)


def _other(block: Mapping[str, Any], parts: BlockParts, take: Take, left: list[int], depth: int) -> None:
    if block.get("type") == "section":
        parts.cells.extend(cell for each in _list(block.get("fields"))[:50] if (cell := take(_text_of(each))))
    for name in _WORDED:
        value = block.get(name)
        if isinstance(value, str):
            parts.lines.append(take(value))
        elif isinstance(value, Mapping):
            if isinstance(value.get("text"), str) and value.get("type") in (None, "mrkdwn", "plain_text"):
                parts.lines.append(take(value["text"]))
            else:
                _block(value, parts, take, left, depth + 1)
        elif isinstance(value, list) and not (name == "fields" and block.get("type") == "section"):
            for part in _mappings(value):
                _block(part, parts, take, left, depth + 1)


def _button(block: Mapping[str, Any], parts: BlockParts, take: Take) -> None:
    url = block.get("url")
    if isinstance(url, str) and url:
        parts.buttons.append((take(_text_of(block.get("text"))), url[:4000]))


def _inline_line(block: Mapping[str, Any], parts: BlockParts, take: Take) -> None:
    words = "".join(_inline(part) for part in _mappings(block.get("elements"))[:500])
    fence = "```" if block.get("type") == "rich_text_preformatted" else ""
    parts.lines.append(take(f"{fence}{words}{fence}"))


def _inline(element: Mapping[str, Any]) -> str:
    """As markup, so that one reader serves both."""
    kind, text = element.get("type"), _text_of(element.get("text"))
    if kind == "link":
        url = _text_of(element.get("url"))
        return f"<{url}|{text}>" if text else f"<{url}>"
    if kind == "user":
        return f"@{_text_of(element.get('user_id'))}"
    if kind == "broadcast":
        return f"@{_text_of(element.get('range'))}"
    if kind == "emoji":
        return f":{_text_of(element.get('name'))}:"
    if kind == "date":
        return f"<!date^{element.get('timestamp')}^{_text_of(element.get('format'))}>"
    return text


def _table(block: Mapping[str, Any], parts: BlockParts, take: Take) -> None:
    for row in _list(block.get("rows"))[:MAX_BLOCKS]:
        cells = [take(_cell(cell)) for cell in _list(row)[:20]]
        if len(cells) == 2:
            parts.pairs.append((cells[0], cells[1]))
        elif cells:
            parts.lines.append("| " + " | ".join(cells) + " |")


def _cell(cell: object) -> str:
    if not isinstance(cell, Mapping) or isinstance(cell.get("text"), str):
        return _text_of(cell)
    sections = [part for part in _mappings(cell.get("elements")) if isinstance(part.get("elements"), list)]
    return " ".join("".join(_inline(part) for part in _mappings(section["elements"])[:50]) for section in sections[:10])


def _text_of(value: object) -> str:
    if isinstance(value, Mapping):
        value = value.get("text")
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [part for part in value[: MAX_BLOCKS * 4] if isinstance(part, Mapping)] if isinstance(value, list) else []
