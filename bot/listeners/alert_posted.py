"""An app posts, edits or deletes a message: an alert where alerts are watched, anywhere else a message like others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.desk import Desk
from bot.hearing.alerts import DELETED, EDITED, hear_alert
from bot.hearing.messages import hear
from bot.slack.incoming import read_message

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp


def register(app: AsyncApp, desk: Desk) -> None:
    passing_on = frozenset(desk.settings.alert_senders)

    async def is_an_apps(event: Mapping[str, Any]) -> bool:
        """Or of a person who passes alerts on; what people write besides is never an alert."""
        if event.get("bot_id") or event.get("subtype") in ("bot_message", EDITED, DELETED):
            return True
        return event.get("user") in passing_on

    async def posted(body: Mapping[str, Any]) -> None:
        if not await hear_alert(desk, body):
            await hear(desk, read_message(body, desk.bot.team, desk.bot.user_id))

    app.event("message", matchers=[is_an_apps])(posted)
