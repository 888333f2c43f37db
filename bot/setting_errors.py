"""What a setting that cannot be is answered with: which one, and what to write instead."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from bot.setting_types import NamedQuery, Patrol

# Settings whose entries have names of their own.
TABLES: dict[str, type[BaseModel]] = {"patrols": Patrol, "queries": NamedQuery}


def unknown(where: str, name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}?" if near else "The README lists all settings."
    return f"Unknown setting {where}. {hint}"


def what_to_write(item: Any, name: str, json_only: frozenset[str]) -> str:
    """pydantic's own words for an error of its list, where they do not speak of Python."""
    key, is_whole = str(item["loc"][-1]), len(item["loc"]) == 1
    match item["type"]:
        case "value_error":
            return str(item["msg"]).removeprefix("Value error, ")
        case "missing":
            return f"{key} is missing: write it"
        case "extra_forbidden":
            known = list(TABLES[name].model_fields) if name in TABLES else []
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            return f"{key} is not known here. " + (f"Did you mean {near[0]}?" if near else "Leave it out.")
        case "tuple_type" if name in TABLES and is_whole:
            return f"write [[{name}]], in double brackets, once for each"
        case "tuple_type":
            return 'write a list, like ["a", "b"]'
        case "dict_type" | "model_type" if name not in json_only and is_whole:
            return f"write a table: [{name}], and under it a line for each entry"
    return str(item["msg"])
