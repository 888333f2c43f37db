"""Messages without a mention: they count in a thread that the bot has joined, as long as one person talks to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from slack_bot import SCHEMA, ListeningBot, listening

from bot.emulator.slack import SlackEmulator
from storage.engine import Database

QUESTION = "why is checkout slow since 14:00?"
FOLLOW_UP = "and which hosts are affected?"


@asynccontextmanager
async def joined(database: Database, **settings: object) -> AsyncIterator[tuple[ListeningBot, str]]:
    """The bot has been asked by ana in a thread; `ts` is its root."""
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, database, **settings) as bot:
            ts = slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await bot.settled(2)
            yield bot, ts


def questions(bot: ListeningBot) -> list[str]:
    return [run.query for run in reversed(bot.runs)]


async def test_the_asker_goes_on_without_a_mention(sqlite_database: Database) -> None:
    async with joined(sqlite_database) as (bot, ts):
        bot.slack.post("incidents", "ana", FOLLOW_UP, thread_ts=ts)
        await bot.settled(3)
        assert questions(bot) == [QUESTION, FOLLOW_UP]
        assert len({run.session_id for run in bot.runs}) == 1


async def test_a_thread_that_the_bot_has_not_joined_is_none_of_its_business(sqlite_database: Database) -> None:
    async with joined(sqlite_database) as (bot, _):
        other = bot.slack.post("incidents", "ana", "lunch?")
        bot.slack.post("incidents", "ana", "why not pizza?", thread_ts=other)
        bot.slack.post("incidents", "ana", "in the channel: why not?")
        await bot.settled(5)
        assert questions(bot) == [QUESTION]


async def test_once_two_people_talk_only_a_mention_counts(sqlite_database: Database) -> None:
    async with joined(sqlite_database) as (bot, ts):
        slack = bot.slack
        slack.post("incidents", "ben", "did you restart it?", thread_ts=ts)
        await bot.settled(3)
        slack.post("incidents", "ana", "yes, why?", thread_ts=ts)
        await bot.settled(4)
        slack.post("incidents", "ana", "proofthread, what do you say?", thread_ts=ts)
        await bot.settled(5)
        assert questions(bot) == [QUESTION]
        slack.post("incidents", "ben", f"{slack.mention} is it back?", thread_ts=ts)
        await bot.settled(7)
        slack.post("incidents", "ben", "since when?", thread_ts=ts)
        await bot.settled(8)
        assert questions(bot) == [QUESTION, "is it back?", "since when?"]


async def test_after_the_window_only_the_name_or_a_mention_counts(sqlite_database: Database) -> None:
    async with joined(sqlite_database, follow_up_seconds=0) as (bot, ts):
        bot.slack.post("incidents", "ana", FOLLOW_UP, thread_ts=ts)
        await bot.settled(3)
        bot.slack.post("incidents", "ana", "Proofthread, is it back?", thread_ts=ts)
        await bot.settled(4)
        assert questions(bot) == [QUESTION, "Proofthread, is it back?"]


@pytest.mark.parametrize("words", ["thanks", "<@U0BEN00001> can you look?", "谢谢"])
async def test_thanks_and_words_to_somebody_else_start_nothing(sqlite_database: Database, words: str) -> None:
    async with joined(sqlite_database) as (bot, ts):
        bot.slack.post("incidents", "ana", words, thread_ts=ts)
        await bot.settled(3)
        assert questions(bot) == [QUESTION]
        assert bot.slack.calls("chat.postMessage") == []


@pytest.mark.parametrize("words", ["what did you find?", "总结一下"])
async def test_asking_for_what_was_found_needs_no_mention_and_starts_nothing(
    sqlite_database: Database, words: str
) -> None:
    async with joined(sqlite_database) as (bot, ts):
        bot.slack.post("incidents", "ana", words, thread_ts=ts)
        await bot.settled(3)
        assert questions(bot) == [QUESTION]
        assert len(bot.slack.calls("chat.postMessage")) == 1


async def test_asking_for_what_was_found_outside_a_thread_starts_nothing(sqlite_database: Database) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            slack.post(slack.open_dm("ana"), "ana", "what did you find?")
            await bot.settled(1)
            assert bot.runs == []
            assert len(slack.calls("chat.postMessage")) == 1


@pytest.mark.parametrize("word", ["stop", "Stop!", "停止"])
async def test_the_word_stop_stops_what_runs_in_the_thread(sqlite_database: Database, word: str) -> None:
    async with joined(sqlite_database) as (bot, ts):
        bot.slack.post("incidents", "ben", word, thread_ts=ts)
        await bot.settled(3)
        assert [run.status for run in bot.runs] == ["CANCELLED"]


async def test_stop_where_nothing_runs_says_so_to_whoever_mentions_the_bot(sqlite_database: Database) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            slack.post("incidents", "ana", f"{slack.mention} stop")
            await bot.settled(2)
            assert [call["text"] for call in slack.calls("chat.postMessage")] == ["Nothing of mine runs in this thread."]


async def test_a_guest_cannot_go_on_nor_stop(sqlite_database: Database) -> None:
    async with joined(sqlite_database) as (bot, ts):
        bot.slack.post("incidents", "guest", "stop", thread_ts=ts)
        bot.slack.post("incidents", "guest", FOLLOW_UP, thread_ts=ts)
        await bot.settled(4)
        assert [run.status for run in bot.runs] == ["QUEUED"]
        assert bot.slack.ephemerals("incidents", "guest") == []


async def test_a_follow_up_that_comes_twice_counts_once(sqlite_database: Database) -> None:
    async with joined(sqlite_database) as (bot, ts):
        bot.slack.behaviour.copies = (3, 3)
        bot.slack.post("incidents", "ana", FOLLOW_UP, thread_ts=ts)
        await bot.settled(5)
        assert questions(bot) == [QUESTION, FOLLOW_UP]


async def test_every_direct_message_is_a_question(sqlite_database: Database) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            direct = slack.open_dm("ana")
            ts = slack.post(direct, "ana", QUESTION)
            slack.post(direct, "ana", FOLLOW_UP, thread_ts=ts)
            slack.post(direct, "ana", "hello")
            await bot.settled(3)
            assert sorted(questions(bot)) == sorted([QUESTION, FOLLOW_UP])
            assert ["Ask me about an incident" in call["text"] for call in slack.calls("chat.postMessage")] == [True]


async def test_a_guest_is_refused_in_a_direct_message_too(sqlite_database: Database) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            slack.post(slack.open_dm("guest"), "guest", QUESTION)
            await bot.settled(1)
            assert bot.runs == []
            assert any("Guests of this workspace" in call["text"] for call in slack.calls() if "text" in call)


async def test_opening_the_direct_message_offers_questions_in_the_persons_language(sqlite_database: Database) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            direct = slack.open_dm("ben")
            slack.open_home("ben", "messages")
            prompts = await slack.wait_for(lambda: slack.prompts(direct))
            assert prompts[0]["message"] == "14:00 以来结账为什么变慢？"
            await bot.settled(1)
            assert (slack.refused, bot.runs) == ([], [])
