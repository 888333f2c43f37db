"""The statements of the trace, built once: building one costs more than running it on SQLite.

Every write of a run starts with FENCE. On MySQL it locks the run's row; on SQLite the clause is dropped, and
BEGIN IMMEDIATE (storage/database.py) has locked the file already. Either way no other claim comes in between.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sqlalchemy import (
    String,
    and_,
    bindparam,
    case,
    func,
    insert,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.sql.elements import ColumnElement

from storage.models import agent_step, diagnosis_run, tool_invocation
from storage.prepared import Prepared
from storage.records import InvocationResult, NewInvocation, NewRun, NewStep, Run, RunResult, Step, StoredInvocation
from storage.types import InSeconds, JsonWithKey, database_now


def names(record: type) -> list[str]:
    return [field.name for field in fields(record)]


run, step, call = diagnosis_run.c, agent_step.c, tool_invocation.c
THIS_RUN = run.run_id == bindparam("the_run")
OWNED = and_(THIS_RUN, run.attempt == bindparam("the_attempt"), run.status == "RUNNING")
UNFINISHED = run.status.in_(["QUEUED", "RUNNING"])
RENAMED: dict[str, ColumnElement[Any]] = {
    "zone": run.time_zone,
    "deadline": run.deadline_at,
    "finished": call.finished_at.is_not(None),
}

CREATE_RUN = Prepared(
    insert(diagnosis_run).values(status="QUEUED", attempt=0, created_at=database_now()),
    ["time_zone" if name == "zone" else name for name in names(NewRun)],
)


def run_values(new: NewRun) -> dict[str, Any]:
    """The parameters of CREATE_RUN."""
    values = {name: getattr(new, name) for name in names(NewRun)}
    values["time_zone"] = values.pop("zone")
    return values


# SQLAlchemy sets in the table's order, MySQL sees what was set before: no value here reads another column that is set.
CLAIM = (
    update(diagnosis_run)
    .where(THIS_RUN, or_(run.status == "QUEUED", and_(run.status == "RUNNING", run.lease_until < database_now())))
    .values(
        status="RUNNING",
        attempt=run.attempt + 1,
        lease_owner=bindparam("owner"),
        lease_until=InSeconds(bindparam("lease_seconds")),
        started_at=func.coalesce(run.started_at, database_now()),
        deadline_at=func.coalesce(run.deadline_at, InSeconds(run.deadline_seconds)),
    )
)
CLAIMED = select(run.attempt, run.deadline_at).where(THIS_RUN)

LEASED = update(diagnosis_run).where(OWNED).values(lease_until=InSeconds(bindparam("lease_seconds")))
RENEW = Prepared(LEASED)
CHECKPOINT = Prepared(LEASED.values(state=bindparam("new_state"), next_node=bindparam("new_node")))
FINISH = Prepared(
    update(diagnosis_run)
    .where(OWNED)
    .values(next_node=null(), lease_owner=null(), lease_until=null(), finished_at=database_now()),
    names(RunResult),
)

FENCE = Prepared(select(run.attempt).where(OWNED).with_for_update())
LAST_INDEX = select(func.max(step.step_index)).where(step.run_id == run.run_id).scalar_subquery()
FENCE_AND_INDEX = Prepared(select(func.coalesce(LAST_INDEX, 0) + 1).where(OWNED).with_for_update())
ADD_STEP = Prepared(
    insert(agent_step).values(created_at=database_now()),
    [*names(NewStep), "run_id", "attempt", "step_index", "token_count"],
)

START_CALL = Prepared(
    insert(tool_invocation).values(started_at=database_now()), [*names(NewInvocation), "run_id", "attempt"]
)
SAME_CALL = Prepared(
    select(call.id, call.finished_at.is_not(None)).where(
        call.run_id == bindparam("the_run"),
        *(call[name] == bindparam(f"the_{name}") for name in ("node", "round", "sequence", "arguments_hash")),
    )
)
RESTART_CALL = Prepared(
    update(tool_invocation)
    .where(call.id == bindparam("the_id"))
    .values(step_id=bindparam("new_step"), attempt=bindparam("new_attempt"), started_at=database_now())
)
FINISH_CALL = Prepared(
    update(tool_invocation)
    .where(call.id == bindparam("the_id"), call.run_id == bindparam("the_run"), call.finished_at.is_(None))
    .values(finished_at=database_now()),
    names(InvocationResult),
)

# One statement, so that writers of different keys cannot overwrite each other. Never a merge patch: it deletes the
# nulls inside the value.
SET_KEY = update(diagnosis_run).values(
    self_evaluation=JsonWithKey(
        run.self_evaluation, bindparam("the_path", type_=String), bindparam("the_json", type_=String)
    )
)
PUT_EVALUATION = Prepared(SET_KEY.where(THIS_RUN))
PUT_OWN_EVALUATION = Prepared(SET_KEY.where(THIS_RUN, run.attempt == bindparam("the_attempt")))

# Nobody owns a queued run, so it ends at once; a running one ends when its owner looks. MySQL sets from left to right,
# so the status, which decides the others, comes last.
IF_QUEUED = run.status == "QUEUED"
CANCEL = (
    update(diagnosis_run)
    .where(THIS_RUN, UNFINISHED)
    .ordered_values(
        (run.cancel_requested_at, func.coalesce(run.cancel_requested_at, database_now())),
        (run.finished_at, case((IF_QUEUED, database_now()), else_=run.finished_at)),
        (run.status, case((IF_QUEUED, "CANCELLED"), else_=run.status)),
    )
)
CANCEL_REQUESTED = select(run.cancel_requested_at.is_not(None)).where(THIS_RUN)


def columns_of(record: type, columns: Any) -> list[ColumnElement[Any]]:
    """The columns of a record in the order of its fields, so that a row can be splatted into it."""
    return [RENAMED[field.name] if field.name in RENAMED else columns[field.name] for field in fields(record)]


RUNS = select(*columns_of(Run, run))
ONE_RUN = RUNS.where(THIS_RUN)
RECENT_RUNS = RUNS.order_by(run.id.desc()).limit(bindparam("the_limit"))
RUNS_OF_SESSION = RUNS.where(run.session_id == bindparam("the_session")).order_by(run.id)
STEPS = select(*columns_of(Step, step)).where(step.run_id == bindparam("the_run")).order_by(step.step_index)
CALLS = (
    select(*columns_of(StoredInvocation, call))
    .where(call.run_id == bindparam("the_run"))
    .order_by(call.round, call.sequence, call.id)
)
