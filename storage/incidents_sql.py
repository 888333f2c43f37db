"""The statements of storage/incidents.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import and_, bindparam, case, delete, exists, func, insert, or_, select, update

from storage.models import diagnosis_run
from storage.models_incidents import alert, incident, incident_run
from storage.types import InSeconds, UtcDateTime, database_now

row, run, placed = incident.c, diagnosis_run.c, incident_run.c
# A place that was taken for a run which nobody made: its process died in between.
LOST_SECONDS = 60

INCIDENT_COLUMNS = (
    "incident_id", "occurrence", "team", "channel", "root_ts", "status", "title", "severity", "lead", "entities",
    "alert_count", "post_count", "firing_count", "opened_at", "last_seen_at", "grown_at", "resolved_at", "due_at", "run_id",
    "placed_at", "not_run_reason", "queue_position", "verdict", "reported_at", "flaps", "turns", "previous_id",
    "merged_into", "told", "told_dirty", "changes",
)  # fmt: skip
ALERT_COLUMNS = (
    "incident_id", "fingerprint", "status", "document", "first_ts", "last_ts", "weight", "most",
    "first_seen_at", "last_seen_at", "resolved_at",
)  # fmt: skip

INCIDENTS = select(*(row[name] for name in INCIDENT_COLUMNS))
ALERTS = select(*(alert.c[name] for name in ALERT_COLUMNS))

ONE = INCIDENTS.where(row.incident_id == bindparam("the_incident"))
# The latest of a thread that has had several: an incident past its window opens another one in the same thread.
OF_THREAD = (
    INCIDENTS.where(
        row.team == bindparam("the_team"), row.channel == bindparam("the_channel"), row.root_ts == bindparam("the_ts")
    )
    .order_by(row.merged_into.is_not(None), row.id.desc())
    .limit(1)
)
OF_RUN = INCIDENTS.join_from(incident, incident_run, row.incident_id == placed.incident_id).where(
    placed.run_id == bindparam("the_run")
)
OPEN = INCIDENTS.where(row.status == "open").order_by(row.opened_at, row.id)

RANK = case({"critical": 0, "high": 1, "warning": 2, "info": 4}, value=row.severity, else_=3)
UNMADE = and_(row.placed_at < InSeconds(-LOST_SECONDS), ~exists().where(run.run_id == row.run_id))
MAY_RUN = and_(row.status == "open", row.not_run_reason.is_(None), or_(row.run_id.is_(None), UNMADE))
DUE = INCIDENTS.where(MAY_RUN, row.due_at <= bindparam("the_limit")).order_by(RANK, row.due_at, row.id)

THIS = and_(row.incident_id == bindparam("the_incident"), row.occurrence == bindparam("the_occurrence"))
MAY = select(row.id).where(THIS, MAY_RUN)
# In MySQL an assignment sees those to its left: `changes` counts up on its own.
CHANGED: Mapping[str, Any] = {"changes": row.changes + 1, "told_dirty": True}
ATTACH = (
    update(incident)
    .where(THIS, MAY_RUN)
    .values(run_id=bindparam("the_run"), placed_at=database_now(), verdict=None, queue_position=None, **CHANGED)
)
PLACE = insert(incident_run).values(placed_at=database_now())
SKIP = (
    update(incident)
    .where(THIS, or_(row.run_id.is_(None), UNMADE))
    .values(not_run_reason=bindparam("the_reason"), run_id=None, queue_position=None, **CHANGED)
)
# A place that was taken for a run which is not to be made: the hour's runs do not count it.
GIVE_BACK = (
    update(incident)
    .where(row.run_id == bindparam("the_run"), ~exists().where(run.run_id == row.run_id))
    .values(run_id=None, placed_at=None, not_run_reason=bindparam("the_reason"), **CHANGED)
)
GIVEN_BACK = delete(incident_run).where(placed.run_id == bindparam("the_run"))
QUEUE = (
    update(incident)
    .where(
        THIS,
        row.run_id.is_(None),
        or_(row.queue_position.is_(None), row.queue_position != bindparam("the_position")),
    )
    .values(queue_position=bindparam("the_position"), **CHANGED)
)
# What it still counts as firing shows later that no notice ended it.
LEAVE = (
    update(incident)
    .where(row.status == "open", row.merged_into.is_(None), row.last_seen_at < bindparam("the_limit", type_=UtcDateTime()))
    .values(status="resolved", resolved_at=row.last_seen_at, due_at=None, queue_position=None, **CHANGED)
)
END_PLACE = (
    update(incident_run)
    .where(placed.run_id == bindparam("the_run"), placed.ended_at.is_(None))
    .values(ended_at=database_now(), verdict=bindparam("the_verdict"))
)
# Also where the incident has ended and fired again since, and no other run is on it.
END = (
    update(incident)
    .where(
        row.incident_id == select(placed.incident_id).where(placed.run_id == bindparam("the_run")).scalar_subquery(),
        or_(row.run_id == bindparam("the_run"), row.run_id.is_(None)),
    )
    .values(verdict=bindparam("the_verdict"), reported_at=database_now(), **CHANGED)
)
UNENDED = (
    select(placed.run_id, run.verdict)
    .join_from(incident_run, diagnosis_run, run.run_id == placed.run_id)
    .where(
        placed.ended_at.is_(None),
        run.status.not_in(["QUEUED", "RUNNING"]),
        run.finished_at < InSeconds(bindparam("since_seconds")),
    )
)

UNTAKEN = or_(row.teller_until.is_(None), row.teller_until <= database_now())
DIRTY = (
    INCIDENTS.where(row.told_dirty.is_(True), UNTAKEN).order_by(RANK, row.last_seen_at, row.id).limit(bindparam("the_limit"))
)
TAKE_TELLING = (
    update(incident)
    .where(
        row.incident_id == bindparam("the_incident"),
        row.told_dirty.is_(True),
        or_(UNTAKEN, row.teller == bindparam("the_owner")),
    )
    .values(teller=bindparam("the_owner"), teller_until=InSeconds(bindparam("for_seconds")))
)
MINE = and_(row.incident_id == bindparam("the_incident"), row.teller == bindparam("the_owner"))
NOTE_TOLD = update(incident).where(MINE).values(told=bindparam("the_shown"))
TOLD = (
    update(incident)
    .where(MINE)
    .values(
        told=bindparam("the_shown"),
        told_dirty=row.changes > bindparam("the_changes"),
        teller=None,
        teller_until=InSeconds(bindparam("for_seconds")),
    )
)
LET_GO = update(incident).where(MINE).values(teller=None, teller_until=InSeconds(bindparam("for_seconds")))

RUNNING = select(func.count()).select_from(incident_run).outerjoin(diagnosis_run, run.run_id == placed.run_id)
RUNNING = RUNNING.where(
    placed.team == bindparam("the_team"),
    placed.ended_at.is_(None),
    or_(run.status.in_(["QUEUED", "RUNNING"]), and_(run.run_id.is_(None), placed.placed_at > InSeconds(-LOST_SECONDS))),
)
PLACED_SINCE = select(func.count()).select_from(incident_run)
PLACED_SINCE = PLACED_SINCE.where(
    placed.team == bindparam("the_team"), placed.placed_at > InSeconds(bindparam("since_seconds"))
)
