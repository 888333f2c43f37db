"""The one place that writes runs, steps and invocations, and the only way to read them.

Synchronous: call it through `Database.call` from async code. A step is one transaction, an invocation two, a checkpoint
one. Each write of a run proves its lease inside its transaction, or raises LeaseLost and writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, Executable

from storage import trace_sql as sql
from storage.database import Database
from storage.errors import LeaseLost, RunNotFound, StorageConflict
from storage.evaluation_value import evaluation_parameters
from storage.prepared import Prepared, Writer
from storage.records import (
    InvocationResult,
    Lease,
    NewInvocation,
    NewRun,
    NewStep,
    Run,
    RunResult,
    Step,
    StoredInvocation,
)

__all__ = [
    "InvocationResult",
    "Lease",
    "NewInvocation",
    "NewRun",
    "NewStep",
    "Run",
    "RunResult",
    "Step",
    "StoredInvocation",
    "TraceStore",
]

KEY = ("node", "round", "sequence", "arguments_hash")


class TraceStore:
    """All methods raise StorageUnavailable where the database is away, and LeaseLost where they take a lease."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # ---------------------------------------------------------------- a run's life

    def create_run(self, new: NewRun) -> None:
        """A QUEUED run. Raises StorageConflict where the id is taken or the session is unknown."""
        self._db.write(lambda writer: writer.run(sql.CREATE_RUN, sql.run_values(new)))

    def claim(self, run_id: str, owner: str, lease_seconds: float) -> Lease | None:
        """Take a queued run, or a running one whose lease has run out on the database's clock. None = somebody has it,
        or it has ended."""
        return self._db.transact(lambda connection: _claim(connection, run_id, owner, lease_seconds))

    def renew(self, lease: Lease, lease_seconds: float) -> None:
        self._owned_update(lease, sql.RENEW, lease_seconds=lease_seconds)

    def checkpoint(self, lease: Lease, state: str, next_node: str, lease_seconds: float) -> None:
        """What a process that takes over starts from; renews the lease as well."""
        self._owned_update(lease, sql.CHECKPOINT, new_state=state, new_node=next_node, lease_seconds=lease_seconds)

    def finish_run(self, lease: Lease, result: RunResult) -> None:
        """The end: later writes with this lease raise LeaseLost, save put_evaluation."""
        self._owned_update(lease, sql.FINISH, **_values(result))

    def request_cancel(self, run_id: str) -> None:
        """A queued run is CANCELLED at once, a running one when its owner looks; an ended one stays as it is."""
        if not self._db.transact(lambda connection: _count(connection, sql.CANCEL, {"the_run": run_id})):
            self.run(run_id)

    def cancel_requested(self, run_id: str) -> bool:
        with self._db.read() as connection:
            return bool(connection.execute(sql.CANCEL_REQUESTED, {"the_run": run_id}).scalar())

    # ---------------------------------------------------------------- its trace

    def add_step(self, lease: Lease, new: NewStep) -> Step:
        return self._db.write(lambda writer: _add_step(writer, lease, new))

    def start_invocation(self, lease: Lease, new: NewInvocation) -> int:
        """Record a call before it is made; gives its id. A call that died unanswered keeps its row and id.

        Raises StorageConflict where the same call has its answer: replay it instead.
        """
        return self._db.write(lambda writer: _start_call(writer, lease, new))

    def finish_invocation(self, lease: Lease, invocation_id: int, result: InvocationResult) -> None:
        """Record the answer, once: evidence never changes after it was seen."""
        self._db.write(lambda writer: _finish_call(writer, lease, invocation_id, result))

    def put_evaluation(self, run_id: str, key: str, value: dict[str, Any], lease: Lease | None = None) -> None:
        """Set one top-level key of self_evaluation, leaving the others alone whoever writes them at the same time."""
        values = {"the_run": run_id} | evaluation_parameters(key, value)
        if lease is not None:
            self._owned_update(lease, sql.PUT_OWN_EVALUATION, **values)
        elif not self._db.write(lambda writer: writer.run(sql.PUT_EVALUATION, values).rowcount):
            raise RunNotFound(f"No run {run_id!r} is stored in {self._db.shown_url}.")

    # ---------------------------------------------------------------- reading

    def run(self, run_id: str) -> Run:
        with self._db.read() as connection:
            row = connection.execute(sql.ONE_RUN, {"the_run": run_id}).first()
        if row is None:
            raise RunNotFound(f"No run {run_id!r} is stored in {self._db.shown_url}.")
        return Run(*row)

    def recent_runs(self, limit: int) -> list[Run]:
        """Newest first."""
        with self._db.read() as connection:
            return [Run(*row) for row in connection.execute(sql.RECENT_RUNS, {"the_limit": limit})]

    def steps(self, run_id: str) -> list[Step]:
        with self._db.read() as connection:
            return [Step(*row) for row in connection.execute(sql.STEPS, {"the_run": run_id})]

    def invocations(self, run_id: str) -> list[StoredInvocation]:
        """By (round, sequence), unanswered ones included."""
        with self._db.read() as connection:
            return [_stored(row) for row in connection.execute(sql.CALLS, {"the_run": run_id})]

    def _owned_update(self, lease: Lease, statement: Prepared, **values: Any) -> None:
        if not self._db.write(lambda writer: writer.run(statement, _owner(lease) | values).rowcount):
            raise _lost(lease)


def _claim(connection: Connection, run_id: str, owner: str, lease_seconds: float) -> Lease | None:
    run = {"the_run": run_id}
    if not _count(connection, sql.CLAIM, run | {"owner": owner, "lease_seconds": lease_seconds}):
        return None
    attempt, deadline = connection.execute(sql.CLAIMED, run).one()
    return Lease(run_id, attempt, owner, deadline)


def _add_step(writer: Writer, lease: Lease, new: NewStep) -> Step:
    row = writer.run(sql.FENCE_AND_INDEX, _owner(lease)).fetchone()
    if row is None:
        raise _lost(lease)
    values = _values(new)
    stored = values | {
        "run_id": lease.run_id,
        "attempt": lease.attempt,
        "step_index": row[0],
        "token_count": new.token_count,
    }
    step_id = writer.run(sql.ADD_STEP, stored).lastrowid
    return Step(**values, id=step_id, run_id=lease.run_id, step_index=row[0])


def _start_call(writer: Writer, lease: Lease, new: NewInvocation) -> int:
    _fence(writer, lease)
    known = writer.run(sql.SAME_CALL, {"the_run": lease.run_id} | {f"the_{name}": getattr(new, name) for name in KEY})
    row = known.fetchone()
    if row is not None:
        return _restart_call(writer, lease, new, *row)
    values = _values(new) | {"run_id": lease.run_id, "attempt": lease.attempt}
    return writer.run(sql.START_CALL, values).lastrowid


def _restart_call(writer: Writer, lease: Lease, new: NewInvocation, call_id: int, finished: int) -> int:
    if finished:
        raise StorageConflict(f"{new.tool_name} at {new.node}/{new.round}/{new.sequence} has its answer: replay it.")
    values = {"the_id": call_id, "new_step": new.step_id, "new_attempt": lease.attempt}
    writer.run(sql.RESTART_CALL, values)
    return call_id


def _finish_call(writer: Writer, lease: Lease, invocation_id: int, result: InvocationResult) -> None:
    _fence(writer, lease)
    values = _values(result) | {"the_id": invocation_id, "the_run": lease.run_id}
    if not writer.run(sql.FINISH_CALL, values).rowcount:
        raise StorageConflict(f"Invocation {invocation_id} of run {lease.run_id!r} has its answer or does not exist.")


def _stored(row: Sequence[Any]) -> StoredInvocation:
    values = dict(zip((field.name for field in fields(StoredInvocation)), row, strict=True))
    values["finished"] = bool(values["finished"])
    return StoredInvocation(**(values if values["finished"] else values | _blank()))


def _blank() -> dict[str, Any]:
    """What a call holds that nobody knows the answer of."""
    plain = {"output_preview": "", "output_length": 0, "is_truncated": False, "duration_ms": 0, "success": False}
    return plain | {"retrieval_details": {}, "payload": {}}


def _fence(writer: Writer, lease: Lease) -> None:
    if writer.run(sql.FENCE, _owner(lease)).fetchone() is None:
        raise _lost(lease)


def _count(connection: Connection, statement: Executable, values: dict[str, Any]) -> int:
    return connection.execute(statement, values).rowcount


def _owner(lease: Lease) -> dict[str, Any]:
    return {"the_run": lease.run_id, "the_attempt": lease.attempt}


def _lost(lease: Lease) -> LeaseLost:
    return LeaseLost(f"Attempt {lease.attempt} of run {lease.run_id!r} is over: the run ended or another worker has it.")


def _values(record: Any) -> dict[str, Any]:
    """A shallow asdict: the deep one would copy every payload."""
    return dict(vars(record))
