"""For whom an incident's thread is told, and where nothing is said: on trial, in quiet times, where nobody watches."""

from __future__ import annotations

from agents.contracts import Alert
from agents.replies import Replies
from bot.blocks.incident import incident_words
from bot.blocks.reader import Reader
from bot.desk import Desk
from bot.incidents.course import DELETED
from bot.incidents.request import alert_language
from bot.triaging.line import How, Telling
from storage.incidents import Incident, StoredAlert


def telling(desk: Desk) -> How:
    """For the teller (bot/triaging/line.py)."""
    words = incident_words(desk.place.replies)

    async def how(incident: Incident, lead: StoredAlert | None) -> Telling:
        standing = await desk.alert_channels.standing(incident.channel)
        quiet = bool(standing.trial or standing.muted_until) or not standing.watched
        reader = _reader(desk, words, lead)
        return Telling(reader, is_silent=quiet, is_gone=incident.not_run_reason == DELETED)

    return how


def _reader(desk: Desk, words: Replies, lead: StoredAlert | None) -> Reader:
    given = desk.reader(_language(desk, lead))
    return Reader(words, given.language, given.zone, given.link_hosts)


def _language(desk: Desk, lead: StoredAlert | None) -> str:
    chosen = desk.settings.language
    if chosen != "auto" or lead is None:
        return chosen if chosen != "auto" else "en"
    try:
        return alert_language(Alert.model_validate(dict(lead.document)))
    except (TypeError, ValueError):  # another version of the program wrote it
        return "en"
