"""A deploy note in a watched channel, and the alert that comes five minutes later."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from alert_bot import ALERTS, alert_bot, alertmanager
from slack_worker import SCHEMA

from bot.answers.stored_outcome import stored_outcome
from bot.charts.recorded import changes_of
from bot.emulator.slack import SlackEmulator
from bot.slack.incoming import instant
from storage.change_events import ChangeEvent, ChangeEvents
from storage.engine import Database
from tools.registry import ToolRegistry

NOTE = {"username": "deploy-bot", "bot_id": "B0DEPLOY01", "text": "Deployed checkout v1.42.0 to production by ana"}
LABELLED = alertmanager()
LABELLED["attachments"][0]["text"] = "*Alert:* Errors of checkout are high\n*Labels:*\n• service: checkout\n• severity: critical"


@dataclass
class Ago:
    """Slack's clock, so many seconds behind."""

    seconds: float

    def __call__(self) -> float:
        return time.time() - self.seconds


@pytest.mark.parametrize("alert", [alertmanager(), LABELLED])
async def test_a_report_quotes_the_note_of_what_was_deployed_just_before(
    sqlite_database: Database, alert: Mapping[str, Any]
) -> None:
    clock = Ago(300)
    with SlackEmulator(schema=SCHEMA, clock=clock) as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            worker = bot.bench.worker
            worker.place = replace(worker.place, registry=ToolRegistry.builtin())
            posted = instant(bot.post(**NOTE))
            await bot.settled()
            clock.seconds = 0
            ts = bot.post(**alert)
            await bot.reported(ts)
            [run] = bot.runs
            calls = bot.desk.trace.invocations(run.run_id)
            assert {call.tool_name for call in calls} == {"query_changes"}
            [mark, *_] = changes_of(calls)
            assert (mark.service, mark.text) == ("checkout", f"checkout deploy v1.42.0 {NOTE['text']}")
            report = stored_outcome(bot.desk.trace, run.run_id)
            assert report.report is not None
            [change] = [claim for claim in report.claims if claim.claim.claim_id in report.report.changes]
            assert change.evidence[0].scope["source"] == "slack"
            assert f'checkout was changed at {posted:%H:%M} UTC: "{NOTE["text"]}" [1]' in slack.thread_text(ALERTS, ts)
            assert f"summary=\"{NOTE['text']}\" author=ana" in slack.thread_text(ALERTS, ts)


async def test_a_private_channels_note_stays_out_of_another_channels_report(sqlite_database: Database) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            worker = bot.bench.worker
            worker.place = replace(worker.place, registry=ToolRegistry.builtin())
            at = datetime.now(UTC) - timedelta(minutes=5)
            event = ChangeEvent(slack.team_id, "C0SECRET01", "1.1", "Deployed checkout v9", at, "checkout")
            ChangeEvents(sqlite_database).add(event)
            ts = bot.post(**alertmanager())
            await bot.reported(ts)
            assert "v9" not in slack.thread_text(ALERTS, ts)
            assert bot.desk.trace.invocations(bot.runs[0].run_id) == []
