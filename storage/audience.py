"""Who reads an answer: it may be led by nothing that they could not read themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Audience:
    """The workspace and channel that an answer goes to; both None in a terminal."""

    team: str | None = None
    channel: str | None = None


PUBLIC = Audience()
