"""`/proofthread watch|unwatch|mute|unmute`: who may, what is said to whom, and what follows for alerts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from alert_bot import ALERTS, ALERTS_ID, AlertBot, alert_bot, alertmanager
from slack_worker import emulator, part_of

from storage.engine import Database


@asynccontextmanager
async def unwatched(database: Database, **settings: Any) -> AsyncIterator[AlertBot]:
    with emulator() as slack:
        async with alert_bot(slack, database, **({"alert_channels": ()} | settings)) as bot:
            yield bot


async def typed(bot: AlertBot, text: str, user: str = "ana", channel: str = ALERTS) -> str:
    """What the person alone is told, empty where the channel is."""
    before = len(bot.slack.ephemerals(channel, user))
    bot.slack.slash("/proofthread", text, channel, user)
    await bot.slack.wait_for(lambda: all(one.outcome != "pending" for one in bot.slack.deliveries))
    await bot.desk.later.idle()
    told = bot.slack.ephemerals(channel, user)[before:]
    return str(told[-1]["text"]) if told else ""


def said(bot: AlertBot, channel: str = ALERTS) -> str:
    """Our last message in the channel itself."""
    ours = [one for one in bot.slack.messages(channel) if one.get("user") == bot.slack.bot_user_id and not one.get("thread_ts")]
    return str(ours[-1]["text"]) if ours else ""


async def test_watch_begins_and_unwatch_ends_the_triage_for_all_to_see(database: Database) -> None:
    async with unwatched(database) as bot:
        assert await typed(bot, "watch") == ""
        assert "<@U0ANA00001> asked me to watch the alerts here" in said(bot)
        first = bot.post()
        await bot.reported(first)
        assert await typed(bot, "unwatch", "ben") == ""
        assert "<@U0BEN00001>" in said(bot)
        bot.post(**alertmanager("DiskFull", rest="db-03 critical"))
        await bot.settled()
        assert len(bot.runs) == 1


async def test_unwatch_wins_over_the_settings(sqlite_database: Database) -> None:
    async with unwatched(sqlite_database, alert_channels=(ALERTS_ID,)) as bot:
        await typed(bot, "unwatch")
        bot.post()
        await bot.settled()
        assert (bot.runs, bot.open) == ([], [])


async def test_watching_twice_is_told_to_the_person_alone(sqlite_database: Database) -> None:
    async with unwatched(sqlite_database) as bot:
        await typed(bot, "watch")
        assert "already" in await typed(bot, "watch")
        assert "不再" not in await typed(bot, "watch", "ben")


@pytest.mark.parametrize(
    ("user", "channel", "words"),
    [
        ("guest", "incidents", "Guests"),
        ("stranger", "incidents", "another one"),
        ("ana", "random", "I am not in this channel"),
    ],
)
async def test_only_members_may_where_the_bot_is_too(
    sqlite_database: Database, user: str, channel: str, words: str
) -> None:
    async with unwatched(sqlite_database) as bot:
        for command in ("watch", "unwatch", "mute 2h", "unmute"):
            assert words in await typed(bot, command, user, channel)
        assert await bot.desk.alert_channels.watched() == []


async def test_a_guest_that_may_ask_may_not_watch(sqlite_database: Database) -> None:
    async with unwatched(sqlite_database, slack_guests=True) as bot:
        assert "Guests may not change" in await typed(bot, "watch", "guest", "incidents")


async def test_somebody_outside_the_channel_may_not(sqlite_database: Database) -> None:
    async with unwatched(sqlite_database) as bot:
        bot.slack.add_user("zoe", id="U0ZOE00001")
        assert "Only members" in await typed(bot, "watch", "zoe", ALERTS)


async def test_direct_messages_are_not_watched(sqlite_database: Database) -> None:
    async with unwatched(sqlite_database) as bot:
        direct = bot.slack.open_dm("ana")
        assert "in channels" in await typed(bot, "watch", "ana", direct)


async def test_a_muted_channel_keeps_alerts_and_starts_no_run(database: Database) -> None:
    async with unwatched(database, alert_channels=(ALERTS_ID,)) as bot:
        assert await typed(bot, "mute 2h") == ""
        assert "muted me" in said(bot)
        ts = bot.post()
        await bot.settled()
        [incident] = bot.open
        assert (incident.not_run_reason, bot.runs, bot.parts(ts)) == ("muted", [], [])
        await typed(bot, "unmute")
        again = bot.post(**alertmanager("DiskFull", rest="db-03 critical"))
        await bot.reported(again)
        assert len(bot.runs) == 1


async def test_a_quiet_time_ends_by_itself(sqlite_database: Database) -> None:
    async with unwatched(sqlite_database, alert_channels=(ALERTS_ID,)) as bot:
        await bot.desk.alert_channels.mute(ALERTS_ID, "U0ANA00001", datetime.now(UTC) - timedelta(seconds=1))
        await bot.reported(bot.post())


@pytest.mark.parametrize(("text", "user"), [("mute 30m", "ana"), ("mute 2小时", "ben"), ("静音 半小时", "ben"), ("mute", "ana")])
async def test_mute_reads_lengths_in_both_languages(sqlite_database: Database, text: str, user: str) -> None:
    async with unwatched(sqlite_database, alert_channels=(ALERTS_ID,)) as bot:
        assert await typed(bot, text, user) == ""
        standing = await bot.desk.alert_channels.standing(ALERTS_ID)
        assert standing.muted_until is not None
        assert standing.muted_until > datetime.now(UTC) + timedelta(minutes=29)


@pytest.mark.parametrize("text", ["mute forever", "mute <!channel>", "mute 99d", "静音 很久"])
async def test_what_is_no_time_is_told_with_the_right_form(sqlite_database: Database, text: str) -> None:
    async with unwatched(sqlite_database, alert_channels=(ALERTS_ID,)) as bot:
        told = await typed(bot, text)
        assert "mute until 08:00" in told or "直到 08:00" in told
        assert "<!channel>" not in told
        assert (await bot.desk.alert_channels.standing(ALERTS_ID)).muted_until is None


async def test_status_shows_how_alerts_are_treated(sqlite_database: Database) -> None:
    async with unwatched(sqlite_database) as bot:
        assert "not watched" in await typed(bot, "status")
        await typed(bot, "watch")
        assert "Alerts here are watched" in await typed(bot, "status")
        await typed(bot, "mute 1d")
        status = await typed(bot, "status")
        assert "Muted until" in status
        assert "<@U0ANA00001>" in status
        bot.post()
        await bot.settled()
        assert "open, 1 firing: HighErrorRate" in await typed(bot, "status")


async def test_home_shows_the_watched_channel(sqlite_database: Database) -> None:
    from bot.home.facts import facts_for

    async with unwatched(sqlite_database) as bot:
        await typed(bot, "watch")
        await typed(bot, "mute 2h")
        facts = await facts_for(bot.desk, "U0ANA00001", "en")
        assert facts.alerts[0].startswith("#alerts: open incidents: 0, muted until")


# ---------------------------------------------------------------- on trial


async def test_a_trial_is_told_to_the_person_alone_and_reports_go_elsewhere(sqlite_database: Database) -> None:
    async with unwatched(sqlite_database) as bot:
        assert "on trial: the reports go to <#C0INCIDENT>" in await typed(bot, "watch trial <#C0INCIDENT|incidents>")
        ts = bot.post()
        await bot.slack.wait_for(lambda: any(part_of(one)[0] == "answer" for one in bot.slack.messages("incidents")))
        await bot.settled()
        assert (said(bot), bot.parts(ts)) == ("", [])
        assert "On trial" in await typed(bot, "status")
        await typed(bot, "watch live")
        assert "watch the alerts here" in said(bot)
        again = bot.post(**alertmanager("DiskFull", rest="db-03 critical"))
        await bot.reported(again)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("watch trial", "watch trial #channel"),
        ("watch trial <#C0ALERTS01|alerts>", "another channel"),
        ("watch trial <#C0RANDOM01|random>", "must both be in that channel"),
        ("watch closely", "I do not know `closely`"),
    ],
)
async def test_a_trial_that_cannot_be_is_refused(sqlite_database: Database, text: str, words: str) -> None:
    async with unwatched(sqlite_database) as bot:
        assert words in await typed(bot, text)
        assert not (await bot.desk.alert_channels.standing(ALERTS_ID)).watched
