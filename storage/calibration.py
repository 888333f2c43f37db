"""What the calibration digest counts: runs that ended within a time, with their votes and what they were about.

Synchronous: call it through `Database.call` from async code.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, case, func, select

from storage.database import Database
from storage.models import diagnosis_run
from storage.models_incidents import alert, incident, incident_run
from storage.models_slack import feedback, job

run, vote = diagnosis_run.c, feedback.c
ENDED = ("SUCCESS", "FAILED", "CANCELLED")


@dataclass(frozen=True)
class EndedRun:
    """`alert_name` is that of the alert that the run stayed on; None for a question, a patrol or a triage by command
    (`agent_flow`, `is_alert` and `from_slack` tell them apart), and where the alert has none. `cost` None = no price is
    known."""

    run_id: str
    agent_flow: str
    status: str
    verdict: str | None
    useful: int
    not_useful: int
    tokens: int
    cost: float | None
    duration_ms: int
    is_alert: bool
    alert_name: str | None
    from_slack: bool = True


VOTES = (
    select(
        vote.run_id,
        func.sum(case((vote.vote == "useful", 1), else_=0)).label("useful"),
        func.sum(case((vote.vote == "not_useful", 1), else_=0)).label("not_useful"),
    )
    .group_by(vote.run_id)
    .subquery()
)
# The alert to stay on may be another one by now: the incident's is near enough.
RUNS = (
    select(
        run.run_id,
        run.agent_flow,
        run.status,
        run.verdict,
        func.coalesce(VOTES.c.useful, 0),
        func.coalesce(VOTES.c.not_useful, 0),
        func.coalesce(run.total_token_count, 0),
        run.cost,
        func.coalesce(run.total_duration_ms, 0),
        incident_run.c.run_id.is_not(None),
        job.c.run_id.is_not(None),
        alert.c.document,
    )
    .select_from(diagnosis_run)
    .outerjoin(VOTES, VOTES.c.run_id == run.run_id)
    .outerjoin(job, job.c.run_id == run.run_id)
    .outerjoin(incident_run, incident_run.c.run_id == run.run_id)
    .outerjoin(incident, incident.c.incident_id == incident_run.c.incident_id)
    .outerjoin(alert, and_(alert.c.incident_id == incident.c.incident_id, alert.c.fingerprint == incident.c.lead))
    .order_by(run.id)
)


def ended_runs(db: Database, since: datetime, until: datetime) -> list[EndedRun]:
    """Those that ended from `since` on and before `until`, oldest first."""
    query = RUNS.where(run.status.in_(ENDED), run.finished_at >= since, run.finished_at < until)
    with db.read() as connection:
        return [_ended(row) for row in connection.execute(query)]


def _ended(row: Any) -> EndedRun:
    *plain, is_alert, from_slack, document = row
    run_id, flow, status, verdict, useful, not_useful, tokens, cost, duration = plain
    name = document.get("alert_name") if isinstance(document, dict) else None
    return EndedRun(
        run_id,
        flow,
        status,
        verdict,
        int(useful),
        int(not_useful),
        int(tokens),
        cost,
        int(duration),
        bool(is_alert),
        name,
        bool(from_slack),
    )
