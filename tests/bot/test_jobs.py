"""From a request to a stored run: what is refused, what is masked, what is kept."""

import pytest
from small_incident import QUESTION, good_run, request, scripted, world

from agents.contracts import HistoryTurn
from agents.state import StateUnreadable, load_state
from bot.jobs import MAX_QUESTION_CHARS, RequestRefused, RunNotClaimed, execute, submit
from storage.engine import Database
from storage.errors import RunNotFound
from storage.sessions import SessionStore
from storage.trace import TraceStore


async def test_a_submitted_run_waits_in_the_database(database: Database) -> None:
    place = world(database, scripted()).place
    run_id = await submit(request(), place)
    run = TraceStore(database).run(run_id)
    assert (run.status, run.query, run.next_node, run.language, run.zone) == ("QUEUED", QUESTION, "PLANNER", "en", "UTC")
    session = SessionStore(database).get("session-1")
    assert session is not None
    assert session.terminal == "session-1"


async def test_a_whole_run_works_on_every_database(database: Database) -> None:
    place = world(database, scripted(*good_run())).place
    outcome = await execute(await submit(request(question="为什么结算慢？🐢", language="zh"), place), place)
    run = TraceStore(database).run(outcome.run_id)
    assert (run.status, run.query) == ("SUCCESS", "为什么结算慢？🐢")
    assert run.answer == outcome.answer


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("", "is empty"),
        ("  \n ", "is empty"),
        ("x" * (MAX_QUESTION_CHARS + 1), "Shorten it"),
        ("🐢" * 100_000, "8,000 is the limit"),
    ],
)
async def test_a_question_that_cannot_be_asked_says_what_to_change(
    sqlite_database: Database, question: str, says: str
) -> None:
    with pytest.raises(RequestRefused, match=says):
        await submit(request(question), world(sqlite_database, scripted()).place)


async def test_half_a_surrogate_pair_in_a_question_is_replaced(sqlite_database: Database) -> None:
    run_id = await submit(request("why \ud800 slow?"), world(sqlite_database, scripted()).place)
    assert TraceStore(sqlite_database).run(run_id).query == "why ? slow?"


async def test_secrets_of_the_history_are_masked(sqlite_database: Database) -> None:
    turn = HistoryTurn(role="user", text="the password=hunter2hunter2 works")
    run_id = await submit(request(history=(turn,)), world(sqlite_database, scripted()).place)
    state = load_state(TraceStore(sqlite_database).run(run_id).state)
    assert "hunter2" not in state.history[0].text


async def test_the_state_survives_its_json(sqlite_database: Database) -> None:
    run_id = await submit(request(history=(HistoryTurn(role="user", text="x"),)), world(sqlite_database, scripted()).place)
    state = load_state(TraceStore(sqlite_database).run(run_id).state)
    assert state.now == request().now
    assert state.walk.next_node == "PLANNER"


async def test_an_unknown_run_cannot_be_executed(sqlite_database: Database) -> None:
    with pytest.raises((RunNotClaimed, RunNotFound)):
        await execute("nobody", world(sqlite_database, scripted()).place)


async def test_a_zone_that_does_not_exist_is_refused(sqlite_database: Database) -> None:
    with pytest.raises(RequestRefused, match="Europe/Berlin"):
        await submit(request(zone="Mars/Olympus"), world(sqlite_database, scripted()).place)


async def test_a_run_whose_state_cannot_be_read_is_ended(sqlite_database: Database) -> None:
    place = world(sqlite_database, scripted()).place
    run_id = await submit(request(), place)
    store = TraceStore(sqlite_database)
    lease = store.claim(run_id, "older program", 0)
    assert lease is not None
    store.checkpoint(lease, '{"version": 99}', "PLANNER", 0)
    message = ""
    while "version 99" not in message:
        with pytest.raises(RunNotClaimed) as caught:
            await execute(run_id, place)
        message = str(caught.value)
    assert store.run(run_id).status == "FAILED"


def test_a_state_of_another_version_is_said_so() -> None:
    with pytest.raises(StateUnreadable, match="version 99"):
        load_state('{"version": 99}')
    with pytest.raises(StateUnreadable, match="damaged"):
        load_state('{"version": 1}')
    with pytest.raises(StateUnreadable, match="damaged"):
        load_state("[]")
