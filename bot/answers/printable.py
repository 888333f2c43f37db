"""Text of unknown origin, made safe to look at: what could hide in it or turn it round is shown as an escape."""

from __future__ import annotations

import re

# What could move a cursor, colour a screen, vanish or turn the reading direction: a log line may hold any of it.
# The zero-width joiners stay: emoji and some scripts are written with them.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    "\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """Control, zero-width and bidi characters as visible escapes; line ends and tabs stay."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
