"""For whom the schedule's words are: there is no asker, so the settings decide, else what the alerts say."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

from agents.replies import Replies
from bot.blocks.reader import Reader, slack_words
from bot.desk import Desk
from bot.inputs import language_of


def schedule_words(replies: Replies) -> Replies:
    """The fixed words of answers, of blocks and of the schedule, as one."""
    blocks, ours = slack_words(replies), Replies.load(Path(__file__).parent / "words")
    return Replies({name: {**blocks.by_language[name], **entries} for name, entries in ours.by_language.items()})


def schedule_reader(desk: Desk, said: str = "", zone: str = "") -> Reader:
    """`said` are words whose language is taken where the settings leave it open."""
    chosen = desk.settings.language
    language = language_of(said, default="en") if chosen == "auto" else chosen
    return Reader(schedule_words(desk.place.replies), language, ZoneInfo(zone or desk.zone))
