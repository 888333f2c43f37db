"""A second look: after a report, and when somebody asks; said once in the thread, whatever dies in between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from alert_bot import ALERTS, ALERTS_ID, AlertBot, alert_bot, alertmanager
from loopback_http import served
from slack_worker import emulator

from bot.desk import Desk
from bot.emulator.slack import SlackEmulator
from bot.timetable.rechecking import EVENT_TYPE, Rechecks
from storage.engine import Database
from storage.rechecks import RecheckStore
from tools.clients.alertmanager import AlertmanagerClient
from tools.clients.prometheus import PrometheusClient

LATER = timedelta(minutes=15, seconds=5)
FIRING = {
    "labels": {"alertname": "HighErrorRate", "severity": "critical", "service": "checkout"},
    "annotations": {},
    "status": {"state": "active"},
    "startsAt": "2026-11-30T08:44:00Z",
}


def at(desk: Desk, delay: timedelta, **tools: Any) -> Desk:
    """The same desk, so much later."""
    now = datetime.now(UTC) + delay
    place = replace(desk.place, clock=lambda: now, tools=replace(desk.place.tools, **tools))
    return replace(desk, place=place)


@asynccontextmanager
async def asking(**urls: str) -> AsyncIterator[dict[str, Any]]:
    kinds = {"prometheus": PrometheusClient, "alertmanager": AlertmanagerClient}
    clients = {name: kinds[name](url) for name, url in urls.items()}
    yield clients
    for client in clients.values():
        await client.close()  # type: ignore[attr-defined]


def said(slack: SlackEmulator, ts: str, channel: str = ALERTS) -> list[str]:
    """What re-checks posted into the thread."""
    thread = slack.messages(channel, ts)
    return [each["text"] for each in thread if (each.get("metadata") or {}).get("event_type") == EVENT_TYPE]


async def reported(bot: AlertBot, **more: Any) -> str:
    ts = bot.post(**alertmanager(**more))
    await bot.reported(ts)
    return ts


async def test_a_report_is_followed_by_whether_the_alert_still_fires(database: Database) -> None:
    with emulator() as slack, served(lambda path, query: (200, [FIRING])) as url:
        async with alert_bot(slack, database) as bot, asking(alertmanager=url) as clients:
            ts = await reported(bot)
            assert await Rechecks(at(bot.desk, timedelta(minutes=14))).look() == 0
            assert await Rechecks(at(bot.desk, LATER, **clients)).look() == 1
            assert await Rechecks(at(bot.desk, LATER, **clients)).look() == 0
            assert said(slack, ts) == ["Still firing 15 min after the report: HighErrorRate (since 2026-11-30 08:44 UTC)"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "No longer firing 15 min after the report, by Alertmanager: HighErrorRate"),
        ("zh", "报告后 15 分钟 已不再触发（据 Alertmanager）：HighErrorRate"),
    ],
)
async def test_an_alert_that_is_gone_there_no_longer_fires(sqlite_database: Database, language: str, text: str) -> None:
    with emulator() as slack, served(lambda path, query: (200, [])) as url:
        async with alert_bot(slack, sqlite_database, language=language) as bot, asking(alertmanager=url) as clients:
            ts = await reported(bot)
            await Rechecks(at(bot.desk, LATER, **clients)).look()
            assert said(slack, ts) == [text]


async def test_where_nobody_can_be_asked_the_incidents_own_state_counts(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            ts = await reported(bot)
            await Rechecks(at(bot.desk, LATER)).look()
            assert said(slack, ts) == [
                "Still open 15 min after the report: no resolved notice has come for HighErrorRate."
            ]


async def test_a_server_that_does_not_know_the_alert_proves_nothing(sqlite_database: Database) -> None:
    def no_such_rule(path: str, _: Any) -> tuple[int, Any]:
        data = {"groups": []} if path.endswith("/rules") else {"alerts": []}
        return 200, {"status": "success", "data": data}

    with emulator() as slack, served(no_such_rule) as url:
        async with alert_bot(slack, sqlite_database) as bot, asking(prometheus=url) as clients:
            ts = await reported(bot)
            await Rechecks(at(bot.desk, LATER, **clients)).look()
            assert said(slack, ts)[0].startswith("Still open")


async def test_an_incident_that_is_over_is_not_told_again(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            ts = await reported(bot)
            await Rechecks(bot.desk).look()
            bot.post(**alertmanager(says="RESOLVED"))
            await bot.settled()
            assert await Rechecks(at(bot.desk, LATER)).look() == 1
            assert said(slack, ts) == []


async def test_a_muted_channel_hears_nothing(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            ts = await reported(bot)
            await bot.desk.alert_channels.mute(ALERTS_ID, "U0ANA00001", datetime.now(UTC) + timedelta(hours=2))
            await Rechecks(at(bot.desk, LATER)).look()
            assert said(slack, ts) == []


async def test_on_trial_it_is_said_under_the_report(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, alert_shadow_channel="C0INCIDENT") as bot:
            ts = bot.post()
            await bot.settled()
            [run] = bot.runs
            trial = bot.desk.jobs.job(run.run_id).details["trial"]
            await Rechecks(at(bot.desk, LATER)).look()
            assert said(slack, ts) == []
            assert len(said(slack, trial["ts"], "incidents")) == 1


async def test_no_re_check_where_the_setting_is_zero(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, recheck_minutes=0) as bot:
            await reported(bot)
            assert await Rechecks(at(bot.desk, LATER)).look() == 0
            assert RecheckStore(sqlite_database).waiting() == (0, None)


async def test_a_process_that_died_after_its_post_does_not_make_another_say_it_twice(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            ts = await reported(bot)
            await Rechecks(at(bot.desk, LATER)).look()
            with sqlite_database.begin() as connection:  # it died before it noted that
                connection.exec_driver_sql("UPDATE recheck SET done_at = NULL, taken_until = NULL")
            assert await Rechecks(at(bot.desk, LATER)).look() == 1
            assert len(said(slack, ts)) == 1


async def test_two_processes_say_it_once(database: Database) -> None:
    import asyncio

    with emulator() as slack:
        async with alert_bot(slack, database) as bot:
            ts = await reported(bot)
            await asyncio.gather(*(Rechecks(at(bot.desk, LATER)).look() for _ in range(3)))
            assert len(said(slack, ts)) == 1


# ---------------------------------------------------------------- asked for


async def test_somebody_asks_in_an_alerts_thread(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, recheck_minutes=0) as bot:
            ts = await reported(bot)
            runs = len(bot.runs)
            slack.post(ALERTS, "ana", f"{slack.mention} look again in 20 minutes and tell me if it is back", thread_ts=ts)
            await slack.wait_for(lambda: any("I look again at" in each["text"] for each in slack.messages(ALERTS, ts)))
            assert await Rechecks(at(bot.desk, timedelta(minutes=19))).look() == 0
            bot.post(**alertmanager(says="RESOLVED"))
            await bot.settled()
            assert await Rechecks(at(bot.desk, timedelta(minutes=21))).look() == 1
            [text] = said(slack, ts)
            assert text.startswith("<@U0ANA00001> No longer firing: HighErrorRate, resolved 20")
            assert len(bot.runs) == runs


async def test_in_a_questions_thread_the_question_is_asked_again(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ana", f"{slack.mention} why is checkout slow?")
            await slack.wait_for(lambda: len(bot.runs) == 1 and bot.runs[0].status == "SUCCESS", 20)
            slack.post("incidents", "ana", f"{slack.mention} 15分钟后再看", thread_ts=ts)
            await slack.wait_for(lambda: any("再看一次" in each["text"] for each in slack.messages("incidents", ts)))
            assert await Rechecks(at(bot.desk, LATER)).look() == 1
            await slack.wait_for(lambda: len(bot.runs) == 2, 20)
            job = bot.desk.jobs.job(bot.runs[1].run_id)
            assert (bot.runs[1].query, job.thread_ts, job.user_id) == ("why is checkout slow?", ts, "U0ANA00001")
            assert job.trigger.startswith("recheck:")


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("look again in 15 minutes", "I have not looked at anything in this thread yet"),
        ("look again in 30 days", "At most 7 days"),
    ],
)
async def test_a_wish_that_cannot_be_met_says_why(sqlite_database: Database, asked: str, answer: str) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ana", f"{slack.mention} {asked}")
            await slack.wait_for(lambda: any(answer in each["text"] for each in slack.messages("incidents", ts)))
            assert bot.runs == []
