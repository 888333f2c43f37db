"""What may enter self_evaluation."""

from __future__ import annotations

import json
import re
from typing import Any

from storage.types import encodable

KEY = re.compile(r"[a-z][a-z0-9_]*")
# MariaDB's JSON functions answer NULL past 32 levels, and NULL would wipe the whole container.
MAX_DEPTH = 28
_NESTED = (dict, list, tuple)


def evaluation_parameters(key: str, value: dict[str, Any]) -> dict[str, str]:
    """The parameters of PUT_EVALUATION. Raises ValueError for what a database's JSON cannot hold."""
    if not KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no evaluation key: use lower-case words joined by _.")
    if _depth(value) > MAX_DEPTH:
        raise ValueError(f"The value of {key} is nested deeper than {MAX_DEPTH} levels.")
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return {"the_path": f"$.{key}", "the_json": encodable(text)}


def _depth(value: Any) -> int:
    """Levels of nesting, 0 for a scalar."""
    if not isinstance(value, _NESTED):
        return 0
    items = value.values() if isinstance(value, dict) else value
    return 1 + max((_depth(item) for item in items if isinstance(item, _NESTED)), default=0)
