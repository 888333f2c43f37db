"""The evidence steps of a playbook: `` 1. `query_logs(service="{service}", compare=true)` why ``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

SECTION = re.compile(r"^##\s+Evidence steps\s*$(.*?)(?=^##\s|\Z)", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"^\s*\d+\.\s+`(\w+)\((.*)\)`", re.MULTILINE)
_ARGUMENT = re.compile(r"(\w+)\s*=\s*(\"(?:[^\"\\]|\\.)*\"|[\w.+-]+)")
_PLACE = re.compile(r"\{(\w+)\}")

Step = tuple[str, dict[str, Any]]


def steps_of(body: str) -> list[Step]:
    """(tool, arguments) of each numbered item; none where the section is missing."""
    section = SECTION.search(body)
    return [(name, _arguments(text)) for name, text in _STEP.findall(section[1])] if section else []


def filled(arguments: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any] | None:
    """The arguments with `{service}` and its like filled in; None where a value is not known."""
    done: dict[str, Any] = {}
    for name, value in arguments.items():
        places = _PLACE.findall(value) if isinstance(value, str) else []
        if any(not values.get(place) for place in places):
            return None
        done[name] = _PLACE.sub(lambda found: values[found[1]], value) if places else value
    return done


def _arguments(text: str) -> dict[str, Any]:
    return {name: _value(raw) for name, raw in _ARGUMENT.findall(text)}


def _value(raw: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw
