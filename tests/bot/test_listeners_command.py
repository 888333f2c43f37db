"""`/proofthread` and the message shortcut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from slack_bot import SCHEMA, ListeningBot, listening
from small_incident import good_run, scripted, world

from bot.emulator.slack import SlackEmulator
from bot.jobs import execute
from storage.engine import Database

ALERTS = Path(__file__).parent.parent.parent.parent / "shared" / "alerts"
QUESTION = "why is checkout slow since 14:00?"
MODES = pytest.mark.parametrize("mode", ["http", "socket"])


async def told(bot: ListeningBot, channel: str, user: str) -> str:
    """What the person alone was told last."""
    await bot.settled()
    return str(bot.slack.ephemerals(channel, user)[-1]["text"])


@MODES
async def test_ask_posts_the_question_and_answers_in_its_thread(sqlite_database: Database, mode: str) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database, mode) as bot:
            slack.slash("/proofthread", f"ask {QUESTION} <!channel>", "incidents", "ana")
            await bot.settled(1)
            [run] = bot.runs
            [posted] = slack.messages("incidents")
            assert posted["text"] == f"<@U0ANA00001> asks: {QUESTION} @channel"
            assert run.query == f"{QUESTION} @channel"
            assert run.session_id.endswith(posted["ts"])
            assert bot.woken == [run.run_id]
            assert (slack.refused, slack.ephemerals("incidents")) == ([], [])


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "*/proofthread ask*"),
        ("help", "*/proofthread ask*"),
        ("why is it slow?", "I do not know `why`"),
        ("ask", "Write what you want to know"),
        ("ask hello", "Ask me about an incident"),
        ("cases", "No cases yet"),
        ("status", "Nothing runs or waits in this channel.\nAlerts here are not watched"),
        ("STATUS", "Today: 0 tokens."),
    ],
)
async def test_everything_else_is_answered_to_the_person_alone(
    sqlite_database: Database, typed: str, words: str
) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            slack.slash("/proofthread", typed, "incidents", "ana")
            assert words in await told(bot, "incidents", "ana")
            assert (bot.runs, slack.messages("incidents")) == ([], [])


async def test_status_shows_what_waits_in_this_channel_alone(sqlite_database: Database) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            slack.post("war-room", "ana", f"{slack.mention} is the secret project down?")
            slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await bot.settled(4)
            slack.slash("/proofthread", "status", "incidents", "ana")
            status = await told(bot, "incidents", "ana")
            assert f"waits, number 2 in line: {QUESTION}" in status
            assert "secret project" not in status


@pytest.mark.parametrize(("user", "words"), [("ana", "✅ Proven, "), ("ben", "✅ 已证实，")])
async def test_status_names_a_verdict_as_answers_do(sqlite_database: Database, user: str, words: str) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await bot.settled(2)
            await execute(bot.runs[0].run_id, world(sqlite_database, scripted(*good_run())).place)
            slack.slash("/proofthread", "status", "incidents", user)
            assert words in await told(bot, "incidents", user)


@pytest.mark.parametrize(("channel", "user", "words"), [("random", "ana", "/invite"), ("incidents", "guest", "Guests")])
async def test_ask_where_or_by_whom_it_cannot_be_says_why(
    sqlite_database: Database, channel: str, user: str, words: str
) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            slack.slash("/proofthread", f"ask {QUESTION}", channel, user)
            assert words in await told(bot, channel, user)
            assert bot.runs == []


@MODES
async def test_the_shortcut_diagnoses_an_alert_that_is_all_attachments(sqlite_database: Database, mode: str) -> None:
    if not ALERTS.is_dir():
        pytest.skip("the alert fixtures lie beside the clone")
    alert = json.loads((ALERTS / "01_alertmanager_default_firing.json").read_text(encoding="utf-8"))["event"]
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database, mode) as bot:
            ts = slack.post_as_bot("alerts", alert)
            slack.shortcut("diagnose_message", "alerts", ts, "ana")
            await bot.settled(2)
            [run] = bot.runs
            assert run.query.startswith("Diagnose this message: [FIRING:1] HighErrorRate (checkout shop critical)")
            assert run.session_id.endswith(f"C0ALERTS01.{ts}")
            assert "I am looking into it" in await told(bot, "alerts", "ana")
            slack.shortcut("diagnose_message", "alerts", ts, "ana")
            await bot.settled(3)
            assert len(bot.runs) == 2


@pytest.mark.parametrize(("channel", "user", "words"), [("random", "ana", "I am not in this channel"), ("incidents", "guest", "Guests")])
async def test_the_shortcut_tells_who_or_where_it_cannot_be(
    sqlite_database: Database, channel: str, user: str, words: str
) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post(channel, user, "it is slow")
            slack.shortcut("diagnose_message", channel, ts, user)
            await bot.settled()
            assert bot.runs == []
            everything = [call["text"] for call in slack.calls() if "text" in call]
            assert any(words in each for each in everything)


async def test_the_shortcut_on_a_message_without_words_says_so(sqlite_database: Database) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ana", "", files=[{"name": "a.png", "content": "x"}])
            slack.shortcut("diagnose_message", "incidents", ts, "ana")
            assert "no text in this message" in await told(bot, "incidents", "ana")
            assert bot.runs == []
