"""The whole bot at a glance: a loopback Slack with its page, the sample incident, a question that a person posts, an alert
that Alertmanager posts."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr

from bot.demo import open_sample
from bot.emulator.alertmanager import slack_payload
from bot.emulator.slack import SlackEmulator
from bot.evaluation.samples import sample
from bot.manifest import manifest
from bot.serve import RunningBot, open_bot, told_to_stop
from bot.settings import Loaded, Settings

CHANNEL, PERSON = "incidents", "ana"
ALERTS, ALERTS_ID, ALERTMANAGER = "alerts", "C0ALERTS01", "http://alertmanager.example:9093"
ANSWER_SECONDS = 60.0
DEBOUNCE_SECONDS = 1.0


@dataclass(frozen=True)
class Demo:
    """`alert` is what fires in the sample's Prometheus."""

    slack: SlackEmulator
    bot: RunningBot
    alert: Mapping[str, Any]

    def ask(self, question: str) -> str:
        """A person mentions the bot; the ts of the message, and of the thread that follows."""
        return self.slack.post(CHANNEL, PERSON, f"{self.slack.mention} {question}")

    def sends(self, status: Literal["firing", "resolved"]) -> str:
        """Alertmanager posts about the alert; the ts of its post."""
        return self.slack.post_as_bot(ALERTS, slack_payload(self.alert, status, ALERTMANAGER))

    async def answered(self, ts: str, seconds: float = ANSWER_SECONDS) -> bool:
        """Whether the answer to a question or the report on an alert stands in the thread, within that time."""
        return await self._within(seconds, lambda: self._has_answer(ts))

    async def ended(self, ts: str, seconds: float = ANSWER_SECONDS) -> bool:
        """Whether the thread of an alert says that it is over, within that time."""
        incidents, team = self.bot.desk.incidents, self.bot.desk.bot.team

        def told() -> bool:
            found = incidents.of_thread(team, ALERTS_ID, ts)
            return found is not None and found.status == "resolved" and not found.told_dirty

        return await self._within(seconds, told)

    def thread(self, ts: str, channel: str = CHANNEL) -> str:
        return self.slack.thread_text(channel, ts).replace(self.slack.mention, f"@{self.bot.desk.bot.name}")

    async def _within(self, seconds: float, holds: Callable[[], bool]) -> bool:
        try:
            await self.slack.wait_for(holds, seconds)
        except TimeoutError:
            return False
        await self.bot.desk.later.idle()
        return True

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
                yield Demo(slack, bot, await firing(bot))


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
        alert_channels=(ALERTS_ID,),
        alert_debounce_seconds=DEBOUNCE_SECONDS,
    )


async def firing(bot: RunningBot) -> Mapping[str, Any]:
    """The most severe alert of the sample's Prometheus."""
    prometheus = bot.app.work.tools.prometheus
    assert prometheus is not None
    alerts = await prometheus.alerts()
    return next(alert for alert in alerts if alert["labels"].get("severity") == "critical")


async def show_once(loaded: Loaded, model: str | None, question: str, seconds: float = ANSWER_SECONDS) -> str | None:
    """Both threads as text, the question with its answer and the alert with its report and its end; None where one of
    them was not there in time."""
    async with open_demo(loaded, model) as demo:
        asked, alerted = demo.ask(question), demo.sends("firing")
        if not (await demo.answered(asked, seconds) and await demo.answered(alerted, seconds)):
            return None
        demo.sends("resolved")
        if not await demo.ended(alerted, seconds):
            return None
        return f"#{CHANNEL}\n\n{demo.thread(asked)}\n\n\n#{ALERTS}\n\n{demo.thread(alerted, ALERTS)}"


async def show_until_stopped(
    loaded: Loaded, model: str | None, question: str, tell: Callable[[Demo], None], lasts_seconds: float
) -> None:
    """The alert is over `lasts_seconds` after its report."""
    with told_to_stop() as stop:
        async with open_demo(loaded, model) as demo:
            demo.ask(question)
            alerted = demo.sends("firing")
            tell(demo)
            ending = asyncio.create_task(_end_later(demo, alerted, lasts_seconds))
            await stop.wait()
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)


async def _end_later(demo: Demo, ts: str, seconds: float) -> None:
    if await demo.answered(ts):
        await asyncio.sleep(seconds)
        demo.sends("resolved")
