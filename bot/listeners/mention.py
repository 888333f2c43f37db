"""Somebody mentions the bot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.desk import Desk
from bot.hearing.messages import hear
from bot.slack.incoming import read_message

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp


def register(app: AsyncApp, desk: Desk) -> None:
    async def mentioned(body: Mapping[str, Any]) -> None:
        await hear(desk, read_message(body, desk.bot.team, desk.bot.user_id))

    app.event("app_mention")(mentioned)
