"""A useful run becomes a case and a frozen scenario; a withdrawn vote takes both back, a person's words stay."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from slack_jobs import THREAD
from small_incident import (
    POOL_LINE,
    QUESTION,
    draft,
    good_run,
    plan,
    request,
    scripted,
    skills,
    world,
)

from agents.llm.scripted import ScriptedCall, Turn
from bot.cases import Cases
from bot.errors import ConfigError
from bot.evaluation.frozen import recorded
from bot.evaluation.replay import write_scenario
from bot.jobs import execute, new_run
from storage.audience import Audience
from storage.cases import CaseStore, CaseText
from storage.engine import Database
from storage.errors import CaseNotFound, RunNotFound
from storage.feedback import FeedbackStore, Vote
from storage.frozen import FrozenScenarios
from storage.jobs import Added, JobKey, JobStore, NewJob
from storage.retention import Retention
from storage.sessions import Thread
from storage.trace import TraceStore
from tools.builtin.lookup_knowledge import TOOL as LOOKUP
from tools.contracts import ToolDeps
from tools.ingest import SyncDeps
from tools.redaction import Redactor
from tools.retrieval import Retriever
from tools.skills import SkillRegistry

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def press(db: Database, run_id: str, vote: Vote = "useful", user: str = "U1") -> None:
    FeedbackStore(db).vote(run_id, user, vote, "button", NOON)


def withdraw(db: Database, run_id: str, vote: Vote = "useful", user: str = "U1") -> None:
    FeedbackStore(db).retract(run_id, user, vote, "button", NOON)


def cases_of(db: Database, chosen: SkillRegistry | None = None) -> Cases:
    ids = iter(f"case-{number}" for number in range(100))
    return Cases(db, SyncDeps(db, str, "test"), chosen or skills(), Redactor().text, lambda: next(ids))


async def slack_run(db: Database, *turns: object, question: str = QUESTION) -> str:
    """A run that was asked for in a thread, worked through to its end where it has turns."""
    place = world(db, scripted(*turns)).place
    run = new_run(request(question, session_id=THREAD.session_id), place)
    added = JobStore(db).add(NewJob(JobKey("T1", "C1", "1.1", "mention"), run, THREAD, "U1"))
    assert isinstance(added, Added)
    if turns:
        await execute(added.run_id, place)
    return added.run_id


async def found(db: Database, audience: Audience) -> list[str]:
    lookup = await Retriever(db, cases=CaseStore(db)).lookup("HikariPool-1 connections", audience=audience)
    return [block.chunk.source for block in lookup.blocks]


async def test_a_useful_run_becomes_a_case_of_its_verified_cause_and_its_actions(database: Database) -> None:
    run_id = await slack_run(database, *good_run())
    press(database, run_id)
    case = await cases_of(database).after_vote(run_id, is_private=False)
    assert case is not None
    cause = "order-service ran out of connections: HikariPool-1 Connection is not available, connections pending max=42"
    assert (case.title, case.root_cause, case.solution) == (QUESTION, cause, "Set maximum-pool-size back")
    assert (case.status, case.verdict, case.source_type, case.created_by) == ("active", "PASS", "AUTO", "system")
    assert (case.team, case.channel, case.thread_ts, case.is_private) == ("T1", "C1", THREAD.ts, False)
    assert await found(database, Audience("T1", "C2")) == ["case case-0"]


async def test_the_skill_that_led_to_the_cause_gives_the_category(sqlite_database: Database) -> None:
    run_id = await slack_run(sqlite_database, *good_run())
    pool = skills().read("connection-pool")
    assert pool is not None
    named = SkillRegistry([replace(pool, metadata={"fault_category": "CONNECTION_POOL"})])
    with_category = await cases_of(sqlite_database, named).draft(run_id)
    without = await cases_of(sqlite_database).draft(run_id)
    assert (with_category.fault_category, without.fault_category) == ("CONNECTION_POOL", "GENERAL")


async def test_a_long_question_is_cut_to_the_title(sqlite_database: Database) -> None:
    run_id = await slack_run(sqlite_database, *good_run(), question="Why is checkout\n slow? " + "🐢" * 200)
    draft_text = await cases_of(sqlite_database).draft(run_id)
    assert draft_text.title == ("Why is checkout slow? " + "🐢" * 200)[:100]


async def test_a_case_twice_voted_for_is_one_case(sqlite_database: Database) -> None:
    run_id = await slack_run(sqlite_database, *good_run())
    cases = cases_of(sqlite_database)
    press(sqlite_database, run_id)
    first = await cases.after_vote(run_id, is_private=False)
    press(sqlite_database, run_id, user="U2")
    assert await cases.after_vote(run_id, is_private=False) == first
    assert len(CaseStore(sqlite_database).list()) == 1


async def test_the_last_vote_withdrawn_takes_case_search_and_scenario_back(database: Database) -> None:
    run_id = await slack_run(database, *good_run())
    cases = cases_of(database)
    press(database, run_id)
    await cases.after_vote(run_id, is_private=False)
    assert FrozenScenarios(database).get(run_id) is not None
    withdraw(database, run_id)
    case = await cases.after_vote(run_id, is_private=False)
    assert case is not None
    assert case.status == "retracted"
    assert await found(database, Audience("T1", "C1")) == []
    assert FrozenScenarios(database).get(run_id) is None
    press(database, run_id)
    again = await cases.after_vote(run_id, is_private=False)
    assert again is not None
    assert (again.case_id, again.status) == (case.case_id, "active")
    assert await found(database, Audience("T1", "C1")) == [f"case {case.case_id}"]


async def test_an_edited_case_and_its_scenario_stay_when_votes_go(sqlite_database: Database) -> None:
    run_id = await slack_run(sqlite_database, *good_run())
    cases = cases_of(sqlite_database)
    press(sqlite_database, run_id)
    await cases.after_vote(run_id, is_private=False)
    await cases.edit(run_id, CaseText("Pool", "HikariPool-1 shrank", "revert"), "U1")
    withdraw(sqlite_database, run_id)
    case = await cases.after_vote(run_id, is_private=False)
    assert case is not None
    assert (case.status, case.created_by) == ("active", "U1")
    assert FrozenScenarios(sqlite_database).get(run_id) is not None


async def test_editing_before_anybody_votes_makes_the_case(sqlite_database: Database) -> None:
    run_id = await slack_run(sqlite_database, *good_run())
    cases = cases_of(sqlite_database)
    text = await cases.draft(run_id)
    case = await cases.edit(run_id, replace(text, solution="Set it to 30"), "U1", is_private=True)
    assert (case.status, case.is_edited, case.solution, case.is_private) == ("active", True, "Set it to 30", True)
    assert await cases.draft(run_id) == case.text


async def test_secrets_that_a_person_types_are_masked(sqlite_database: Database) -> None:
    run_id = await slack_run(sqlite_database, *good_run())
    text = CaseText("Pool", "password=hunter2hunter2", "token: ghp_0123456789abcdefghijABCDEFGHIJ456789")
    case = await cases_of(sqlite_database).edit(run_id, text, "U1")
    assert "hunter2" not in case.root_cause
    assert "ghp_" not in case.solution


async def test_a_run_that_proved_nothing_is_a_draft_with_its_answer(sqlite_database: Database) -> None:
    run_id = await slack_run(sqlite_database, plan(), draft(), plan(), draft())
    press(sqlite_database, run_id)
    case = await cases_of(sqlite_database).after_vote(run_id, is_private=False)
    run = TraceStore(sqlite_database).run(run_id)
    assert case is not None
    assert run.verdict in ("LOW_CONFID", "REJECT")
    assert (case.status, case.root_cause, case.fault_category) == ("draft", run.answer, "GENERAL")
    assert await found(sqlite_database, Audience("T1", "C1")) == []


async def test_a_case_voted_down_leaves_the_search_and_comes_back(sqlite_database: Database) -> None:
    run_id = await slack_run(sqlite_database, *good_run())
    cases = cases_of(sqlite_database)

    async def seen() -> bool:
        await cases.after_vote(run_id, is_private=False)
        return bool(await found(sqlite_database, Audience("T1", "C1")))

    press(sqlite_database, run_id)
    assert await seen()
    press(sqlite_database, run_id, "not_useful", "U2")
    assert not await seen()
    withdraw(sqlite_database, run_id, "not_useful", "U2")
    assert await seen()


async def test_people_who_press_at_once_make_one_case_that_is_found(database: Database) -> None:
    run_id = await slack_run(database, *good_run())
    cases = cases_of(database)

    async def pressed(number: int) -> None:
        await database.call(press, database, run_id, "useful", f"U{number}")
        await cases.after_vote(run_id, is_private=False)

    await asyncio.gather(*map(pressed, range(6)))
    [case] = CaseStore(database).list()
    assert case.is_offered
    assert await found(database, Audience("T1", "C1")) == [f"case {case.case_id}"]


async def test_a_run_that_has_not_ended_is_no_case_yet(sqlite_database: Database) -> None:
    run_id = await slack_run(sqlite_database)
    press(sqlite_database, run_id)
    assert await cases_of(sqlite_database).after_vote(run_id, is_private=False) is None


async def test_what_is_gone_is_said(sqlite_database: Database) -> None:
    cases = cases_of(sqlite_database)
    with pytest.raises(RunNotFound):
        await cases.after_vote("nobody", is_private=False)
    with pytest.raises(RunNotFound):
        await cases.edit("nobody", CaseText("a", "b", "c"), "U1")
    with pytest.raises(RunNotFound):
        await cases.draft("nobody")
    with pytest.raises(CaseNotFound):
        await cases.retract("nobody", "U1")


@pytest.mark.parametrize(("channel", "sees"), [("C1", True), ("C2", False)])
async def test_a_later_run_finds_a_private_channels_case_in_that_channel_alone(
    sqlite_database: Database, channel: str, sees: bool
) -> None:
    db = sqlite_database
    run_id = await slack_run(db, *good_run())
    press(db, run_id)
    await cases_of(db).after_vote(run_id, is_private=True)
    look_up = ScriptedCall(name="lookup_knowledge", arguments={"query": "HikariPool-1 connections"})
    place = world(db, scripted(plan(), Turn(role="executor", tool_calls=(look_up,))), tools=[LOOKUP], prefix="later").place
    retriever = Retriever(db, cases=CaseStore(db))
    thread = Thread("T1", channel, "1700000009.000100")
    place = replace(place, tools=ToolDeps(skills=skills(), retriever=retriever))
    run = new_run(request(session_id=thread.session_id), place)
    JobStore(db).add(NewJob(JobKey("T1", channel, "9.1", "mention"), run, thread, "U2"))
    await execute(run.run_id, place)
    [call] = TraceStore(db).invocations(run.run_id)
    assert (call.retrieval_details["evidence_status"] == "supported") is sees
    assert ("Set maximum-pool-size back" in str(call.payload)) is sees


# ---------------------------------------------------------------- frozen


async def test_a_frozen_run_is_recorded_whole_when_its_rows_are_gone(database: Database, tmp_path: Path) -> None:
    run_id = await slack_run(database, *good_run())
    cases = cases_of(database)
    press(database, run_id)
    await cases.after_vote(run_id, is_private=False)
    case = await cases.edit(run_id, CaseText("Pool", "shrank", "revert"), "U1")
    before = recorded(database, run_id)
    Retention(database).purge_before(datetime.now(UTC) + timedelta(hours=1))
    assert recorded(database, run_id) == recorded(database, case.case_id) == before
    assert POOL_LINE.split("ERROR ")[1].split(" ", 1)[1] in before.quotes[0]
    assert before.document["expected_statements"]
    scenario = write_scenario(before, tmp_path / "scenario")
    assert scenario.file.expect.verdict_in == ("PASS",)
    assert {tool.name for tool in scenario.file.world.tools} == {"query_logs", "query_metrics", "query_changes"}


async def test_a_run_without_rows_or_frozen_form_cannot_be_replayed(sqlite_database: Database) -> None:
    with pytest.raises(RunNotFound):
        recorded(sqlite_database, "nobody")
    FrozenScenarios(sqlite_database).freeze("old", '{"id": "of another form"}')
    with pytest.raises(ConfigError, match="another version"):
        recorded(sqlite_database, "old")
