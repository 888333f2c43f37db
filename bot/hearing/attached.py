"""Text files that people post with a question: they enter the run as what these people added."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.desk import Desk
from bot.slack.client import SlackAway, SlackRefused
from bot.slack.incoming import instant
from tools.contracts import Addition

MOST_FILES = 3
MOST_BYTES = 5_000_000
KEPT_CHARS = 60_000

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Attached:
    """A file as its message shows it."""

    by: str
    ts: str
    name: str
    url: str


def attached_to(message: Mapping[str, Any], by: str) -> Iterator[Attached]:
    files = message.get("files")
    for file in files if isinstance(files, list) else ():
        url = file.get("url_private_download") or file.get("url_private")
        # A file of another service is shown by Slack, not kept by it.
        if url and not file.get("is_external"):
            name = str(file.get("title") or file.get("name") or file.get("id") or "file")
            yield Attached(by, str(message.get("ts") or ""), name, str(url))


async def additions_of(desk: Desk, files: Sequence[Attached]) -> tuple[Addition, ...]:
    """The newest files that are text, secrets masked. One that cannot be read is left out, and the log says why."""
    read = [await _addition(desk, file) for file in files[-MOST_FILES:]]
    return tuple(addition for addition in read if addition is not None)


async def _addition(desk: Desk, file: Attached) -> Addition | None:
    try:
        data = await desk.slack.download(file.url, MOST_BYTES)
    except (SlackAway, SlackRefused) as error:
        log.warning("the file %s is not read: %s", file.name, error)
        return None
    text = _text(data)
    if text is None or not text.strip():
        log.info("the file %s holds no text", file.name)
        return None
    masked = "\n".join(desk.place.redactor.lines(text.splitlines()))
    return Addition(text=_end(masked), by=file.by, at=instant(file.ts), name=file.name[:200])


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


def _end(text: str) -> str:
    """The last lines of a long file: what happened last is what is asked about."""
    if len(text) <= KEPT_CHARS:
        return text
    return text[-KEPT_CHARS:].partition("\n")[2] or text[-KEPT_CHARS:]
