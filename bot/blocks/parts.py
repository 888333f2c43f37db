"""Small blocks that many messages and modals share."""

from __future__ import annotations

from typing import Any

from bot.blocks.reader import Reader
from bot.blocks.rich import Block, Element, rich, section, spans
from bot.blocks.text import escape, phone_line, plain

Button = dict[str, Any]


def header(text: str) -> Block:
    return {"type": "header", "text": plain(text, 150)}


def context(*texts: str) -> Block:
    """Small grey lines, at most ten."""
    elements = [{"type": "mrkdwn", "text": escape(phone_line(text, 600))} for text in texts if text.strip()]
    return {"type": "context", "elements": elements[:10]}


def paragraph(text: str, reader: Reader, **style: bool) -> Block:
    return rich(line(text, reader, **style))


def line(text: str, reader: Reader, **style: bool) -> Element:
    return section(spans(text, reader.link_hosts, **style))


def divider() -> Block:
    return {"type": "divider"}


def actions(*buttons: Button) -> Block:
    return {"type": "actions", "elements": list(buttons)}


def button(label: str, action_id: str, value: str, style: str | None = None) -> Button:
    made = {"type": "button", "text": plain(label, 75), "action_id": action_id, "value": value}
    return made if style is None else made | {"style": style}
