"""For whom something is drawn: language, time zone, and the links that may be clicked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agents.replies import Replies

_FOLDER = Path(__file__).parent / "words"


def slack_words(replies: Replies) -> Replies:
    """The fixed words of answers and those of Slack, as one. Read once, when the program starts."""
    ours = Replies.load(_FOLDER)
    both = {name: {**replies.by_language[name], **entries} for name, entries in ours.by_language.items()}
    return Replies(both)


@dataclass(frozen=True)
class Reader:
    """`words` come from slack_words. Only URLs whose host is in `link_hosts` become links; others stay text."""

    words: Replies
    language: str
    zone: ZoneInfo
    link_hosts: tuple[str, ...] = ()

    def say(self, key: str, **values: object) -> str:
        return self.words.text(self.language, key, **values)

    def at(self, moment: datetime) -> str:
        """`2026-11-30 16:40 CST (08:40 UTC)`."""
        local, there = moment.astimezone(self.zone), moment.astimezone(UTC)
        if local.utcoffset() == there.utcoffset():
            return f"{there:%Y-%m-%d %H:%M} UTC"
        day = "" if local.date() == there.date() else f"{there:%Y-%m-%d} "
        return f"{local:%Y-%m-%d %H:%M %Z} ({day}{there:%H:%M} UTC)"
