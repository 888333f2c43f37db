"""Untrusted text between marks that its author cannot know."""

from __future__ import annotations

import re

# Characters that hide or reorder what a reader sees; a log line may hold them, a prompt need not.
_HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def fenced(label: str, text: str, mark: str) -> str:
    """`mark` is random for each run; a text that holds it all the same loses it."""
    return f"<<<{label} {mark}\n{text.replace(mark, '')}\n{mark} {label}>>>"


def visible(text: str) -> str:
    """Text without zero-width, direction and tag characters: for the question and the history, never for evidence,
    whose characters the Gatekeeper compares."""
    return _HIDDEN.sub("", text)


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters; a cut says how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… [{len(text) - limit} more characters]"
