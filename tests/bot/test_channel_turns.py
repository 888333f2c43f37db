"""One message a gap and channel, from as many processes as there are."""

from __future__ import annotations

import asyncio

from slack_worker import CHANNEL, emulator

from bot.channel_turns import ChannelTurns
from bot.slack_client import SlackAccess, open_slack
from storage.engine import Database

GAP = 0.2


async def test_two_processes_keep_the_gap_between_them(database: Database) -> None:
    with emulator() as slack:
        access = SlackAccess(slack.bot_token, slack.api_url, post_gap=0.0)
        async with open_slack(access) as one, open_slack(access) as other:
            for calls in (one, other):
                calls.turns = ChannelTurns(database, "T1", gap=GAP)
            posts = [calls.call("chat.postMessage", channel=CHANNEL, text="hello") for calls in (one, other) * 3]
            await asyncio.gather(*posts)
        at = sorted(call.at for call in slack.call_log("chat.postMessage"))
    assert len(at) == 6
    # The database's clock and the stand-in's look at different moments of a call.
    assert at[-1] - at[0] > 5 * GAP - 0.15


async def test_a_post_that_may_come_later_does_not_wait(database: Database) -> None:
    with emulator() as slack:
        access = SlackAccess(slack.bot_token, slack.api_url, post_gap=0.0)
        async with open_slack(access) as calls:
            calls.turns = ChannelTurns(database, "T1", gap=60.0)
            assert await calls.post_at_once(CHANNEL, text="first") is not None
            assert await calls.post_at_once(CHANNEL, text="second") is None
        assert [each["text"] for each in slack.messages(CHANNEL)] == ["first"]


async def test_a_database_that_is_away_holds_nobody_up(tmp_path) -> None:
    turns = ChannelTurns(Database(f"sqlite:///{tmp_path}/none/at/all.db"), "T1")
    assert await turns.taken(CHANNEL)


async def test_a_turn_that_never_comes_is_taken_at_last(database: Database) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    turns = ChannelTurns(database, "T1", gap=600.0, sleep=sleep)
    await turns.wait(CHANNEL)
    await turns.wait(CHANNEL)
    assert len(slept) == 60
