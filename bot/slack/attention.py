"""When a message without a mention is meant for the bot."""

from __future__ import annotations

import re

from bot.slack.incoming import Incoming
from storage.sessions import Session


def is_named(message: Incoming, name: str) -> bool:
    """The bot's name opens the message: `Proofthread, is it back?`"""
    return re.match(rf"@?{re.escape(name)}\b[\s,:，：!?]*", message.text, re.IGNORECASE) is not None


def is_follow_up(message: Incoming, session: Session, name: str, window_seconds: int) -> bool:
    """In a thread that the bot has joined: by name, or from the one who spoke to it last, within the window. Once two
    people talk, or somebody else is mentioned, only a mention counts."""
    talking = {*session.speakers, message.user}
    if message.others or len(talking) > 1:
        return False
    if is_named(message, name):
        return True
    if session.addressed_at is None or session.addressed_by != message.user:
        return False
    return 0 <= (message.at - session.addressed_at).total_seconds() <= window_seconds
