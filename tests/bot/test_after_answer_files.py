"""Text files that are posted with a question can be quoted; nothing is fetched but from Slack's own file server."""

from __future__ import annotations

from typing import Any

import pytest
from answered_bot import ADDED, WHERE, Answer, AnsweredBot, Partly, Reader, answered_bot
from slack_worker import emulator

from bot.emulator.slack import SlackEmulator
from bot.slack.client import SlackAccess, SlackRefused, open_slack
from storage.engine import Database


def lines_of(bot: AnsweredBot, answer: Answer) -> list[tuple[str, str]]:
    """(file, line) of what was added to the run."""
    calls = [one for one in bot.desk.trace.invocations(answer.run.run_id) if one.tool_name == "added_context"]
    refs = [ref for call in calls for ref in call.retrieval_details["evidence_refs"]]
    return [(ref["scope"]["file"], ref["text"]) for ref in refs]


def file(content: str | bytes, name: str = "proxy.log") -> list[dict[str, Any]]:
    return [{"name": name, "content": content}]


async def test_a_log_that_is_posted_with_the_question_is_quoted_masked(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Reader()) as bot:
            ts = slack.post(WHERE, "ana", f"{slack.mention} why is checkout slow?", files=file(ADDED))
            answer = await bot.answer(WHERE, ts)
            ((name, line),) = lines_of(bot, answer)
            assert (name, "upstream reset" in line, "ghp_0123" in line + answer.run.state) == ("proxy.log", True, False)
            assert "upstream reset" in str(answer.message["blocks"])


async def test_a_log_posted_before_the_question_counts_for_that_question_alone(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Reader()) as bot:
            ts = slack.post(WHERE, "ben", "look at this", files=file("ERROR proxy upstream reset by peer"))
            slack.post(WHERE, "ana", f"{slack.mention} why is checkout slow?", thread_ts=ts)
            first = await bot.answer(WHERE, ts)
            slack.post(WHERE, "ana", f"{slack.mention} is it back?", thread_ts=ts)
            second = await bot.answer(WHERE, ts, 2)
            assert lines_of(bot, first) == [("proxy.log", "ERROR proxy upstream reset by peer")]
            assert lines_of(bot, second) == []


@pytest.mark.parametrize("content", [b"\x89PNG\x00\x00", b"\xff\xfe\x00", "   \n"])
async def test_what_is_no_text_is_left_out(sqlite_database: Database, content: str | bytes) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Reader()) as bot:
            ts = slack.post(WHERE, "ana", f"{slack.mention} why is checkout slow?", files=file(content))
            assert lines_of(bot, await bot.answer(WHERE, ts)) == []


async def test_of_a_long_log_the_last_lines_are_kept(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Reader()) as bot:
            content = "\n".join(f"INFO proxy request number {number} went well" for number in range(5000))
            content += "\nERROR proxy upstream reset"
            ts = slack.post(WHERE, "ana", f"{slack.mention} why is checkout slow?", files=file(content))
            answer = await bot.answer(WHERE, ts)
            assert lines_of(bot, answer)[-1][1] == "ERROR proxy upstream reset"
            assert len(answer.run.state) < 100_000


async def test_without_the_scope_the_question_is_answered_without_the_file(sqlite_database: Database) -> None:
    with emulator() as slack:
        slack.behaviour.scopes = set(slack.behaviour.scopes) - {"files:read"}
        async with answered_bot(slack, sqlite_database, Partly()) as bot:
            ts = slack.post(WHERE, "ana", f"{slack.mention} why is checkout slow?", files=file(ADDED))
            assert (await bot.answer(WHERE, ts)).run.verdict == "LOW_CONFID"


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1:1/files/F1/x.log",
        "https://files.slack.com.evil.example/x",
        "https://files.slack.com@evil.example/x",
        "file:///etc/passwd",
    ],
)
async def test_the_token_goes_nowhere_but_to_slack(url: str) -> None:
    with SlackEmulator() as slack:
        for base in (slack.api_url, "https://slack.com/api/"):
            async with open_slack(SlackAccess(slack.bot_token, base)) as calls:
                with pytest.raises(SlackRefused, match="not_a_slack_file"):
                    await calls.download(url, 1000)


async def test_a_file_that_is_too_large_is_refused(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            ts = slack.post(WHERE, "ana", "a log", files=file("x" * 2000))
            message = slack.messages(WHERE, ts)[0]
            with pytest.raises(SlackRefused, match="file_too_large"):
                await bot.desk.slack.download(message["files"][0]["url_private"], 1000)
