"""The whole bot as `serve` runs it, with a model whose answers are known: Bolt, slack_sdk, queue, worker and threads as
they are, against the loopback Slack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from slack_worker import Incident, part_of
from small_incident import skills, specs
from whole_bot import loaded_for

from agents.llm import RoleModels
from agents.llm.base import Model, ModelReply, ModelRequest
from bot.app import open_app, prepare
from bot.emulator.slack import SlackEmulator
from bot.emulator.slack.deliveries import Delivery
from bot.serve import Mode, RunningBot, open_bot
from storage.jobs import Job
from storage.records import Run
from tools.contracts import ToolDeps, ToolSpec
from tools.registry import ToolRegistry

QUESTION = "Why is checkout slow?"
LEAD = "HikariPool-1 of order-service has no connection available."
Message = dict[str, Any]


class Listened(Incident):
    """The model that works through the small incident; it keeps what it was asked."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        return await super().complete(request)

    @property
    def heard(self) -> str:
        """Everything that was said to it."""
        return "\n".join(str(request) for request in self.requests)


@dataclass
class Served:
    """One process of the bot in this one, and what became of the questions."""

    bot: RunningBot
    slack: SlackEmulator

    @property
    def runs(self) -> list[Run]:
        """Newest first."""
        return self.bot.desk.trace.recent_runs(1000)

    @property
    def jobs(self) -> list[Job]:
        return [self.bot.desk.jobs.job(run.run_id) for run in self.runs]

    def ours(self, channel: str, ts: str) -> list[Message]:
        """Our messages in a thread."""
        return [each for each in self.slack.messages(channel, ts) if each.get("user") == self.slack.bot_user_id]

    def answers(self, channel: str, ts: str) -> list[Message]:
        return [each for each in self.ours(channel, ts) if part_of(each)[0] == "answer"]

    def ask(self, text: str = QUESTION, *, channel: str = "incidents", user: str = "ana", under: str = "") -> str:
        return self.slack.post(channel, user, f"{self.slack.mention} {text}", thread_ts=under or None)

    async def settled(self, timeout: float = 20.0) -> None:
        """Every event so far was taken or given up, every run has its answer, and nothing is on its way."""

        def taken() -> bool:
            return all(each.outcome != "pending" for each in self.slack.deliveries)

        def done() -> bool:
            return taken() and self.bot.queue.idle and all(job.answered_at is not None for job in self.jobs)

        await self.slack.wait_for(done, timeout)
        await self.bot.desk.later.idle()

    async def answer_to(self, channel: str, ts: str, timeout: float = 20.0) -> Message:
        """The one answer in that thread, once everything is done."""
        await self.slack.wait_for(lambda: self.answers(channel, ts), timeout)
        await self.settled(timeout)
        (answer,) = self.answers(channel, ts)
        return answer


@asynccontextmanager
async def serving(
    slack: SlackEmulator,
    folder: Path,
    mode: Mode = "socket",
    *,
    model: Model | None = None,
    tools: Sequence[ToolSpec] | None = None,
    grace_seconds: float = 5.0,
    **settings: Any,
) -> AsyncIterator[Served]:
    async with open_app(loaded_for(slack, folder, **settings)) as app:
        await prepare(app)
        registry = ToolRegistry(specs() if tools is None else tools)
        known = replace(
            app.work, models=RoleModels(model or Incident()), registry=registry, tools=ToolDeps(skills=skills())
        )
        async with open_bot(replace(app, work=known), mode, grace_seconds=grace_seconds) as bot:
            if mode == "http":
                slack.deliver_to(f"{bot.address}/slack/events")
            yield Served(bot, slack)


async def delivered_again(slack: SlackEmulator, delivery: Delivery, attempt: int) -> None:
    """Slack did not hear our acknowledgement, or says so: the same payload once more."""
    await asyncio.to_thread(slack.deliver_again, delivery, attempt)


def markdown_of(call: Mapping[str, Any]) -> str:
    """What a call shows as markdown."""
    blocks = [block["text"] for block in call.get("blocks") or () if block["type"] == "markdown"]
    return "\n".join([str(call.get("markdown_text") or ""), *blocks])
