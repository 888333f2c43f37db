"""Votes by button and by thumb, the case that they make, and why an answer was not useful."""

from __future__ import annotations

import pytest
from answered_bot import WHERE, Answer, AnsweredBot, Partly, answered_bot
from slack_worker import ANA, Incident, emulator

from storage.engine import Database
from storage.frozen import FrozenScenarios
from storage.retention import Retention

BEN = "U0BEN00001"


async def test_useful_makes_one_case_and_offers_to_edit_it(database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, database) as bot:
            answer = await bot.ask()
            await bot.vote(answer, "useful")
            await bot.vote(answer, "useful", "ben")
            case = bot.case(answer.run)
            assert case is not None
            assert (case.status, case.is_private, len(bot.desk.cases.list())) == ("active", False, 1)
            assert bot.desk.trace.run(answer.run.run_id).feedback == "useful"
            assert FrozenScenarios(database).get(answer.run.run_id) is not None
            assert "kept as a case" in bot.whispers()[0]
            assert slack.refused == []


async def test_the_last_vote_of_a_person_wins_and_a_retracted_one_takes_the_case_back(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            answer = await bot.ask()
            await bot.vote(answer, "useful")
            await bot.vote(answer, "not_useful")
            case = bot.case(answer.run)
            assert case is not None
            assert (bot.votes(answer.run), case.status) == ({ANA: "not_useful"}, "retracted")
            assert FrozenScenarios(sqlite_database).get(answer.run.run_id) is None


@pytest.mark.parametrize("name", ["+1", "thumbsup", "+1::skin-tone-5"])
async def test_a_thumb_in_any_skin_tone_is_a_vote_until_it_is_taken_away(sqlite_database: Database, name: str) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            answer = await bot.ask()
            slack.react(WHERE, answer.ts, "ana", name)
            await bot.settled()
            assert bot.votes(answer.run) == {ANA: "useful"}
            slack.unreact(WHERE, answer.ts, "ana", name)
            await bot.settled()
            case = bot.case(answer.run)
            assert case is not None
            assert (bot.votes(answer.run), case.status) == ({ANA: None}, "retracted")


async def test_check_marks_are_votes_by_setting_alone(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            answer = await bot.ask()
            slack.react(WHERE, answer.ts, "ana", "white_check_mark")
            slack.react(WHERE, answer.ts, "ana", "eyes")
            await bot.settled()
            assert bot.votes(answer.run) == {}
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, check_mark_votes=True) as bot:
            answer = await bot.ask()
            slack.react(WHERE, answer.ts, "ana", "white_check_mark")
            slack.react(WHERE, answer.ts, "ben", "x")
            await bot.settled()
            assert bot.votes(answer.run) == {ANA: "useful", BEN: "not_useful"}


async def test_a_thumb_on_what_is_no_answer_is_no_vote(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            answer = await bot.ask()
            slack.react(WHERE, answer.thread_ts, "ana", "+1")
            slack.react(WHERE, slack.post(WHERE, "ben", "lunch?"), "ana", "-1")
            await bot.settled()
            assert bot.votes(answer.run) == {}
            assert [one.outcome for one in slack.deliveries] == ["taken"] * len(slack.deliveries)


async def test_a_guest_votes_on_nothing_and_a_click_says_why(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            answer = await bot.ask()
            slack.react(WHERE, answer.ts, "guest", "+1")
            await bot.vote(answer, "useful", "guest")
            assert bot.votes(answer.run) == {}
            assert "Guests of this workspace" in bot.whispers("guest")[0]


async def test_not_useful_asks_why_and_keeps_the_reason_masked(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            answer = await bot.ask()
            await bot.vote(answer, "not_useful")
            assert bot.modal()["callback_id"] == "why_not"
            await bot.submit({"reason": "wrong_cause", "note": "it was the proxy, password=hunter22hunter"})
            (vote,) = bot.desk.feedback.votes(answer.run.run_id)
            assert vote.reason is not None
            assert vote.reason.startswith("wrong_cause: it was the proxy")
            assert "hunter22" not in vote.reason
            assert slack.views("ana") == []


async def test_a_thumb_down_is_asked_why_by_a_button(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            answer = await bot.ask()
            slack.react(WHERE, answer.ts, "ana", "-1")
            await bot.settled()
            (whisper,) = slack.ephemerals(WHERE, "ana")
            slack.click(WHERE, whisper["ts"], "why_not", "ana")
            await bot.settled()
            await bot.submit({"reason": "missing"})
            assert [one.reason for one in bot.desk.feedback.votes(answer.run.run_id)] == ["missing"]


async def test_an_answer_that_did_not_pass_becomes_a_draft_until_a_person_edits_it(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Partly()) as bot:
            answer = await bot.ask()
            await bot.vote(answer, "useful")
            assert answer.run.verdict == "LOW_CONFID"
            assert "draft" in bot.whispers()[0]
            await _edit(bot, answer, {"title": "Pool too small", "root_cause": "The pool was set to 5"})
            slack.react(WHERE, answer.ts, "ana", "+1")
            slack.unreact(WHERE, answer.ts, "ana", "+1")
            await bot.settled()
            case = bot.case(answer.run)
            assert case is not None
            assert (case.title, case.root_cause, case.created_by) == ("Pool too small", "The pool was set to 5", ANA)
            assert (case.status, case.is_edited, bot.votes(answer.run)) == ("active", True, {ANA: None})


async def _edit(bot: AnsweredBot, answer: Answer, values: dict[str, str]) -> None:
    (whisper,) = bot.slack.ephemerals(WHERE, "ana")
    bot.slack.click(WHERE, whisper["ts"], "edit_case", "ana")
    await bot.settled()
    assert bot.modal()["callback_id"] == "edit_case"
    await bot.submit(values)


async def test_a_form_that_is_sent_after_its_run_is_gone_says_so(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            answer = await bot.ask()
            await bot.vote(answer, "not_useful")
            Retention(sqlite_database).purge_run(answer.run.run_id)
            await bot.submit({"reason": "other"})
            assert "no longer stored" in str(bot.modal()["blocks"])
            await bot.vote(answer, "useful")
            assert "no longer stored" in bot.whispers()[-1]
            assert slack.refused == []


async def test_two_people_may_disagree(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            answer = await bot.ask()
            await bot.vote(answer, "useful")
            slack.react(WHERE, answer.ts, "ben", "-1::skin-tone-3")
            await bot.settled()
            assert bot.desk.trace.run(answer.run.run_id).feedback == "mixed"
            case = bot.case(answer.run)
            assert case is not None
            assert (case.voted_down, case.is_offered) == (True, False)


async def test_a_thumb_on_the_progress_counts_when_the_run_has_ended(sqlite_database: Database) -> None:
    model = Incident(waits_in="composer")
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, model) as bot:
            ts = slack.post(WHERE, "ana", f"{slack.mention} why is checkout slow?")
            await model.waiting.wait()
            progress = await slack.wait_for(
                lambda: [each for each in slack.messages(WHERE, ts) if each.get("user") == slack.bot_user_id]
            )
            slack.react(WHERE, progress[0]["ts"], "ana", "+1")
            await slack.wait_for(lambda: bot.whispers())
            assert bot.desk.cases.list() == []
            model.gate.set()
            answer = await bot.answer(WHERE, ts)
            assert bot.case(answer.run) is not None
