"""What is said without asking anything: hello, thanks and help get a fitting reply, stop and recall are done by code."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_suffix(".toml")
_EDGES = " \t\r\n.!?。！？，,~～…:：)"
_REPLIES = {"greetings": "hello", "thanks": "welcome", "help": "usage"}


def reply_to(text: str) -> str | None:
    """The reply, in the language that was spoken; None where something was asked."""
    said = _said(text)
    for words in _languages():
        for kind, reply in _REPLIES.items():
            if said in words[kind]:
                return str(words[reply])
    return None


def asks_to_stop(text: str) -> bool:
    return any(_said(text) in words["stop"] for words in _languages())


def asks_what_was_found(text: str) -> bool:
    """The earlier findings of this conversation are wanted, not new ones."""
    return any(_said(text) in words["recall"] for words in _languages())


def asks_to_triage(text: str) -> bool:
    """In an alert's thread: the alert is to be looked into. There, a mention alone asks for it."""
    return not text.strip() or any(_said(text) in words["triage"] for words in _languages())


def usage(language: str) -> str:
    return str(_by_language().get(language, _by_language()["en"])["usage"])


def _said(text: str) -> str:
    return " ".join(text.lower().split()).strip(_EDGES) or text.strip()


def _languages() -> list[dict[str, Any]]:
    return list(_by_language().values())


@cache
def _by_language() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))
