"""A request becomes one job and one run, however often it arrives, and runs start in their order."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from slack_jobs import THREAD, new_job
from trace_rows import END, claimed

from storage.engine import Database
from storage.errors import RunNotFound, StorageConflict
from storage.jobs import Added, Duplicate, JobStore
from storage.sessions import SessionStore, Thread
from storage.trace import TraceStore

OTHER = Thread("T1", "C2", "1700000000.000200")

ADD_ALL = """
import sys
from dataclasses import replace
from slack_jobs import new_job
from storage.engine import Database
from storage.jobs import Added, JobStore
db = Database(sys.argv[1])
store = JobStore(db)
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    new = new_job(number)
    run = replace(new.run, run_id=f"{new.run.run_id}-{sys.argv[2]}")
    found = store.add(replace(new, run=run, event_id=f"{new.event_id}-{sys.argv[2]}"))
    print(number, type(found).__name__, found.run_id, flush=True)
db.close()
"""


def test_a_job_its_thread_and_its_run_are_stored_together(database: Database) -> None:
    store, new = JobStore(database), new_job()
    assert store.add(new) == Added("run-1")
    job = store.job("run-1")
    assert (job.key, job.thread, job.user_id, job.event_id) == (new.key, THREAD, "U1", "Ev1")
    assert (job.details, job.status, job.attempt, job.cancel_requested, job.answered_at) == (
        {"kind": "channel", "text": "为什么慢"}, "QUEUED", 0, False, None,
    )  # fmt: skip
    session = SessionStore(database).of_thread(THREAD)
    assert session is not None
    assert (session.session_id, session.team, session.channel, session.thread_ts) == (
        job.session_id, "T1", "C1", THREAD.ts,
    )  # fmt: skip
    assert TraceStore(database).run("run-1").session_id == session.session_id


def test_the_same_key_under_another_event_is_a_duplicate(database: Database) -> None:
    store, new = JobStore(database), new_job()
    store.add(new)
    again = replace(new, run=replace(new.run, run_id="run-other"), event_id="Ev-message")
    assert store.add(again) == Duplicate("run-1")


def test_the_same_event_under_another_key_is_a_duplicate(database: Database) -> None:
    store = JobStore(database)
    store.add(new_job(1))
    assert store.add(new_job(2, event_id="Ev1")) == Duplicate("run-1")


def test_another_trigger_on_the_same_message_is_a_job_of_its_own(database: Database) -> None:
    store, new = JobStore(database), new_job()
    store.add(new)
    wider = new_job(1, trigger="look_wider", event_id=None, run=replace(new.run, run_id="run-wider"))
    assert store.add(wider) == Added("run-wider")


def test_jobs_without_an_event_do_not_collide(database: Database) -> None:
    store = JobStore(database)
    assert [store.add(new_job(number, event_id=None)) for number in (1, 2)] == [Added("run-1"), Added("run-2")]


def test_a_taken_run_id_leaves_no_half_job(database: Database) -> None:
    store = JobStore(database)
    store.add(new_job(1))
    clash = new_job(2, thread=OTHER)
    with pytest.raises(StorageConflict):
        store.add(replace(clash, run=replace(clash.run, run_id="run-1")))
    assert SessionStore(database).of_thread(OTHER) is None


def test_a_run_of_another_session_is_refused(database: Database) -> None:
    new = new_job()
    with pytest.raises(ValueError, match="session"):
        JobStore(database).add(replace(new, run=replace(new.run, session_id="session-1")))


def test_many_threads_add_one_job(database: Database) -> None:
    store, new = JobStore(database), new_job()

    def add(number: int) -> Added | Duplicate:
        run = replace(new.run, run_id=f"run-{number}")
        return store.add(replace(new, run=run, event_id=f"Ev{number}"))

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(add, range(16)))
    assert sum(isinstance(one, Added) for one in found) == 1
    assert len({one.run_id for one in found}) == 1
    assert len(TraceStore(database).recent_runs(99)) == 1


def test_two_processes_add_each_job_once(database: Database, database_url: str) -> None:
    count = 40
    processes = [start_adding(database_url, name, count) for name in ("left", "right")]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    lines = [line.split() for process in processes for line in process.communicate(timeout=60)[0].splitlines()]
    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(int(number) for number, kind, _ in lines if kind == "Added") == list(range(count))
    assert len({(number, run) for number, _, run in lines}) == count


def start_adding(url: str, name: str, count: int) -> "subprocess.Popen[str]":
    path = {"PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", ADD_ALL, url, name, str(count)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=path)


def test_an_event_that_starts_nothing_is_noted_once(database: Database) -> None:
    store = JobStore(database)
    assert [store.note_event(key) for key in ("Ev1", "Ev1", "ev1")] == [True, False, True]


# ---------------------------------------------------------------- the line


def ready(store: JobStore) -> list[str]:
    return [job.run_id for job in store.next_ready(10)]


def test_a_threads_later_run_waits_for_the_earlier_one(database: Database) -> None:
    store, trace = JobStore(database), TraceStore(database)
    for number, thread in ((1, THREAD), (2, THREAD), (3, OTHER)):
        store.add(new_job(number, thread))
    assert ready(store) == ["run-1", "run-3"]
    lease = claimed(trace, "run-1")
    assert ready(store) == ["run-3"]
    trace.finish_run(lease, END)
    assert ready(store) == ["run-2", "run-3"]


def test_a_cancelled_run_lets_the_next_one_pass(database: Database) -> None:
    store = JobStore(database)
    for number in (1, 2):
        store.add(new_job(number))
    TraceStore(database).request_cancel("run-1")
    assert ready(store) == ["run-2"]


def test_only_an_expired_lease_makes_a_running_job_ready(database: Database) -> None:
    store, trace = JobStore(database), TraceStore(database)
    store.add(new_job(1))
    store.add(new_job(2, OTHER))
    claimed(trace, "run-1", lease_seconds=60)
    claimed(trace, "run-2", lease_seconds=-0.001)
    assert ready(store) == ["run-2"]


def test_the_oldest_are_ready_first_and_no_more_than_asked(database: Database) -> None:
    store = JobStore(database)
    for number in range(5):
        store.add(new_job(number, Thread("T1", "C1", f"1700000001.{number:06}")))
    assert [job.run_id for job in store.next_ready(3)] == ["run-0", "run-1", "run-2"]


def test_runs_that_nobody_asked_for_in_slack_are_not_ready(database: Database) -> None:
    from trace_rows import queued

    queued(database)
    assert ready(JobStore(database)) == []


def test_the_place_in_line_counts_those_before(database: Database) -> None:
    store = JobStore(database)
    for number in range(1, 5):
        store.add(new_job(number))
    claimed(TraceStore(database), "run-1")
    places = [store.place_in_line(f"run-{number}") for number in range(1, 6)]
    assert places == [0, 1, 2, 3, 0]


def test_a_person_goes_before_a_storm_of_alerts(database: Database) -> None:
    store = JobStore(database)
    for number in range(3):
        asked = new_job(number, Thread("T1", "C1", f"1700000001.{number:06}"))
        store.add(asked if number == 2 else replace(asked, user_id=None))
    assert ready(store) == ["run-2", "run-0", "run-1"]
    assert [store.place_in_line(f"run-{number}") for number in range(3)] == [2, 3, 1]


def test_what_waits_or_runs_is_told_by_thread(database: Database) -> None:
    store, trace = JobStore(database), TraceStore(database)
    for number, thread in ((1, THREAD), (2, THREAD), (3, OTHER), (4, THREAD)):
        store.add(new_job(number, thread))
    trace.finish_run(claimed(trace, "run-1"), END)
    claimed(trace, "run-2")
    assert [job.run_id for job in store.unfinished(THREAD)] == ["run-2", "run-4"]
    assert [job.run_id for job in store.unfinished()] == ["run-2", "run-3", "run-4"]


def test_an_unknown_job_is_not_found(database: Database) -> None:
    with pytest.raises(RunNotFound, match="nobody"):
        JobStore(database).job("nobody")


def test_recent_jobs_are_those_of_the_channels_asked_for(database: Database) -> None:
    store = JobStore(database)
    for number, thread in ((1, THREAD), (2, OTHER), (3, THREAD)):
        store.add(new_job(number, thread))
    found = store.recent(["C1"], 10)
    assert [(job.run_id, run.run_id, run.query) for job, run in found] == [
        (f"run-{number}", f"run-{number}", "why is checkout slow?") for number in (3, 1)
    ]
    assert store.recent([], 10) == []


# ---------------------------------------------------------------- the answer


def ended(database: Database, number: int = 1) -> JobStore:
    store, trace = JobStore(database), TraceStore(database)
    store.add(new_job(number))
    trace.finish_run(claimed(trace, f"run-{number}"), END)
    return store


def undelivered(store: JobStore, quiet_seconds: float = -1) -> list[str]:
    return [job.run_id for job in store.undelivered(10, quiet_seconds=quiet_seconds)]


def test_an_ended_run_is_undelivered_until_its_answer_stands(database: Database) -> None:
    store = ended(database)
    assert undelivered(store) == ["run-1"]
    store.answered("run-1")
    first = store.job("run-1").answered_at
    store.answered("run-1")
    assert (undelivered(store), store.job("run-1").answered_at) == ([], first)


def test_a_run_that_has_just_ended_is_left_to_its_worker(database: Database) -> None:
    assert undelivered(ended(database), quiet_seconds=30) == []


def test_a_waiting_run_that_was_cancelled_still_wants_its_word(database: Database) -> None:
    store = JobStore(database)
    store.add(new_job(1))
    assert undelivered(store) == []
    TraceStore(database).request_cancel("run-1")
    assert undelivered(store) == ["run-1"]


def test_one_delivers_at_a_time(database: Database) -> None:
    store = ended(database)
    assert [store.take_delivery("run-1", owner, 60) for owner in ("a", "b", "a")] == [True, False, True]
    assert undelivered(store) == []


def test_a_delivery_whose_time_is_over_is_taken_by_another(database: Database) -> None:
    store = ended(database)
    assert store.take_delivery("run-1", "a", -0.001)
    assert undelivered(store) == ["run-1"]
    assert store.take_delivery("run-1", "b", 60)


def test_an_answer_that_stands_is_not_delivered_again(database: Database) -> None:
    store = ended(database)
    store.answered("run-1")
    assert not store.take_delivery("run-1", "a", 60)


def test_a_message_of_ours_is_found_by_its_ts(database: Database) -> None:
    store = JobStore(database)
    store.add(new_job(1))
    store.posted("run-1", "progress", "C1", "1.1")
    store.posted("run-1", "answer", "C1", "1.2")
    store.posted("run-1", "answer", "C1", "1.2")
    assert [(one.part, one.ts) for one in store.messages("run-1")] == [("progress", "1.1"), ("answer", "1.2")]
    assert [store.run_of_message("C1", ts) for ts in ("1.1", "1.2", "9.9")] == ["run-1", "run-1", None]
    store.unposted("C1", "1.1")
    assert [one.part for one in store.messages("run-1")] == ["answer"]


def test_a_message_shows_one_run(database: Database) -> None:
    store = JobStore(database)
    for number in (1, 2):
        store.add(new_job(number))
    store.posted("run-1", "answer", "C1", "1.2")
    with pytest.raises(StorageConflict):
        store.posted("run-2", "answer", "C1", "1.2")
