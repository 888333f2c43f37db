"""The bot in alert channels: event, intake, triage loop, line, worker and report against the loopback Slack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from slack_bot import Well, slack_settings
from slack_worker import Bench, bench, part_of

from agents.llm import build_model
from agents.llm.base import Model, ModelReply, ModelRequest, ModelSettings
from bot.connection import http_door, slack_door
from bot.desk import Desk, load_talk
from bot.emulator.slack import SlackEmulator
from bot.hearing.context import completing
from bot.slack.identity import identify
from bot.slack.people import People
from bot.slack_app import build_app, warm_up
from bot.triaging.line import TellerTimes
from bot.triaging.loop import noting_ends
from bot.triaging.work import AlertWork, alert_work
from storage.engine import Database
from storage.incidents import Incident
from storage.records import Run
from tools.clients.alertmanager import AlertmanagerClient

QUICK_TELLER = TellerTimes(
    poll=0.05, edit_pace=0.0, reaction_pace=0.0, rest=0.0, retry=0.05, settle=0.0, heal=0.05
)
ALERTS, ALERTS_ID = "alerts", "C0ALERTS01"
SHARED = Path(__file__).parents[3] / "shared" / "alerts"


def alertmanager(name: str = "HighErrorRate", says: str = "FIRING:1", rest: str = "checkout critical", **more: Any) -> Any:
    """A post as Alertmanager's default template makes it."""
    color = "2eb886" if says.startswith("RESOLVED") else "a30200"
    attachment = {"title": f"[{says}] {name} ({rest})", "fallback": f"[{says}] {name} ({rest})", "color": color, "text": ""}
    return {"username": "AlertManager", "bot_id": "B0AMGR0001", "text": "", "attachments": [attachment], **more}


class Waiting:
    """The engine without a model; it waits at `gate` before it speaks."""

    name, uses_model = "offline", False

    def __init__(self, *, is_open: bool = True) -> None:
        self._model: Model = build_model("offline", ModelSettings(model="offline"))
        self.gate = asyncio.Event()
        if is_open:
            self.gate.set()
        self.waiting = asyncio.Event()

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.waiting.set()
        await self.gate.wait()
        return await self._model.complete(request)

    async def close(self) -> None:
        return None


@dataclass
class AlertBot:
    desk: Desk
    slack: SlackEmulator
    bench: Bench
    alerts: AlertWork
    address: str

    @property
    def runs(self) -> list[Run]:
        """Oldest first."""
        return self.desk.trace.recent_runs(100)[::-1]

    @property
    def open(self) -> list[Incident]:
        return self.desk.incidents.open()

    def post(self, channel: str = ALERTS, **fields: Any) -> str:
        return self.slack.post_as_bot(channel, fields or alertmanager())

    def parts(self, ts: str, channel: str = ALERTS) -> list[str]:
        """What we posted into the thread, by part."""
        thread = self.slack.messages(channel, ts)
        return [part_of(each)[0] for each in thread if each.get("user") == self.slack.bot_user_id]

    async def settled(self) -> None:
        """Every event is taken, whatever is due has run, and every report stands."""
        await self.slack.wait_for(lambda: all(one.outcome != "pending" for one in self.slack.deliveries))
        await self.slack.wait_for(lambda: not self.desk.incidents.due(datetime.now(UTC)))
        await self.slack.wait_for(lambda: self.bench.queue.idle and not self._unanswered())
        await self.slack.wait_for(lambda: not self.desk.incidents.dirty(1))
        await self.desk.later.idle()

    def _unanswered(self) -> bool:
        """A run has its place before its job is stored."""
        jobs = self.desk.jobs
        placed = {one.run_id for one in self.open if one.run_id} - {run.run_id for run in self.runs}
        return bool(placed or jobs.unfinished() or any(jobs.job(run.run_id).answered_at is None for run in self.runs))

    async def reported(self, *posts: str, channel: str = ALERTS) -> None:
        await self.slack.wait_for(lambda: all("answer" in self.parts(ts, channel) for ts in posts), 20)
        await self.settled()


@asynccontextmanager
async def alert_bot(
    slack: SlackEmulator,
    db: Database,
    model: Model | None = None,
    *,
    addresses: Sequence[str] = (),
    alertmanager: AlertmanagerClient | None = None,
    **settings: Any,
) -> AsyncIterator[AlertBot]:
    """One process that watches #alerts without a debounce, unless `settings` say otherwise."""
    chosen: Mapping[str, Any] = {"alert_channels": (ALERTS_ID,), "alert_debounce_seconds": 0.0, **settings}
    async with bench(slack, db, model or Waiting(), clock=lambda: datetime.now(UTC)) as made:
        identity = await identify(made.calls)
        desk = Desk(
            settings=slack_settings(slack, **chosen),
            zone="UTC",
            place=replace(made.place, tools=replace(made.place.tools, alertmanager=alertmanager)),
            slack=made.calls,
            bot=identity,
            people=People(made.calls, identity.team, identity.enterprise),
            talk=load_talk(),
            wake=made.queue.wake,
            cancel=made.queue.cancel,
        )
        alerts = alert_work(desk, made.queue.wake, poll=0.05, times=QUICK_TELLER)
        desk = replace(desk, alerts_changed=alerts.wake)
        made.worker.complete = completing(desk)
        made.worker.afterwards = noting_ends(desk, _nothing_more)
        app = build_app(desk)
        await warm_up(app)
        working = [asyncio.create_task(each) for each in (alerts.triaging.run(), alerts.teller.run())]
        async with http_door(slack_door(app, desk, Well()), "127.0.0.1", 0) as address:
            events = f"{address}/slack/events"
            slack.deliver_to(*addresses, events)
            yield AlertBot(desk, slack, made, alerts, events)
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        await desk.later.drain()


async def _nothing_more(_: object) -> None:
    return
