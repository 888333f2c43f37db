"""Somebody opens the direct message with the bot: questions that can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.desk import Desk

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp

PROMPTS = ("slow", "errors", "change", "healthy")


def register(app: AsyncApp, desk: Desk) -> None:
    async def opened(event: Mapping[str, Any]) -> None:
        language = desk.language(await desk.people.person(str(event["user"])))
        desk.later.start(_suggest(desk, str(event["channel"]), language))

    app.event("app_home_opened", matchers=[_shows_messages])(opened)


async def _shows_messages(event: Mapping[str, Any]) -> bool:
    return event.get("tab") == "messages"


async def _suggest(desk: Desk, channel: str, language: str) -> None:
    prompts = [
        {"title": desk.says(language, f"prompt_{name}_title"), "message": desk.says(language, f"prompt_{name}")}
        for name in PROMPTS
    ]
    await desk.slack.optional(
        "assistant.threads.setSuggestedPrompts",
        channel_id=channel,
        title=desk.says(language, "prompt_title"),
        prompts=prompts,
    )
