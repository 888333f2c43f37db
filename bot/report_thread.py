"""A report's way into its thread: the message, then the chart under it. The chart never holds the report back."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from agents.contracts import RunOutcome
from agents.state import StateUnreadable
from bot.blocks.reader import Reader
from bot.blocks.report import is_broadcast
from bot.blocks.text import phone_line
from bot.charts.drawing import ChartData
from bot.charts.finding import Charts, FoundChart
from bot.charts.values import value_text
from bot.slack.client import SlackRefused
from bot.slack.posting import Upload
from bot.thread import CHART, Thread

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReportPosting:
    """`charts` None: no pictures. `broadcasts`: a critical report that is proven shows in the channel too."""

    charts: Charts | None = None
    broadcasts: bool = False

    async def post(self, thread: Thread, outcome: RunOutcome, *, on_trial: bool = False) -> None:
        """Any ended run's answer; a report's chart too. Raises as Thread.answer; call it again to go on."""
        if outcome.report is None:
            await thread.answer(outcome)
            return
        found = await self._found(thread, outcome)
        broadcast = self.broadcasts and not on_trial and is_broadcast(outcome)
        await thread.answer(outcome, missing=[found.missing] if found.missing else (), broadcast=broadcast)
        if found.data is not None:
            await self._show(thread, outcome.run_id, found.data)

    async def _found(self, thread: Thread, outcome: RunOutcome) -> FoundChart:
        if self.charts is None or thread.shows(CHART):
            return FoundChart()
        try:
            return await self.charts.find(outcome, thread.reader)
        except StateUnreadable as error:
            log.warning("run %s has no chart: %s", outcome.run_id, error)
            return FoundChart()

    async def _show(self, thread: Thread, run_id: str, data: ChartData) -> None:
        assert self.charts is not None
        picture = await self.charts.draw(data)
        if picture is None:
            return
        try:
            await thread.picture(_upload(run_id, data, picture, thread.reader))
        except SlackRefused as error:
            log.warning("%s: the report stands without its chart", error)


def _upload(run_id: str, data: ChartData, picture: bytes, reader: Reader) -> Upload:
    name, _, _ = data.title.partition("\n")
    first, last = min(data.points), max(point for point in data.points if math.isfinite(point[1]))
    zone = ZoneInfo(data.zone)
    alt = reader.say(
        "chart_alt",
        name=phone_line(data.title, 500),
        first=f"{datetime.fromtimestamp(first[0], zone):%Y-%m-%d %H:%M}",
        last=f"{datetime.fromtimestamp(last[0], zone):%Y-%m-%d %H:%M %Z}",
        value=value_text(last[1], data.unit),
    )
    return Upload(f"chart-{run_id}.png", reader.say("chart_title", name=phone_line(name, 100)), picture, alt)
