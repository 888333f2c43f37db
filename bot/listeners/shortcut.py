"""The message shortcut "Diagnose this message": somebody points at a message, an alert's perhaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.desk import Asked, Desk
from bot.jobs import RequestRefused
from bot.manifest import SHORTCUT
from bot.slack.incoming import instant
from bot.slack.text import message_text
from storage.jobs import JobKey
from storage.sessions import Thread

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck


def register(app: AsyncApp, desk: Desk) -> None:
    async def diagnose_message(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        """Acknowledged when the job is stored; every use is a request of its own."""
        said = await _diagnose(desk, body)
        await ack()
        message, channel = body["message"], str(body["channel"]["id"])
        thread_ts = str(message.get("thread_ts") or "") or None
        desk.whisper_later(channel, str(body["user"]["id"]), thread_ts, said)

    app.shortcut({"type": "message_action", "callback_id": SHORTCUT})(diagnose_message)


async def _diagnose(desk: Desk, body: Mapping[str, Any]) -> str:
    """What the person is told."""
    message, channel, user = body["message"], str(body["channel"]["id"]), str(body["user"]["id"])
    refused = await desk.refusal(user, channel)
    person = await desk.people.person(user)
    text = message_text(message)
    language = desk.language(person, text)
    if refused:
        return desk.says(language, refused)
    if not (await desk.people.place(channel)).is_member:
        return desk.says(language, "not_here", name=f"@{desk.bot.name}")
    if not text or all(line.startswith("[file ") for line in text.splitlines()):
        return desk.says(language, "nothing_said")
    ts = str(message["ts"])
    asked = Asked(
        key=JobKey(desk.bot.team, channel, ts, f"shortcut.{body.get('action_ts') or body.get('trigger_id')}"[:64]),
        thread=Thread(desk.bot.team, channel, str(message.get("thread_ts") or ts)),
        person=person,
        question=desk.says(language, "diagnose_message", text=text),
        at=instant(str(body.get("action_ts") or ts)),
        details={"trigger": "shortcut", "user_team": person.team},
    )
    try:
        await desk.submit(asked)
    except RequestRefused as error:
        return str(error)
    return desk.says(language, "shortcut_taken")
