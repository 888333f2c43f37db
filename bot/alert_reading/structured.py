"""Pairs out of what is not lines of text: JSON in a code block, also where it is cut off, and tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from bot.alert_reading.labels import role_of
from bot.alert_reading.markup import bare

MAX_JSON = 40_000
MAX_ROWS = 300
MAX_PAIRS = 400
_JSON_PAIR = re.compile(r'"([^"\\\n]{1,80})"\s{0,9}:\s{0,9}(?:"((?:[^"\\]|\\.){0,2000})"|(-?\d[\d.eE+-]{0,30}|true|false)\b)')
_CELLS = re.compile(r"\s{2,}|\t+|\s*[|│┃]\s*")
_RULE = re.compile(r"\A[\s|+:=─━┼│-]{3,}\Z")


def json_rows(code: str) -> list[list[tuple[str, str]]]:
    """The pairs of a JSON text, a list for each alert in it ("alerts": […] or a list of objects). A text that is cut off gives
    the pairs that are whole."""
    code = code.strip()[:MAX_JSON]
    if not code.startswith(("{", "[")):
        return []
    try:
        value = json.loads(code)
    except (ValueError, RecursionError):
        found = [(key, _unquoted(text) if text or not number else number) for key, text, number in _JSON_PAIR.findall(code)]
        return [found[:MAX_PAIRS]] if found else []
    return [pairs for item in _items(value) if (pairs := list(_pairs(item, 0))[:MAX_PAIRS])]


def table_rows(text: str) -> list[list[tuple[str, str]]]:
    """The rows of a table whose header names at least two things that alerts have (host, severity, alert …)."""
    lines = [line for line in text.splitlines()[:2_000] if not _RULE.match(line)]
    for place, line in enumerate(lines[:200]):
        heads = _cells(line)
        roles = {role for head in heads if (role := role_of(head))}
        if len(heads) >= 2 and len(roles) >= 2 and len(roles) >= len(heads) - 2 and not line.rstrip().endswith((":", "：")):
            rows = [_cells(row) for row in lines[place + 1 : place + 1 + MAX_ROWS]]
            return [list(zip(heads, row, strict=True)) for row in rows if len(row) == len(heads)]
    return []


def _cells(line: str) -> list[str]:
    cells = [bare(cell) for cell in _CELLS.split(line[:2_000].strip().strip("|│┃")) if cell.strip()]
    return cells if len(cells) <= 20 and all(len(cell) <= 200 for cell in cells) else []


def _items(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        listed = value.get("alerts")
        inner = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        return inner or [value]
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _pairs(value: dict[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        if isinstance(item, dict) and depth < 4:
            yield from _pairs(item, depth + 1)
        elif isinstance(item, str) and item:
            yield key, item[:2_000]
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield key, str(item)


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text
