"""The parts of a payload, however deep."""

from collections.abc import Iterator
from typing import Any


def spans_of(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in it."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from spans_of(member)
    elif isinstance(value, list):
        for member in value:
            yield from spans_of(member)
