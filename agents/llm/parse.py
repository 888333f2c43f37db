"""From what a model wrote to the contract it should have met."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agents.errors import ContractBroken

Answer = TypeVar("Answer", bound=BaseModel)

THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
ERRORS_SHOWN = 8


def parse_answer(text: str, contract: type[Answer]) -> Answer:
    """Thoughts and fences are set aside and the first balanced JSON object is read.

    Raises ContractBroken: status missing where there is no object, malformed where it does not meet the contract.
    """
    value = _first_object(THOUGHT.sub("", text))
    try:
        return contract.model_validate(value)
    except ValidationError as error:
        raise ContractBroken(_in_words(error)) from error


def _first_object(text: str) -> dict[str, Any]:
    for candidate in _balanced(text):
        try:
            value = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(value, dict):
            return _encodable(value) if "\\ud" in candidate.lower() else value
    if "{" in text:
        raise ContractBroken("The JSON object is cut off or not valid JSON.")
    raise ContractBroken("There is no JSON object in the answer.", status="missing")


def _balanced(text: str) -> Iterator[str]:
    """Outermost {...} runs in order; an object that never closes ends the search, so that no inner part stands in."""
    start = text.find("{")
    while start >= 0:
        end = _closing(text, start)
        if end is None:
            return
        yield text[start : end + 1]
        start = text.find("{", end + 1)


_MARKS = re.compile(r'[{}]|"(?:[^"\\]|\\.)*"', re.DOTALL)


def _closing(text: str, start: int) -> int | None:
    depth = 0
    for mark in _MARKS.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(mark.group(), 0)
        if depth == 0:
            return mark.start()
    return None


def _encodable(value: dict[str, Any]) -> dict[str, Any]:
    """Half a surrogate pair, written as an escape, could be neither checked nor stored."""
    cleaned = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    assert isinstance(cleaned, dict)
    return cleaned


def _in_words(error: ValidationError) -> str:
    lines = [f"{'.'.join(map(str, item['loc'])) or 'the object'}: {item['msg']}" for item in error.errors()]
    more = [f"and {len(lines) - ERRORS_SHOWN} more"] if len(lines) > ERRORS_SHOWN else []
    return "\n".join([*lines[:ERRORS_SHOWN], *more])
