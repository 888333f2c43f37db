"""Files of Slack message events: one object, JSON lines, a list, or pretty-printed objects one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.alerts import parse_alerts
from bot.errors import ConfigError

_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class BadLine:
    """What could not be read, and on which line it begins."""

    line: int
    error: str


def parsed_events(text: str, name: str) -> Iterator[dict[str, Any] | BadLine]:
    """What `alert parse` prints for each event, in order. Raises ConfigError where the file holds nothing."""
    if not text.strip():
        raise ConfigError(f'{name} is empty: write a Slack message event into it, for example {{"type": "message", …}}.')
    for document in events_in(text):
        yield document if isinstance(document, BadLine) else shown(document)


def shown(event: Mapping[str, Any]) -> dict[str, Any]:
    return parse_alerts(event).model_dump(mode="json", exclude={"change"})


def events_in(text: str) -> Iterator[Mapping[str, Any] | BadLine]:
    """The events of a text; a fixture's or an envelope's is what stands under its "event"."""
    for line, value in _values(text):
        if isinstance(value, BadLine):
            yield value
            continue
        for item in value if isinstance(value, list) else [value]:
            yield _event(item) if isinstance(item, Mapping) else BadLine(line, "not a JSON object")


def _event(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of an envelope of Socket Mode or HTTP, a fixture, or the event itself."""
    payload = document.get("payload")
    inner = payload.get("event") if isinstance(payload, Mapping) else document.get("event")
    return inner if isinstance(inner, Mapping) else document


def _values(text: str) -> Iterator[tuple[int, Any]]:
    place = _next(text, 0)
    while place < len(text):
        line = text.count("\n", 0, place) + 1
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            yield line, BadLine(line, f"not JSON: {_why(error)}")
            place = _next_document(text, place)
        else:
            yield line, value
            place = _next(text, end)


def _why(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} (line {error.lineno}, column {error.colno})"
    return "nested too deeply"


def _next_document(text: str, place: int) -> int:
    """Past a broken document: the next line that is neither indented nor a closing bracket."""
    while (end := text.find("\n", place)) >= 0:
        place = end + 1
        if text[place : place + 1] not in ("", " ", "\t", "\n", "\r", "}", "]"):
            return place
    return len(text)


def _next(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place
