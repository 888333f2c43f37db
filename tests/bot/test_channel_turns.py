"""One message a gap and channel, from as many processes as there are."""

from __future__ import annotations

from pathlib import Path

from slack_worker import CHANNEL, emulator

from bot.slack.client import SlackAccess, open_slack
from bot.slack.turns import MOST_LOOKS, ChannelTurns
from storage.engine import Database


async def test_a_post_waits_for_what_another_process_posted(database: Database) -> None:
    looks: list[float] = []

    async def sleep(seconds: float) -> None:
        looks.append(seconds)

    with emulator() as slack:
        access = SlackAccess(slack.bot_token, slack.api_url, post_gap=0.0)
        async with open_slack(access) as one, open_slack(access) as other:
            for calls in (one, other):
                calls.turns = ChannelTurns(database, "T1", gap=600.0, sleep=sleep)
            await one.call("chat.postMessage", channel=CHANNEL, text="first")
            assert looks == []
            await other.call("chat.postMessage", channel=CHANNEL, text="second")
            assert len(looks) == MOST_LOOKS
        assert [each["text"] for each in slack.messages(CHANNEL)] == ["first", "second"]


async def test_a_post_that_may_come_later_does_not_wait(database: Database) -> None:
    with emulator() as slack:
        access = SlackAccess(slack.bot_token, slack.api_url, post_gap=0.0)
        async with open_slack(access) as calls:
            calls.turns = ChannelTurns(database, "T1", gap=60.0)
            assert await calls.post_at_once(CHANNEL, text="first") is not None
            assert await calls.post_at_once(CHANNEL, text="second") is None
        assert [each["text"] for each in slack.messages(CHANNEL)] == ["first"]


async def test_a_database_that_is_away_holds_nobody_up(tmp_path: Path) -> None:
    turns = ChannelTurns(Database(f"sqlite:///{tmp_path}/none/at/all.db"), "T1")
    assert await turns.taken(CHANNEL)


async def test_a_turn_that_never_comes_is_taken_at_last(database: Database) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    turns = ChannelTurns(database, "T1", gap=600.0, sleep=sleep)
    await turns.wait(CHANNEL)
    await turns.wait(CHANNEL)
    assert len(slept) == MOST_LOOKS
