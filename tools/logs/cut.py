"""Cutting text where a word ends: a quote may not end inside one."""

from __future__ import annotations

import re

_WORD_END = re.compile(r"[\w.%-]*$", re.A)


def cut_text(text: str, limit: int) -> str:
    """At most `limit` characters; a word that would be cut is left out, unless it is the whole end."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    whole = _WORD_END.sub("", head[-80:])
    return (head[:-80] + whole).rstrip() if whole else head
