"""Text for Slack: measured, split by meaning, and unable to ping anyone or to pose as a link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bot.answers.printable import printable
from bot.shapes.rules import units

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# Slack's own markup: <!channel>, <@U1>, <#C1>, <https://host|label>, <mailto:x>.
_CONTROL = re.compile(r"<(?=[!@#]|[a-zA-Z][a-zA-Z+.-]*:)")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!])")
# What begins a list or underlines a heading.
_LINE_MARK = re.compile(r"(?m)^(\s*\d*)([-+=.)])")
# From the best place to split to the worst: after a paragraph, a line, a sentence, a clause, a word.
_SEAMS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?…]+[\"')\]]*\s|[。！？；]+[”’）]*"),
    re.compile(r"[,;:]\s|[，、：]"),
    re.compile(r"\s+|(?<=[\u3040-\u30ff\u3400-\u9fff])(?=[\u3040-\u30ff\u3400-\u9fff])"),
)
_MIN_SHARE = 0.4
# A mark that belongs to the character before it, or a joiner that ties two together.
_JOINED = re.compile("[\u0300-\u036f\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")


def escape(text: str) -> str:
    """For mrkdwn: &, < and > as entities, so that no mention and no link can form."""
    return re.sub(r"[&<>]", lambda match: _ENTITIES[match[0]], printable(text))


def unpinged(text: str) -> str:
    """For fields whose markup is not documented: readable as it is, with Slack's control sequences disarmed."""
    return _CONTROL.sub("‹", printable(text))


def markdown_escape(text: str) -> str:
    """For markdown blocks and markdown_text: what is written is what is shown."""
    escaped = _MARKDOWN.sub(r"\\\1", unpinged(text).replace("&", "&amp;"))
    return _LINE_MARK.sub(r"\1\\\2", escaped)


def plain(text: str, limit: int) -> dict[str, Any]:
    """A plain_text object of at most `limit` characters."""
    return {"type": "plain_text", "text": phone_line(text, limit), "emoji": True}


def phone_line(text: str, limit: int = 150) -> str:
    """One line of at most `limit` characters, cut between words."""
    line = " ".join(printable(text).split())
    if units(line) <= limit:
        return line
    reach = _reach(line, 0, limit - 2)
    return f"{line[: _word_end(line, 0, reach)].rstrip()} …"


def escaped_line(text: str, limit: int) -> str:
    """`phone_line` for mrkdwn, of at most `limit` characters with its entities."""
    shorter = limit
    while units(shown := escape(phone_line(text, shorter))) > limit:
        # Entities are longer than what they stand for.
        shorter -= max(1, (units(shown) - limit) // 5)
    return shown


def split_text(text: str, limit: int) -> list[str]:
    """Pieces of at most `limit` characters that join to the text again: whole paragraphs where they fit, else lines,
    sentences, clauses, words. Only a word longer than the limit is cut, and never inside a character."""
    return list(_pieces(text, limit))


def shown_pieces(text: str, limit: int) -> list[str]:
    """`split_text` of what a reader sees of the text, hidden characters made visible; at least one piece."""
    return split_text(printable(text), limit) or [""]


def _pieces(text: str, limit: int) -> Iterator[str]:
    start = 0
    while start < len(text):
        reach = _reach(text, start, limit)
        end = reach if reach == len(text) else _seam(text, start, reach)
        yield text[start:end]
        start = end


def _reach(text: str, start: int, limit: int) -> int:
    """How far `limit` UTF-16 units go; one character at least, or there would be no end."""
    end = min(len(text), start + max(limit, 1))
    while end > start + 1 and units(text[start:end]) > limit:
        end -= max(1, (units(text[start:end]) - limit) // 2)
    return end


def _seam(text: str, start: int, reach: int) -> int:
    least = start + int((reach - start) * _MIN_SHARE)
    for seam in _SEAMS[:-1]:
        ends = [match.end() for match in seam.finditer(text, start, reach) if match.end() > least]
        if ends:
            return ends[-1]
    return _word_end(text, start, reach)


def _word_end(text: str, start: int, reach: int) -> int:
    # One character beyond tells whether a word ends exactly at the limit.
    ends = [match.end() for match in _SEAMS[-1].finditer(text, start, min(len(text), reach + 1))]
    words = [end for end in ends if start < end <= reach]
    if words:
        return words[-1]
    if text[reach].isspace():
        return reach
    return _between_characters(text, start, reach)


def _between_characters(text: str, start: int, reach: int) -> int:
    end = reach
    while end > start + 1 and (_JOINED.match(text[end]) or text[end - 1] == "\u200d"):
        end -= 1
    return end if end > start + 1 else reach
