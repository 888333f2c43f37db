"""What a mention becomes, over HTTP and over Socket Mode, with Bolt and slack_sdk as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from slack_bot import SCHEMA, ListeningBot, listening
from sqlalchemy import text

from bot.emulator.slack import SlackEmulator
from storage.database import migration_engine
from storage.engine import Database

ALERTS = Path(__file__).parent.parent.parent.parent / "shared" / "alerts"
MODES = pytest.mark.parametrize("mode", ["http", "socket"])
QUESTION = "why is checkout slow since 14:00?"


def emulator() -> SlackEmulator:
    slack = SlackEmulator(schema=SCHEMA)
    slack.behaviour.retry_delays = (0.1, 0.2, 0.4)
    return slack


def said(bot: ListeningBot, channel: str, thread_ts: str) -> list[str]:
    """What the bot wrote in a thread."""
    return [each["text"] for each in bot.slack.messages(channel, thread_ts) if each.get("user") == bot.slack.bot_user_id]


def noted(database: Database) -> list[str]:
    with database.read() as connection:
        return list(connection.execute(text("SELECT event_key FROM slack_event ORDER BY event_key")).scalars())


@MODES
async def test_a_mention_becomes_one_job_whose_thread_is_its_session(sqlite_database: Database, mode: str) -> None:
    with emulator() as slack:
        async with listening(slack, sqlite_database, mode) as bot:
            ts = slack.post("incidents", "ben", f"{slack.mention} {QUESTION}")
            await bot.settled(2)
            [run] = bot.runs
            assert bot.woken == [run.run_id]
            assert (run.query, run.status, run.zone) == (QUESTION, "QUEUED", "Asia/Shanghai")
            assert run.session_id == f"{slack.team_id}.C0INCIDENT.{ts}"
            job = bot.desk.jobs.job(run.run_id)
            assert (job.ts, job.trigger, job.user_id, job.thread_ts) == (ts, "mention", "U0BEN00001", ts)
            assert slack.refused == []


@pytest.mark.parametrize("order", ["app_mention_first", "message_first"])
async def test_a_mention_counts_once_however_often_and_in_whatever_order_it_comes(database: Database, order: str) -> None:
    with emulator() as slack:
        slack.behaviour.mention_order = order
        slack.behaviour.mention_gap = (0.0, 0.2)
        slack.behaviour.copies, slack.behaviour.jitter = (2, 4), (0.0, 0.1)
        async with listening(slack, database) as bot:
            for number in range(5):
                slack.post("incidents", "ana", f"{slack.mention} why is service {number} slow?")
            await bot.settled(20)
            assert sorted(run.query for run in bot.runs) == [f"why is service {number} slow?" for number in range(5)]
            assert len(bot.woken) == 5


@MODES
async def test_a_job_that_cannot_be_stored_leaves_the_event_unacknowledged(sqlite_database: Database, mode: str) -> None:
    with emulator() as slack:
        slack.behaviour.subscriptions = {"app_mention"}
        slack.behaviour.ack_seconds, slack.behaviour.retry_delays = 0.5, (0.0, 0.5, 1.0)
        async with listening(slack, sqlite_database, mode) as bot:
            engine = migration_engine(sqlite_database)
            with engine.begin() as connection:
                connection.execute(text("ALTER TABLE job RENAME TO job_away"))
            slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await slack.wait_for(lambda: slack.deliveries and slack.deliveries[0].attempts)
            assert not slack.deliveries[0].attempts[0].taken
            with engine.begin() as connection:
                connection.execute(text("ALTER TABLE job_away RENAME TO job"))
            engine.dispose()
            await bot.settled()
            assert slack.deliveries[0].outcome == "taken"
            assert [run.query for run in bot.runs] == [QUESTION]


@pytest.mark.parametrize(
    ("words", "reply"),
    [("hello", "Ask me about an incident"), ("thanks!", "You are welcome"), ("help", "from your logs"), ("", "from your logs"), ("你好", "请直接提问")],
)
async def test_small_talk_gets_one_reply_and_no_run(sqlite_database: Database, words: str, reply: str) -> None:
    with emulator() as slack:
        slack.behaviour.copies = (2, 2)
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ana", f"{slack.mention} {words}".strip())
            await bot.settled(4)
            [answer] = said(bot, "incidents", ts)
            assert reply in answer
            assert bot.runs == []


async def test_a_mention_with_a_file_alone_says_that_files_are_not_read(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ana", slack.mention, files=[{"name": "a.log", "content": "x"}])
            await bot.settled(2)
            assert ["I read text files" in each for each in said(bot, "incidents", ts)] == [True]
            assert bot.runs == []


async def test_a_very_long_question_is_cut_and_says_so(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ana", f"{slack.mention} why? {'line of a log ' * 3_000}")
            await bot.settled(2)
            [run] = bot.runs
            assert len(run.query) <= 8_000
            assert ["I read the first 8000" in each for each in said(bot, "incidents", ts)] == [True]


@pytest.mark.parametrize(
    ("user", "settings", "words"),
    [
        ("guest", {}, "Guests of this workspace"),
        ("stranger", {}, "people of this workspace only"),
        ("ana", {"slack_users": ("U0BEN00001",)}, "list of those who may ask"),
        ("ana", {"slack_channels": ("C0ALERTS01",)}, "may not be used in this channel"),
    ],
)
async def test_who_may_not_ask_is_told_so_alone(
    sqlite_database: Database, user: str, settings: dict[str, object], words: str
) -> None:
    with emulator() as slack:
        async with listening(slack, sqlite_database, **settings) as bot:
            ts = slack.post("incidents", user, f"{slack.mention} {QUESTION}")
            await bot.settled(2)
            assert [words in each["text"] for each in slack.ephemerals("incidents", user)] == [True]
            assert (bot.runs, said(bot, "incidents", ts)) == ([], [])


@pytest.mark.parametrize(
    ("user", "settings"),
    [
        ("guest", {"slack_guests": True}),
        ("guest", {"slack_users": ("U0GUEST001",)}),
        ("stranger", {"slack_teams": ("T0ELSEWHER",)}),
        ("ana", {"slack_channels": ("C0INCIDENT",), "slack_users": ("U0ANA00001",)}),
    ],
)
async def test_settings_admit_guests_strangers_and_the_listed(
    sqlite_database: Database, user: str, settings: dict[str, object]
) -> None:
    with emulator() as slack:
        async with listening(slack, sqlite_database, **settings) as bot:
            slack.post("incidents", user, f"{slack.mention} {QUESTION}")
            await bot.settled(2)
            assert [run.query for run in bot.runs] == [QUESTION]


async def test_an_event_waits_at_slack_while_nobody_says_who_asks(sqlite_database: Database) -> None:
    with emulator() as slack:
        slack.behaviour.subscriptions = {"app_mention"}
        async with listening(slack, sqlite_database) as bot:
            slack.fail("users.info", error="ratelimited", times=1)
            slack.fail("users.info", status=503, times=1)
            slack.behaviour.retry_delays = (0.2, 1.5, 3.0)
            slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await bot.settled(1)
            assert [run.query for run in bot.runs] == [QUESTION]


async def test_without_users_read_everybody_may_ask_in_the_zone_of_the_setting(sqlite_database: Database) -> None:
    with emulator() as slack:
        slack.behaviour.scopes.discard("users:read")
        async with listening(slack, sqlite_database) as bot:
            assert [scope.name for scope in bot.desk.bot.missing] == ["users:read"]
            slack.post("incidents", "guest", f"{slack.mention} {QUESTION}")
            await bot.settled(2)
            assert [(run.query, run.zone) for run in bot.runs] == [(QUESTION, "Europe/Berlin")]


@MODES
async def test_other_bots_edits_joins_and_unfurls_start_nothing_and_leave_no_text(
    sqlite_database: Database, mode: str
) -> None:
    with emulator() as slack:
        async with listening(slack, sqlite_database, mode) as bot:
            ts = slack.post("incidents", "ana", "just talking: secret-words")
            slack.edit("incidents", ts, "ana", f"{slack.mention} secret-words {QUESTION}")
            slack.post("incidents", "ana", "has joined", subtype="channel_join")
            slack.post_as_bot("incidents", {"text": f"{slack.mention} secret-words", "user": "U0SENDER01"})
            slack.post_as_bot("incidents", {"text": "", "attachments": [{"title": "[FIRING:1] secret-words"}]})
            slack.delete("incidents", ts)
            await bot.settled(6)
            assert (bot.runs, bot.woken, slack.calls("chat.postMessage")) == ([], [], [])
            assert len(noted(sqlite_database)) == len({each.event_id for each in slack.deliveries})
            with sqlite_database.read() as connection:
                dump = [str(row) for row in connection.execute(text("SELECT * FROM slack_event"))]
            assert not any("secret-words" in row for row in dump)


async def test_a_deleted_question_needs_no_answer(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await bot.settled(2)
            slack.delete("incidents", ts)
            await bot.settled(3)
            assert [(run.status, run.self_evaluation) for run in bot.runs] == [("CANCELLED", {"quiet": {"why": "deleted"}})]


async def test_an_edited_question_is_answered_as_it_was_asked(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            slack.edit("incidents", ts, "ana", f"{slack.mention} something else entirely?")
            await bot.settled(3)
            assert [run.query for run in bot.runs] == [QUESTION]


@pytest.mark.parametrize(("words", "language"), [("为什么 checkout 变慢了？", "zh"), ("why slow?", "en"), ("504?", "zh")])
async def test_the_answer_is_in_the_language_of_the_question_else_of_the_asker(
    sqlite_database: Database, words: str, language: str
) -> None:
    with emulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            slack.post("incidents", "ben", f"{slack.mention} {words}")
            await bot.settled(2)
            assert [run.language for run in bot.runs] == [language]


async def test_secrets_in_a_question_are_masked_before_they_are_stored(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            slack.post("incidents", "ana", f"{slack.mention} why does password=hunter2hunter2 fail?")
            await bot.settled(2)
            [run] = bot.runs
            assert "hunter2" not in run.query + run.state


async def test_the_markup_of_a_question_is_read(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            words = "is a &lt; b in <#C0ALERTS01|alerts> at <https://grafana.example/d/1|the board>?"
            slack.post("incidents", "ana", f"{slack.mention} {words}")
            await bot.settled(2)
            assert [run.query for run in bot.runs] == ["is a < b in #alerts at the board (https://grafana.example/d/1)?"]


@pytest.mark.skipif(not ALERTS.is_dir(), reason="the alert fixtures lie beside the clone")
async def test_no_recorded_post_of_a_sender_or_of_people_starts_anything(sqlite_database: Database) -> None:
    files = sorted(ALERTS.glob("*.json"))
    with emulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            for file in files:
                slack.send_event(json.loads(file.read_text(encoding="utf-8"))["event"])
            await bot.settled(len(files))
            assert len(files) >= 30
            assert (bot.runs, slack.calls("chat.postMessage"), slack.ephemerals("alerts")) == ([], [], [])
            assert all(each.outcome == "taken" and len(each.attempts) == 1 for each in slack.deliveries)
