"""What a command prints on stdout."""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic import BaseModel


def print_json(value: Any) -> None:
    """One object on one line."""
    sys.stdout.write(json.dumps(_plain(value), ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
