"""`/proofthread ask|status|cases|watch|unwatch|mute|unmute|help`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.alert_commands import alert_command, alert_word
from bot.blocks.text import escape, split_text
from bot.channel_status import cases_text, status_text
from bot.desk import Asked, Desk
from bot.greetings import reply_to
from bot.jobs import RequestRefused
from bot.manifest import COMMAND
from bot.slack.client import SlackAway, SlackRefused
from bot.slack.incoming import instant
from bot.slack.people import Person
from bot.slack.text import read_markup
from storage.jobs import JobKey
from storage.sessions import Thread

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck

SHOWN_CHARS = 2_500
# Slack waits three seconds for a command.
POST_SECONDS = 2.0
NOT_HERE = ("not_in_channel", "channel_not_found", "is_archived", "restricted_action")


def register(app: AsyncApp, desk: Desk) -> None:
    async def typed(ack: AsyncAck, command: Mapping[str, Any]) -> None:
        """The acknowledgement carries what the person alone sees; an answer comes as a thread in the channel."""
        said = await _done(desk, command)
        await (ack(text=said, response_type="ephemeral") if said else ack())

    app.command(COMMAND)(typed)


async def _done(desk: Desk, command: Mapping[str, Any]) -> str:
    user, channel = str(command["user_id"]), str(command["channel_id"])
    word, _, rest = str(command.get("text") or "").strip().partition(" ")
    refused = await desk.refusal(user, channel)
    person = await desk.people.person(user)
    language = desk.language(person, rest)
    if refused:
        return desk.says(language, refused)
    if alerts := alert_word(word):
        return await alert_command(desk, alerts, rest, channel, person, language)
    match word.lower():
        case "ask":
            return await _ask(desk, channel, person, read_markup(rest), language)
        case "status":
            return await status_text(desk, channel, person, language)
        case "cases":
            return await cases_text(desk, channel, language)
        case "" | "help":
            return desk.says(language, "usage")
    return f"{desk.says(language, 'unknown_command', word=escape(word[:40]))}\n{desk.says(language, 'usage')}"


async def _ask(desk: Desk, channel: str, person: Person, question: str, language: str) -> str:
    """The question is posted for everybody to see, and the run answers under it."""
    if not question:
        return desk.says(language, "ask_what")
    if (reply := reply_to(question)) is not None:
        return reply
    try:
        async with asyncio.timeout(POST_SECONDS):
            ts = await _posted(desk, channel, person, question, language)
    except SlackRefused as error:
        if error.error in NOT_HERE:
            return desk.says(language, "not_here", name=f"@{desk.bot.name}")
        raise
    except (SlackAway, TimeoutError):
        return desk.says(language, "slack_busy")
    asked = Asked(
        key=JobKey(desk.bot.team, channel, ts, "command"),
        thread=Thread(desk.bot.team, channel, ts),
        person=person,
        question=question,
        at=instant(ts),
        details={"trigger": "command", "user_team": person.team},
    )
    try:
        await desk.submit(asked)
    except RequestRefused as error:
        return str(error)
    return ""


async def _posted(desk: Desk, channel: str, person: Person, question: str, language: str) -> str:
    shown = split_text(escape(question), SHOWN_CHARS)
    text = desk.says(language, "asked_by", user=person.id, question=shown[0] + (" …" if len(shown) > 1 else ""))
    posted = await desk.slack.call(
        "chat.postMessage", channel=channel, text=text, unfurl_links=False, unfurl_media=False
    )
    return str(posted["ts"])
