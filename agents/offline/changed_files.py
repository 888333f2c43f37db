"""Whose file a line of a change stands in: a diff says it in the header above."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agents.llm.base import CitedRef, Exchange

_HEADER = re.compile(r"^(?:---|\+\+\+) (?!/dev/null)(\S+)")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


def is_in_file_of(line: CitedRef, names: Iterable[str], exchanges: Sequence[Exchange]) -> bool:
    """Whether the file's path names one of these things or what they belong to (`shop/` for `shop-cart`). True where
    no header tells the file: then nothing speaks against it."""
    path = _file_of(line, exchanges)
    parts = _NAME.findall(path.lower())
    return not path or any(_is_kin(part, name.lower()) for part in parts for name in names)


def _file_of(line: CitedRef, exchanges: Sequence[Exchange]) -> str:
    for exchange in exchanges:
        at = next((at for at, cited in enumerate(exchange.refs) if cited.handle == line.handle), None)
        if at is not None:
            headers = (_HEADER.match(cited.ref.text) for cited in reversed(exchange.refs[:at]))
            return next((found[1] for found in headers if found), "")
    return ""


def _is_kin(part: str, name: str) -> bool:
    return part == name or name.startswith(f"{part}-") or part.startswith(f"{name}-")
