"""The whole bot as `proofthread serve` runs it, against the loopback Slack."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from slack_bot import slack_settings

from bot.app import open_app, prepare
from bot.emulator.slack import SlackEmulator
from bot.serve import Mode, RunningBot, open_bot
from bot.settings import Loaded


def loaded_for(slack: SlackEmulator, folder: Path, **settings: Any) -> Loaded:
    return Loaded(slack_settings(slack, data_dir=folder, http_port=0, **settings), None, ZoneInfo("Europe/Berlin"))


@asynccontextmanager
async def running(
    slack: SlackEmulator, folder: Path, mode: Mode = "socket", *, grace_seconds: float = 5.0, **settings: Any
) -> AsyncIterator[RunningBot]:
    async with open_app(loaded_for(slack, folder, **settings)) as app:
        await prepare(app)
        async with open_bot(app, mode, grace_seconds=grace_seconds) as bot:
            if mode == "http":
                slack.deliver_to(f"{bot.address}/slack/events")
            yield bot


def environment_for(slack: SlackEmulator, folder: Path) -> dict[str, str]:
    """For a process of its own."""
    return {
        "PROOFTHREAD_DATA_DIR": str(folder),
        "PROOFTHREAD_SLACK_BOT_TOKEN": slack.bot_token,
        "PROOFTHREAD_SLACK_APP_TOKEN": slack.app_token,
        "PROOFTHREAD_SLACK_SIGNING_SECRET": slack.signing_secret,
        "PROOFTHREAD_SLACK_API_URL": slack.api_url,
        "PROOFTHREAD_HTTP_PORT": "0",
        "PROOFTHREAD_LOGS_ROOTS": str(folder),
    }
