"""The documents of `cite check`: one JSON object, or JSON lines of such objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agents.contracts import GatekeeperResult
from agents.gate.document import BadDocument, check_document
from bot.errors import ConfigError


def checked(text: str, name: str) -> Iterator[GatekeeperResult | dict[str, Any]]:
    """A result a document, or {"error", "line"}. Raises ConfigError where there is no document at all."""
    documents = list(_documents(text))
    if not documents:
        raise ConfigError(f'{name} is empty: write {{"invocations": …, "run_id": …, "claims": …}} into it.')
    for line, document in documents:
        try:
            yield check_document(json.loads(document))
        except json.JSONDecodeError as error:
            yield {"error": f"not JSON: {error}", "line": line}
        except BadDocument as error:
            yield {"error": str(error), "line": line}


def _documents(text: str) -> Iterator[tuple[int, str]]:
    """A file whose first line is no whole object is one object over many lines."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if lines and not _is_json(lines[0][1]) and _is_json(text):
        yield 1, text
        return
    yield from lines


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
