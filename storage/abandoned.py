"""Runs that nobody will bring to an end: asked for at a terminal that is long gone."""

from __future__ import annotations

from sqlalchemy import and_, bindparam, exists, or_, select

from storage.database import Database
from storage.models import diagnosis_run
from storage.models_slack import job
from storage.types import InSeconds

run = diagnosis_run.c
LONG_AGO = InSeconds(bindparam("since_seconds"))
ABANDONED = (
    select(run.run_id)
    .where(
        ~exists().where(job.c.run_id == run.run_id),
        or_(
            and_(run.status == "RUNNING", run.lease_until < LONG_AGO),
            and_(run.status == "QUEUED", run.created_at < LONG_AGO),
        ),
    )
    .order_by(run.id)
    .limit(100)
)


def abandoned_runs(db: Database, quiet_seconds: float) -> list[str]:
    """Those without a job that nobody has touched for so long: jobs' runs are taken up again by the queue."""
    with db.read() as connection:
        return list(connection.execute(ABANDONED, {"since_seconds": -quiet_seconds}).scalars())
