"""What a run is told of its thread: the alert at its root, what people wrote, what was proven before. Never evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from slack_bot import SCHEMA, ListeningBot, listening
from small_incident import good_run, scripted, world

from agents.contracts import HistoryTurn
from bot.emulator.slack import SlackEmulator
from bot.hearing.context import MESSAGES_TOLD, completing, history
from bot.jobs import execute
from storage.engine import Database

ALERTS = Path(__file__).parent.parent.parent.parent / "shared" / "alerts"


def alert(name: str) -> dict[str, Any]:
    if not ALERTS.is_dir():
        pytest.skip("the alert fixtures lie beside the clone")
    found = json.loads((ALERTS / name).read_text(encoding="utf-8"))["event"]
    assert isinstance(found, dict)
    return found


async def told(bot: ListeningBot) -> tuple[HistoryTurn, ...]:
    """The history of the newest run."""
    run = bot.runs[0]
    job = await bot.desk.db.call(bot.desk.jobs.job, run.run_id)
    return await history(bot.desk, job, run.language)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("01_alertmanager_default_firing.json", "AlertManager: [FIRING:1] HighErrorRate (checkout shop critical)"),
        ("21_uptimekuma_down.json", "[Login page] [🔴 Down] Request failed with status code 503"),
        ("27_gatus_triggered.json", "core/payments-api* has been triggered"),
        ("30_sentry_issue.json", "QueuePool limit of size 20"),
        ("46_attachment_only_fallback.json", "CRITICAL: ping loss 100% on gw-2"),
    ],
)
async def test_the_alert_at_the_root_is_told_wherever_its_words_stand(
    sqlite_database: Database, name: str, words: str
) -> None:
    event = alert(name)
    with SlackEmulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post_as_bot("alerts", event)
            slack.post("alerts", "ana", f"{slack.mention} what is this?", thread_ts=ts)
            await bot.settled(3)
            [turn] = await told(bot)
            assert turn.role == "user"
            assert words in turn.text
            assert "not evidence" in turn.text
            assert "what is this?" not in turn.text


async def test_what_people_wrote_before_is_told_with_their_names(sqlite_database: Database) -> None:
    with SlackEmulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ana", "checkout is slow")
            slack.post("incidents", "ben", "password=hunter2hunter2 still works", thread_ts=ts)
            slack.post("incidents", "ana", f"{slack.mention} why?", thread_ts=ts)
            slack.post("incidents", "ben", "written later", thread_ts=ts)
            await bot.settled(5)
            [turn] = await told(bot)
            assert "Ana Ruiz: checkout is slow\nBen Wu: " in turn.text
            assert "hunter2" not in turn.text
            assert "written later" not in turn.text


async def test_a_new_thread_has_nothing_to_tell(sqlite_database: Database) -> None:
    with SlackEmulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            slack.post("incidents", "ana", f"{slack.mention} why slow?")
            await bot.settled(2)
            assert await told(bot) == ()


async def test_of_a_long_thread_the_root_and_the_newest_are_told(sqlite_database: Database) -> None:
    with SlackEmulator() as slack:
        slack.behaviour.subscriptions = {"app_mention"}
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ana", "the root " + "x" * 10_000)
            for number in range(MESSAGES_TOLD + 5):
                slack.post("incidents", "ben", f"line {number} of it", thread_ts=ts)
            slack.post("incidents", "ana", f"{slack.mention} why?", thread_ts=ts)
            await bot.settled(1)
            [turn] = await told(bot)
            assert "the root" in turn.text
            assert "[5 earlier messages are left out]" in turn.text
            assert ("line 4 of it" in turn.text, "line 5 of it" in turn.text) == (False, True)
            assert len(turn.text) < 12_000


@pytest.mark.parametrize("fault", [{"error": "missing_scope"}, {"error": "thread_not_found"}])
async def test_a_thread_that_cannot_be_read_stops_no_run(sqlite_database: Database, fault: dict[str, str]) -> None:
    with SlackEmulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            slack.fail("conversations.replies", times=None, **fault)  # type: ignore[arg-type]
            slack.post("incidents", "ana", f"{slack.mention} why?")
            await bot.settled(2)
            assert await told(bot) == ()


async def test_a_follow_up_knows_what_was_proven_before(sqlite_database: Database) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ana", f"{slack.mention} why does checkout time out?")
            await bot.settled(2)
            place = world(sqlite_database, scripted(*good_run())).place
            job = await bot.desk.db.call(bot.desk.jobs.job, bot.runs[0].run_id)
            outcome = await execute(job.run_id, place, complete=completing(bot.desk)(job))
            assert outcome.claims
            slack.post("incidents", "ana", "and since when?", thread_ts=ts)
            await bot.settled(3)
            question, answer = await told(bot)
            assert (question.role, question.text) == ("user", "why does checkout time out?")
            assert answer.run_id == outcome.run_id
            assert outcome.claims[0].claim.claim_text in answer.text

            slack.post("incidents", "ana", f"{slack.mention} what did you find?", thread_ts=ts)
            await bot.settled(5)
            [recalled] = [call["text"] for call in slack.calls("chat.postMessage")]
            assert len(outcome.claims) > 1
            assert [f"• {one.claim.claim_text}" for one in outcome.claims] == recalled.splitlines()[-len(outcome.claims) :]
            assert recalled.count("UTC") == 1, "time and link are said once a run"
            assert len(bot.runs) == 2


async def test_the_history_is_stored_with_the_run_before_it_starts(sqlite_database: Database) -> None:
    with SlackEmulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            ts = slack.post("incidents", "ben", "order-service was deployed at noon")
            slack.post("incidents", "ana", f"{slack.mention} why does checkout time out?", thread_ts=ts)
            await bot.settled(3)
            place = world(sqlite_database, scripted(*good_run())).place
            job = await bot.desk.db.call(bot.desk.jobs.job, bot.runs[0].run_id)
            await execute(job.run_id, place, complete=completing(bot.desk)(job))
            assert "order-service was deployed at noon" in bot.runs[0].state
            steps = bot.desk.trace.steps(job.run_id)
            assert "order-service was deployed at noon" in steps[0].request_whole
