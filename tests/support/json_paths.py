"""Whether a raw_path leads into its payload."""

import json
import re
from typing import Any

_PATH_STEP = re.compile(r"\.([A-Za-z_][\w-]*)|\[(\d+)\]|\[\"((?:[^\"\\]|\\.)*)\"\]|\['([^']*)'\]")


def resolves(path: str, payload: Any) -> bool:
    """Whether a JSONPath like `$.logs[3].line` leads somewhere in the payload."""
    at, value = 1, payload
    while at < len(path):
        step = _PATH_STEP.match(path, at)
        if step is None:
            return False
        quoted = None if step[3] is None else _unescaped(step[3])
        name = next((part for part in (step[1], quoted, step[4]) if part is not None), None)
        key: Any = int(step[2]) if name is None else name
        if not _holds(value, key):
            return False
        value, at = value[key], step.end()
    return True


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def _holds(value: Any, key: Any) -> bool:
    if isinstance(key, int):
        return isinstance(value, list) and key < len(value)
    return isinstance(value, dict) and key in value
