"""Rows for tests of the trace, all fields filled; a test names only what it is about."""

from dataclasses import replace
from typing import Any

from storage.engine import Database
from storage.sessions import SessionStore
from storage.trace import InvocationResult, Lease, NewInvocation, NewRun, NewStep, RunResult, TraceStore

RUN = NewRun("run-1", "session-1", "CHAT", "why is checkout slow?", "en", "Europe/Berlin", '{"v": 1}', "PLANNER", 180)
STEP = NewStep(
    "session-1", "EXECUTOR", 1, 1, "hash", "executor", "scripted", "asked", "answered", "thought", True, 12, 100, 20, 80,
    0.25, "the whole request", "the whole reply", True, None,
)  # fmt: skip
CALL = NewInvocation("session-1", None, "EXECUTOR", 1, 1, "a" * 64, "query_logs", {"service": "order-service"})
DETAILS = {"evidence_status": "supported", "evidence_refs": [{"raw_path": "$.logs[0]", "text": "ERROR", "scope": {}}]}
ANSWER = InvocationResult(
    "preview", 5000, "L0", 3, 4, True, "high", "same window", DETAILS, {"logs": ["ERROR"]}, 40, True, "no error"
)
END = RunResult("SUCCESS", "The pool is too small.", "PASS", {"version": "1"}, 900, 120, 1, 1, 0.25, '{"v": 2}')


def queued(db: Database, run_id: str = "run-1", **changes: Any) -> TraceStore:
    """A queued run in its session."""
    SessionStore(db).open_terminal("session-1", "en", "Europe/Berlin")
    store = TraceStore(db)
    store.create_run(replace(RUN, run_id=run_id, **changes))
    return store


def claimed(store: TraceStore, run_id: str = "run-1", owner: str = "worker", lease_seconds: float = 60) -> Lease:
    lease = store.claim(run_id, owner, lease_seconds)
    assert lease is not None
    return lease
