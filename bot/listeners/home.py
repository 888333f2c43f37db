"""Somebody opens App Home."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.desk import Desk
from bot.home.facts import home_of

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp


def register(app: AsyncApp, desk: Desk) -> None:
    async def opened(event: Mapping[str, Any]) -> None:
        """Slack keeps what was shown last until the new one is there."""
        desk.later.start(_publish(desk, str(event["user"])))

    app.event("app_home_opened", matchers=[_shows_home])(opened)


async def _shows_home(event: Mapping[str, Any]) -> bool:
    return bool(event.get("tab", "home") == "home")


async def _publish(desk: Desk, user: str) -> None:
    await desk.slack.optional("views.publish", user_id=user, view=await home_of(desk, user))
