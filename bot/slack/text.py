"""What a Slack message says, as plain text: Slack's markup read, and all of it, also what stands in attachments alone."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

# <@U1>, <@U1|ana>, <#C1|name>, <!here>, <!date^…|Monday>, <https://host|label>
_MARK = re.compile(r"<([@#!])([^<>|]*)(?:\|([^<>]*))?>|<([a-zA-Z][a-zA-Z+.-]*:[^<>|]+)(?:\|([^<>]*))?>")
# White space, and what takes no space at all.
_BLANK = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
    "\u200b\u200c\u200d\u2060\ufeff"
)
_NOTHING = ("[no preview available]", "[no preview]")
# Where a block, element or attachment keeps words for people, in the order in which they are read.
_WORDED = (
    "pretext", "title", "subtitle", "author_name", "header", "text", "body", "fields", "elements", "accessory", "rows",
    "tasks", "details", "output", "blocks", "children", "label", "alt_text", "footer",
)  # fmt: skip
_INLINE = ("rich_text_section", "rich_text_preformatted", "rich_text_quote")


def mentioned(text: str) -> tuple[str, ...]:
    """The ids of the people whom a text mentions, in order."""
    return tuple(match[2] for match in _MARK.finditer(text) if match[1] == "@")


def read_markup(text: str, without: str = "") -> str:
    """The text as a person reads it: links written out, names for ids where Slack gives them, entities resolved.

    `without` is a user id whose mentions are left out: a question to the bot does not contain its name.
    """
    return html.unescape(_MARK.sub(lambda match: _read(match, without), text)).strip(_BLANK)


def message_text(message: Mapping[str, Any]) -> str:
    """Everything that a message says, one line a piece and none twice: text, blocks, attachments, names of files."""
    lines = (line.strip() for line in _said_by(message))
    return "\n".join(dict.fromkeys(line for line in lines if line and line not in _NOTHING))


def _said_by(message: Mapping[str, Any]) -> Iterator[str]:
    own = str(message.get("text") or "")
    yield from read_markup(own).splitlines()
    if not own.strip() or message.get("bot_id"):
        # A person's blocks repeat the text; an app's may hold what the text leaves out.
        yield from _words(message.get("blocks"))
    for attachment in _mappings(message.get("attachments")):
        found = [line for name in _WORDED if name in attachment for line in _words(attachment[name])]
        yield from found or read_markup(str(attachment.get("fallback") or "")).splitlines()
    for file in _mappings(message.get("files")):
        yield f"[file {file.get('title') or file.get('name') or file.get('id')}]"


def _words(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from read_markup(value).splitlines()
    elif isinstance(value, list):
        for part in value:
            yield from _words(part)
    elif isinstance(value, Mapping):
        yield from _words_of(value)


def _words_of(value: Mapping[str, Any]) -> Iterator[str]:
    if value.get("type") in _INLINE:
        yield from "".join(_inline(part) for part in _mappings(value.get("elements"))).splitlines()
    elif value.get("type") in ("button", "image") and "text" not in value:
        yield from _words(value.get("alt_text"))
    elif value.get("type") != "button":
        pair = value.get("title"), value.get("value")
        if all(isinstance(part, str) for part in pair):  # a field of an attachment
            yield read_markup(f"{pair[0]}: {pair[1]}" if pair[0] else str(pair[1]))
            return
        for name in _WORDED:
            yield from _words(value.get(name))


def _inline(element: Mapping[str, Any]) -> str:
    kind = element.get("type")
    if kind == "user":
        return f"@{element.get('user_id')}"
    if kind == "emoji":
        return f":{element.get('name')}:"
    return str(element.get("text") or element.get("url") or "")


def _read(match: re.Match[str], without: str) -> str:
    kind, target, name, address, label = match.groups()
    if address:
        # Slack makes a link of what looks like a host's name: what was typed is its label.
        return (label if label in address else f"{label} ({address})") if label else str(address)
    if kind == "@" and target == without:
        return ""
    if kind == "!":
        return name or f"@{target.partition('^')[0]}"
    return f"{kind}{name or target}"


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [part for part in value if isinstance(part, Mapping)] if isinstance(value, list) else []
