"""Rich text: the form in which Slack parses nothing, so that a quote is shown to the letter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

from bot.answers.printable import printable
from bot.blocks.text import split_text

Block = dict[str, Any]
Element = dict[str, Any]
Span = dict[str, Any]

_PIECE = 2_900
_URL = re.compile(r"https?://[^\s<>\"'`|\\]+")
_TICKS = re.compile(r"`([^`\n]+)`")
_ODD_IN_URL = re.compile(r"[<>\"'`|\\]")
_AFTER_URL = ".,;:!?)]}。，；：！？）】"


def spans(text: str, link_hosts: Sequence[str] = (), **style: bool) -> list[Span]:
    """The text, with bare links where their host is one of `link_hosts`. A link never has a label."""
    found: list[Span] = []
    end = 0
    shown = printable(text)
    for match in _URL.finditer(shown):
        url = match[0].rstrip(_AFTER_URL)
        if _host(url) in link_hosts and len(url) <= _PIECE:
            found += _texts(shown[end : match.start()], style)
            found.append({"type": "link", "url": url})
            end = match.start() + len(url)
    return found + _texts(shown[end:], style)


def told(text: str, link_hosts: Sequence[str] = ()) -> list[Span]:
    """Advice, not a quote: what stands between back-ticks is code."""
    return [
        span
        for index, part in enumerate(_TICKS.split(text))
        for span in (spans(part, code=True) if index % 2 else spans(part, link_hosts))
    ]


def link(url: str) -> list[Span]:
    """The address itself, to be clicked where nothing in it can hide where it leads; else the same as text."""
    plain = re.fullmatch(r"https?://[!-~]+", url) and _host(url) and not _ODD_IN_URL.search(url)
    return [{"type": "link", "url": url}] if plain and len(url) <= _PIECE else spans(url)


def section(*parts: Iterable[Span]) -> Element:
    return {"type": "rich_text_section", "elements": _some(parts)}


def bullets(items: Iterable[Iterable[Span]], *, ordered: bool = False, indent: int = 0) -> Element:
    style = "ordered" if ordered else "bullet"
    return {
        "type": "rich_text_list",
        "style": style,
        "indent": indent,
        "elements": [section(item) for item in items],
    }


def quote(*parts: Iterable[Span]) -> Element:
    return {"type": "rich_text_quote", "elements": _some(parts)}


def preformatted(text: str) -> Element:
    return {"type": "rich_text_preformatted", "elements": _some([_texts(printable(text), {})])}


def rich(*elements: Element) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def _some(parts: Iterable[Iterable[Span]]) -> list[Span]:
    """Slack refuses an empty line; a blank is none."""
    return [span for part in parts for span in part] or [{"type": "text", "text": " "}]


def _texts(text: str, style: dict[str, bool]) -> list[Span]:
    face = {"style": dict(style)} if style else {}
    return [{"type": "text", "text": piece, **face} for piece in split_text(text, _PIECE)]


def _host(url: str) -> str:
    """The host with its port, if any; "" for what hides a host behind a user name."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return "" if "@" in parts.netloc else parts.netloc.lower()
