"""A run has one owner, whoever asks, however often, from however many processes."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from trace_rows import END, STEP, claimed, queued

from storage.engine import Database
from storage.errors import LeaseLost
from storage.trace import TraceStore

CLAIM_ALL = """
import sys
from storage.engine import Database
from storage.trace import TraceStore
db = Database(sys.argv[1])
store = TraceStore(db)
print("ready", flush=True)
sys.stdin.readline()
for run_id in sys.argv[3:]:
    if store.claim(run_id, sys.argv[2], 60):
        print(run_id, flush=True)
db.close()
"""


def test_a_claim_gives_the_first_attempt_and_a_deadline(database: Database) -> None:
    store = queued(database, deadline_seconds=180)
    lease = claimed(store)
    run = store.run("run-1")
    assert (lease.run_id, lease.attempt, lease.owner, run.status) == ("run-1", 1, "worker", "RUNNING")
    assert run.started_at is not None
    assert lease.deadline == run.started_at + timedelta(seconds=180) == run.deadline
    assert run.lease_until is not None
    assert run.lease_until - run.started_at == timedelta(seconds=60)


def test_a_run_with_a_live_lease_is_not_recovered(database: Database) -> None:
    store = queued(database)
    claimed(store)
    assert store.claim("run-1", "another", 60) is None


def test_an_expired_lease_is_recovered_with_the_deadline_it_had(database: Database) -> None:
    store = queued(database)
    first = claimed(store, lease_seconds=-0.001)
    second = claimed(store, owner="another")
    assert (second.attempt, second.deadline) == (2, first.deadline)


def test_a_renewed_lease_lives(database: Database) -> None:
    store = queued(database)
    store.renew(claimed(store, lease_seconds=-1), 60)
    assert store.claim("run-1", "another", 60) is None


def test_an_ended_run_is_never_claimed(database: Database) -> None:
    store = queued(database)
    store.finish_run(claimed(store), END)
    assert store.claim("run-1", "another", 60) is None


def test_an_unknown_run_is_not_claimed(database: Database) -> None:
    assert TraceStore(database).claim("nobody", "worker", 60) is None


def test_a_queued_run_that_is_stopped_is_cancelled_and_never_claimed(database: Database) -> None:
    store = queued(database)
    store.request_cancel("run-1")
    run = store.run("run-1")
    assert run.status == "CANCELLED"
    assert run.finished_at is not None
    assert run.finished_at == run.cancel_requested_at
    assert store.claim("run-1", "worker", 60) is None


def test_a_running_run_learns_that_it_is_stopped(database: Database) -> None:
    store = queued(database)
    lease = claimed(store)
    assert store.cancel_requested("run-1") is False
    store.request_cancel("run-1")
    assert store.cancel_requested("run-1") is True
    assert store.run("run-1").status == "RUNNING"
    store.renew(lease, 60)


def test_stopping_an_ended_run_changes_nothing(database: Database) -> None:
    store = queued(database)
    store.finish_run(claimed(store), END)
    before = store.run("run-1")
    store.request_cancel("run-1")
    assert store.run("run-1") == before


def test_eight_threads_get_each_run_once(database: Database) -> None:
    names = [f"run-{number}" for number in range(10)]
    for name in names:
        store = queued(database, name)
    with ThreadPoolExecutor(8) as threads:
        got = threads.map(lambda owner: [name for name in names if store.claim(name, f"w{owner}", 60)], range(8))
        assert sorted(name for each in got for name in each) == names


def test_two_processes_get_each_run_once(database: Database, database_url: str) -> None:
    names = [f"run-{number}" for number in range(30)]
    for name in names:
        queued(database, name)
    workers = [start_claiming(database_url, owner, names) for owner in ("left", "right")]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    outputs = [worker.communicate(timeout=60)[0].split() for worker in workers]
    assert sorted(outputs[0] + outputs[1]) == sorted(names)
    assert [worker.returncode for worker in workers] == [0, 0]


def start_claiming(url: str, owner: str, names: list[str]) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", CLAIM_ALL, url, owner, *names]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_steps_of_an_old_owner_stop_at_the_moment_of_the_claim(database: Database) -> None:
    """Writers race with a claim: whatever the old owner wrote is older than the new owner's first look."""
    store = queued(database)
    old = claimed(store, lease_seconds=-1)
    nothing = threading.Event()

    def write_until_lost() -> int:
        for written in range(5000):
            nothing.wait(0.002)  # SQLite is unfair: writers without a pause would keep the claim out
            try:
                store.add_step(old, STEP)
            except LeaseLost:
                return written
        return pytest.fail("the lease was never lost")

    with ThreadPoolExecutor(2) as threads:
        writers = [threads.submit(write_until_lost) for _ in range(2)]
        while len(store.steps("run-1")) < 5 and not any(writer.done() for writer in writers):
            pass
        claimed(store, owner="another")
        seen = len(store.steps("run-1"))
        assert sum(writer.result() for writer in writers) == seen
    assert [step.step_index for step in store.steps("run-1")] == list(range(1, seen + 1))
