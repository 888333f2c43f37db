"""Runs that nobody finishes: those of a terminal are ended, those of Slack and of alerts are taken up again."""

from __future__ import annotations

from small_incident import request, scripted, world
from sqlalchemy import text

from bot.jobs import new_run, submit
from bot.timetable.recovering import end_abandoned
from storage.engine import Database
from storage.jobs import JobKey, JobStore, NewJob
from storage.sessions import Thread
from storage.trace import TraceStore


def aged(db: Database) -> None:
    with db.begin() as connection:
        connection.execute(text("UPDATE diagnosis_run SET created_at = '2026-01-01 00:00:00.000000'"))
        connection.execute(text("UPDATE diagnosis_run SET lease_until = created_at WHERE lease_until IS NOT NULL"))


async def test_a_terminals_run_that_was_left_alone_for_a_day_is_ended(database: Database) -> None:
    place, store = world(database, scripted()).place, TraceStore(database)
    waits, works = [await submit(request("Why?"), place) for _ in range(2)]
    store.claim(works, "gone", 30)
    assert await end_abandoned(place) == 0
    aged(database)
    assert await end_abandoned(place) == 2
    assert await end_abandoned(place) == 0
    for run_id in (waits, works):
        run = store.run(run_id)
        assert (run.status, run.verdict) == ("FAILED", "REJECT")
        assert "ended" in (run.answer or "")


async def test_a_run_of_slack_is_left_to_the_queue(database: Database) -> None:
    place = world(database, scripted()).place
    thread = Thread("T1", "C1", "1.1")
    run = new_run(request("Why?", session_id=thread.session_id), place)
    JobStore(database).add(NewJob(JobKey("T1", "C1", "1.1", "mention"), run, thread, "U1"))
    aged(database)
    assert await end_abandoned(place) == 0
    assert [job.run_id for job in JobStore(database).next_ready(5)] == [run.run_id]
