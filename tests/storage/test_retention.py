"""What is purged goes whole and in order; what a person edited, and what still runs, stays."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from slack_jobs import THREAD, new_job
from trace_rows import ANSWER, CALL, END, STEP, claimed

from storage.budget import BudgetStore, Spent, person, workspace
from storage.cases import CaseStore, CaseText, NewCase
from storage.engine import Database
from storage.errors import LeaseLost, RunNotFound
from storage.feedback import FeedbackStore
from storage.frozen import FrozenScenarios
from storage.jobs import JobStore
from storage.retention import Purged, Retention
from storage.sessions import SessionStore, Thread
from storage.trace import TraceStore

NOW = datetime.now(UTC)
LATER, EARLIER = NOW + timedelta(hours=1), NOW - timedelta(hours=1)
OTHER = Thread("T1", "C2", "1700000000.000200")
TEXT = CaseText("slow", "the pool", "more")


def whole_run(database: Database, number: int = 1, thread: Thread = THREAD, user: str = "U1") -> None:
    """A run with a row in every table."""
    run_id = f"run-{number}"
    jobs, trace = JobStore(database), TraceStore(database)
    jobs.add(new_job(number, thread, user_id=user))
    lease = claimed(trace, run_id)
    step = trace.add_step(lease, STEP)
    trace.finish_invocation(lease, trace.start_invocation(lease, replace(CALL, step_id=step.id)), ANSWER)
    trace.finish_run(lease, END)
    jobs.posted(run_id, "answer", thread.channel, f"9.{number}")
    FeedbackStore(database).vote(run_id, user, "useful", "button", NOW)
    new = NewCase(f"case-{number}", run_id, TEXT, "active", "PASS", "en", "T1", thread.channel, thread.ts, False)
    CaseStore(database).save(new)
    FrozenScenarios(database).freeze(run_id, "{}")


WHOLE = Purged(
    runs=1, sessions=1, steps=1, invocations=1, jobs=1, messages=1, votes=1, cases=1, scenarios=1, case_ids=("case-1",)
)


def test_a_run_goes_with_all_that_hangs_on_it(database: Database) -> None:
    whole_run(database)
    assert Retention(database).purge_run("run-1") == WHOLE
    with pytest.raises(RunNotFound):
        TraceStore(database).run("run-1")
    assert CaseStore(database).list() == []
    assert FrozenScenarios(database).get("run-1") is None


def test_a_run_that_is_not_there_is_said(database: Database) -> None:
    with pytest.raises(RunNotFound, match="nobody"):
        Retention(database).purge_run("nobody")


def test_the_same_request_may_come_again_after_a_purge(database: Database) -> None:
    whole_run(database)
    Retention(database).purge_run("run-1")
    whole_run(database)
    assert Retention(database).purge_run("run-1") == WHOLE


def test_a_running_run_can_be_purged_and_its_worker_learns_it(database: Database) -> None:
    JobStore(database).add(new_job(1))
    trace = TraceStore(database)
    lease = claimed(trace)
    assert Retention(database).purge_run("run-1").runs == 1
    with pytest.raises(LeaseLost):
        trace.add_step(lease, STEP)


def test_what_is_old_goes_and_what_is_new_stays(database: Database) -> None:
    whole_run(database)
    retention = Retention(database)
    assert retention.purge_before(EARLIER) == Purged()
    assert retention.purge_before(LATER) == WHOLE


def test_what_waits_or_runs_stays_however_old(database: Database) -> None:
    for number in (1, 2):
        JobStore(database).add(new_job(number))
    claimed(TraceStore(database), "run-1")
    assert Retention(database).purge_before(LATER) == Purged()


def test_an_edited_case_and_its_scenario_outlive_their_run(database: Database) -> None:
    whole_run(database)
    CaseStore(database).edit("run-1", TEXT, "U7")
    purged = Retention(database).purge_before(LATER)
    assert (purged.runs, purged.cases, purged.scenarios, purged.case_ids) == (1, 0, 0, ())
    assert CaseStore(database).get("run-1").is_edited
    assert FrozenScenarios(database).get("run-1") == "{}"


def test_keys_days_and_empty_threads_go_by_age(database: Database) -> None:
    JobStore(database).note_event("Ev9")
    BudgetStore(database).spend(date(2020, 1, 1), workspace("T1"), 1, None)
    SessionStore(database).open_thread(OTHER, "en", "UTC")
    retention = Retention(database)
    assert retention.purge_before(EARLIER) == Purged(budget_days=1)
    assert retention.purge_before(LATER) == Purged(events=1, sessions=1)


def test_more_runs_than_a_batch_go(database: Database) -> None:
    jobs, trace = JobStore(database), TraceStore(database)
    for number in range(120):
        jobs.add(new_job(number))
        trace.request_cancel(f"run-{number}")
    purged = Retention(database).purge_before(LATER)
    assert (purged.runs, purged.jobs, purged.sessions) == (120, 120, 1)


def test_a_persons_runs_votes_spending_and_name_go(database: Database) -> None:
    whole_run(database, 1, THREAD, "U1")
    whole_run(database, 2, OTHER, "U2")
    votes, budgets, sessions = FeedbackStore(database), BudgetStore(database), SessionStore(database)
    votes.vote("run-2", "U1", "not_useful", "reaction", NOW)
    CaseStore(database).edit("run-2", TEXT, "U1")
    sessions.addressed(OTHER.session_id, "U1", NOW)
    for name in ("U1", "XU1"):
        budgets.spend(NOW.date(), person("T1", name), 5, None)
    purged = Retention(database).purge_user("U1")
    assert (purged.runs, purged.sessions, purged.votes, purged.budget_days) == (1, 1, 2, 1)
    assert [run.run_id for run in TraceStore(database).recent_runs(9)] == ["run-2"]
    assert (votes.tally("run-2").not_useful, TraceStore(database).run("run-2").feedback) == (0, "useful")
    case = CaseStore(database).get("run-2")
    assert (case.created_by, case.voted_down) == ("deleted", False)
    session = sessions.of_thread(OTHER)
    assert session is not None
    assert (session.addressed_by, session.speakers) == (None, ())
    assert budgets.spent(NOW.date(), person("T1", "XU1")) == Spent(5, None, 1)


def test_a_name_in_another_name_is_somebody_else(database: Database) -> None:
    sessions = SessionStore(database)
    sessions.open_thread(THREAD, "en", "UTC")
    sessions.addressed(THREAD.session_id, "XU1", NOW)
    Retention(database).purge_user("U1")
    session = sessions.of_thread(THREAD)
    assert session is not None
    assert session.speakers == ("XU1",)


def test_two_processes_that_delete_at_once_delete_everything_once(database: Database) -> None:
    for number in range(1, 13):
        whole_run(database, number, Thread("T1", "C1", f"1700000000.{number:06}"))
    with ThreadPoolExecutor(2) as processes:
        done = [processes.submit(Retention(database).purge_before, LATER) for _ in range(2)]
        purged = [each.result() for each in done]
    assert sum(each.runs for each in purged) == 12
    assert sorted(case for each in purged for case in each.case_ids) == sorted(f"case-{number}" for number in range(1, 13))
    assert TraceStore(database).recent_runs(20) == []
    assert Retention(database).ended_before(LATER) == 0
