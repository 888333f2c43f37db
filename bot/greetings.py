"""A fitting reply to hello, thanks and help, which start no run."""

from __future__ import annotations

import tomllib
from pathlib import Path

_FILE = Path(__file__).with_suffix(".toml")
_EDGES = " \t\r\n.!?。！？，,~～…:：)"
_REPLIES = {"greetings": "hello", "thanks": "welcome", "help": "usage"}


def reply_to(text: str) -> str | None:
    """The reply, in the language that was spoken; None where something was asked."""
    said = " ".join(text.lower().split()).strip(_EDGES) or text.strip()
    for words in tomllib.loads(_FILE.read_text(encoding="utf-8")).values():
        for kind, reply in _REPLIES.items():
            if said in words[kind]:
                return str(words[reply])
    return None
