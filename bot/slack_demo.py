"""The whole bot at a glance: a loopback Slack with its page, the sample incident, a question that a person posts."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from bot.demo import open_sample
from bot.emulator.slack import SlackEmulator
from bot.manifest import manifest
from bot.samples import sample
from bot.serve import RunningBot, open_bot, told_to_stop
from bot.settings import Loaded, Settings

CHANNEL, PERSON = "incidents", "ana"
ANSWER_SECONDS = 60.0


@dataclass(frozen=True)
class Demo:
    slack: SlackEmulator
    bot: RunningBot

    def ask(self, question: str) -> str:
        """A person mentions the bot; the ts of the message, and of the thread that follows."""
        return self.slack.post(CHANNEL, PERSON, f"{self.slack.mention} {question}")

    async def answered(self, ts: str, seconds: float = ANSWER_SECONDS) -> bool:
        """Whether the answer stands in the thread, within that time."""
        try:
            await self.slack.wait_for(lambda: self._has_answer(ts), seconds)
        except TimeoutError:
            return False
        await self.bot.desk.later.idle()
        return True

    def thread(self, ts: str) -> str:
        return self.slack.thread_text(CHANNEL, ts).replace(self.slack.mention, f"@{self.bot.desk.bot.name}")

    def _has_answer(self, ts: str) -> bool:
        """What starts no run (a greeting) is answered by a message alone."""
        jobs = self.bot.desk.jobs
        mine = [job for job, _ in jobs.recent(jobs.channels(), 10) if job.thread_ts == ts]
        if mine:
            return all(job.answered_at is not None for job in mine)
        return any(each.get("user") == self.slack.bot_user_id for each in self.slack.messages(CHANNEL, ts))


@asynccontextmanager
async def open_demo(loaded: Loaded, model: str | None = None) -> AsyncIterator[Demo]:
    """Works in a folder of its own, which is deleted: nothing of it meets the runs, or the Slack, of the real bot. Without
    `model` no model is used, and no key is known."""
    with tempfile.TemporaryDirectory(prefix="proofthread-demo-") as folder:
        slack = SlackEmulator()
        slack.install(manifest())
        async with slack:
            here = replace(loaded, settings=demo_settings(loaded.settings, slack, Path(folder), model))
            async with (
                open_sample(here, sample(), datetime.now(UTC)) as world,
                open_bot(world.app, grace_seconds=2.0, clock=lambda: world.now) as bot,
            ):
                yield Demo(slack, bot)


def demo_settings(settings: Settings, slack: SlackEmulator, folder: Path, model: str | None) -> Settings:
    """The defaults, with the words and zone of this machine's settings; with `model`, what reaches that model too."""
    kept = {"language": settings.language, "time_zone": settings.time_zone}
    if model is not None:
        names = ("base_url", "api_key", "price_in", "price_out", "price_cached", "model_timeout_seconds", "temperature")
        kept |= {name: getattr(settings, name) for name in (*names, "stream", "request_fields")}
    return Settings(
        **kept,
        model=model or "offline",
        data_dir=folder,
        slack_bot_token=SecretStr(slack.bot_token),
        slack_app_token=SecretStr(slack.app_token),
        slack_api_url=slack.api_url,
    )


async def show_once(loaded: Loaded, model: str | None, question: str, seconds: float = ANSWER_SECONDS) -> str | None:
    """The thread with its answer, as text; None where there was no answer in time."""
    async with open_demo(loaded, model) as demo:
        ts = demo.ask(question)
        return demo.thread(ts) if await demo.answered(ts, seconds) else None


async def show_until_stopped(loaded: Loaded, model: str | None, question: str, tell: Callable[[Demo], None]) -> None:
    with told_to_stop() as stop:
        async with open_demo(loaded, model) as demo:
            demo.ask(question)
            tell(demo)
            await stop.wait()
