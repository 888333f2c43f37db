"""What the buttons beside a gap bring: a wider look, what a person adds, somebody else's answer."""

from __future__ import annotations

from datetime import UTC, datetime

from answered_bot import ADDED, WHERE, Partly, Reader, answered_bot
from slack_worker import ANA, emulator

from bot.listeners.look_wider import wider_hours
from storage.engine import Database
from storage.jobs import JobStore
from storage.records import StoredInvocation
from storage.retention import Retention


async def test_a_wider_look_is_one_run_however_often_it_is_asked_for(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Partly()) as bot:
            answer = await bot.ask()
            slack.click(WHERE, answer.ts, "look_wider", "ana")
            slack.click(WHERE, answer.ts, "look_wider", "ben")
            second = await bot.answer(WHERE, answer.thread_ts, 2)
            await bot.click(answer, "look_wider")
            assert [run.query for run in bot.runs] == [
                "why is checkout slow?",
                "Look at the last 6 hours: why is checkout slow?",
            ]
            assert second.run.session_id == answer.run.session_id
            told = [*bot.whispers(), *bot.whispers("ben")]
            assert sorted(text.split(":")[0][:20] for text in told) == sorted(
                ["I look at the last 6", "I have looked furthe", "I have looked furthe"]
            )


async def test_a_wider_look_at_a_wider_look_keeps_the_question(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Partly()) as bot:
            answer = await bot.ask("last 30 minutes: why is checkout slow?")
            await bot.click(answer, "look_wider")
            second = await bot.answer(WHERE, answer.thread_ts, 2)
            await bot.click(second, "look_wider", "ben")
            third = await bot.answer(WHERE, answer.thread_ts, 3)
            assert third.run.query == "Look at the last 6 hours: last 30 minutes: why is checkout slow?"


def test_a_wider_window_is_four_times_the_widest_of_the_run() -> None:
    def call(start: str, end: str) -> StoredInvocation:
        scope = {"window_from": start, "window_to": end}
        at = datetime(2026, 11, 30, tzinfo=UTC)
        values = dict.fromkeys(StoredInvocation.__dataclass_fields__)
        return StoredInvocation(**(values | {"retrieval_details": {"evidence_refs": [{"scope": scope}]}, "id": at.day}))  # type: ignore[arg-type]

    morning = call("2026-11-30T06:00:00Z", "2026-11-30T09:00:00Z")
    assert wider_hours([morning, call("2026-11-30T08:00:00Z", "2026-11-30T09:00:00Z")]) == 12
    assert wider_hours([call("", ""), call("never", "2026-11-30T09:00:00Z")]) == 6
    assert wider_hours([call("2026-10-30T06:00:00Z", "2026-11-30T09:00:00Z")]) == 168


async def test_what_a_person_adds_is_a_tool_call_that_is_quoted_masked(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Reader()) as bot:
            answer = await bot.ask()
            await bot.click(answer, "add_context")
            assert bot.modal()["callback_id"] == "add_context"
            await bot.submit({"context": ADDED})
            second = await bot.answer(WHERE, answer.thread_ts, 2)
            (call,) = bot.desk.trace.invocations(second.run.run_id)
            (ref,) = call.retrieval_details["evidence_refs"]
            assert (call.tool_name, ref["raw_path"]) == ("added_context", "$.additions[0].lines[0]")
            assert ref["scope"]["source"] == "added by Ana Ruiz"
            assert "ghp_0123" not in second.run.state + str(call)
            assert "upstream reset" in str(second.message["blocks"])
            assert "added_context" not in {one.tool_name for one in bot.desk.trace.invocations(answer.run.run_id)}


async def test_a_form_that_is_sent_twice_starts_one_run(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Reader()) as bot:
            answer = await bot.ask()
            await bot.click(answer, "add_context")
            view = bot.modal()["id"]
            first, second = (slack.submit_view(view, "ana", {"context": ADDED}) for _ in range(2))
            await bot.answer(WHERE, answer.thread_ts, 2)
            assert [one.outcome for one in (first, second)] == ["taken", "taken"]
            assert len(bot.runs) == 2


async def test_what_was_added_stays_with_a_wider_look(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Reader()) as bot:
            answer = await bot.ask()
            await bot.click(answer, "add_context")
            await bot.submit({"context": ADDED})
            second = await bot.answer(WHERE, answer.thread_ts, 2)
            await bot.click(second, "look_wider")
            third = await bot.answer(WHERE, answer.thread_ts, 3)
            assert [one.tool_name for one in bot.desk.trace.invocations(third.run.run_id)] == ["added_context"]


async def test_blank_context_is_asked_for_again(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Partly()) as bot:
            answer = await bot.ask()
            await bot.click(answer, "add_context")
            await bot.submit({"context": "  \n "})
            assert bot.modal()["errors"] == {"context": "Write or paste something."}
            assert len(bot.runs) == 1


async def test_somebody_is_asked_in_the_clickers_name_once(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Partly()) as bot:
            answer = await bot.ask()
            await bot.click(answer, "ask_someone")
            assert "No traces were available" in str(bot.modal()["blocks"])
            view = bot.modal()["id"]
            for _ in range(2):
                slack.submit_view(view, "ana", {"person": "U0BEN00001", "question": "Do you have traces? <!channel>"})
            await bot.settled()
            asked = [each["text"] for each in slack.messages(WHERE, answer.thread_ts) if "asks" in each.get("text", "")]
            assert asked == [f"<@{ANA}> asks <@U0BEN00001>: Do you have traces? &lt;!channel&gt;"]


async def test_forms_about_a_run_that_is_gone_say_so(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Partly()) as bot:
            answer = await bot.ask()
            for button, values in (
                ("add_context", {"context": "it was the proxy"}),
                ("ask_someone", {"person": "U0BEN00001", "question": "well?"}),
            ):
                await bot.click(answer, button)
                if bot.runs:
                    Retention(sqlite_database).purge_run(answer.run.run_id)
                    await bot.submit(values)
                assert "no longer stored" in str(bot.modal()["blocks"])
            assert (bot.runs, JobStore(sqlite_database).unfinished()) == ([], [])
