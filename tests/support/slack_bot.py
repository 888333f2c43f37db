"""The bot's way in against the loopback Slack: Bolt and slack_sdk as they are, over HTTP or Socket Mode, without a queue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from small_incident import scripted, world

from bot.connection import http_door, slack_door, socket_mode
from bot.desk import Desk, load_talk
from bot.emulator.slack import SlackEmulator
from bot.settings import Settings
from bot.slack.client import SlackAccess, open_slack
from bot.slack.identity import identify, socket_address
from bot.slack.people import People
from bot.slack_app import build_app, warm_up
from storage.engine import Database
from storage.records import Run
from storage.trace import TraceStore

SCHEMA = Path(__file__).parent.parent / "data" / "slack_schema.json"


def slack_settings(slack: SlackEmulator | None = None, **changes: Any) -> Settings:
    """Without an emulator nobody answers at the address."""
    values: dict[str, Any] = {
        "data_dir": Path("unused"),
        "slack_bot_token": SlackEmulator.bot_token,
        "slack_app_token": SlackEmulator.app_token,
        "slack_signing_secret": SlackEmulator.signing_secret,
        "slack_api_url": slack.api_url if slack is not None else "http://127.0.0.1:9/api/",
    }
    return Settings(**(values | changes))


@dataclass
class ListeningBot:
    """`woken` are the runs that the queue would have been told of."""

    desk: Desk
    slack: SlackEmulator
    woken: list[str] = field(default_factory=list)

    @property
    def runs(self) -> list[Run]:
        """Newest first."""
        return self.desk.trace.recent_runs(100)

    async def settled(self, deliveries: int | None = None) -> None:
        """Every event so far was taken or given up, and what was to be said later is said."""
        slack = self.slack

        def done() -> bool:
            log = slack.deliveries
            return (deliveries is None or len(log) >= deliveries) and all(each.outcome != "pending" for each in log)

        await slack.wait_for(done)
        await self.desk.later.idle()


class Well:
    def alive(self) -> bool:
        return True

    async def ready(self) -> str:
        return ""


@asynccontextmanager
async def listening(
    slack: SlackEmulator, database: Database, mode: str = "http", **settings: Any
) -> AsyncIterator[ListeningBot]:
    chosen = slack_settings(slack, **settings)
    woken: list[str] = []

    async def cancel(run_id: str) -> None:
        await database.call(TraceStore(database).request_cancel, run_id)

    access = SlackAccess(slack.bot_token, slack.api_url, post_gap=0.0, edit_gap=0.0)
    async with open_slack(access) as calls:
        bot = await identify(calls)
        desk = Desk(
            settings=chosen,
            zone="Europe/Berlin",
            place=world(database, scripted()).place,
            slack=calls,
            bot=bot,
            people=People(calls, bot.team, bot.enterprise),
            talk=load_talk(),
            wake=woken.append,
            cancel=cancel,
        )
        app = build_app(desk)
        await warm_up(app)
        if mode == "http":
            async with http_door(slack_door(app, desk, Well()), "127.0.0.1", 0) as address:
                slack.deliver_to(f"{address}/slack/events")
                yield ListeningBot(desk, slack, woken)
        else:
            async with socket_mode(app, desk, await socket_address(calls, slack.app_token)):
                await slack.wait_for(lambda: slack.sockets == 1)
                yield ListeningBot(desk, slack, woken)
        await desk.later.drain()
