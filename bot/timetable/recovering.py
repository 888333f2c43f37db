"""Stale runs: those of jobs are the queue's to take up again; those of a terminal that is gone are ended here."""

from __future__ import annotations

import logging

from bot.jobs import Workplace
from bot.timetable.language import schedule_words
from storage.abandoned import abandoned_runs
from storage.trace import RunResult, TraceStore

# `ask --resume` has a day.
QUIET_SECONDS = 86_400.0

log = logging.getLogger(__name__)


async def end_abandoned(place: Workplace) -> int:
    """How many were ended. Left as they are, they would count as running for ever, and no retention deletes what runs."""
    store = TraceStore(place.db)
    ended = 0
    for run_id in await place.db.call(abandoned_runs, place.db, QUIET_SECONDS):
        lease = await place.db.call(store.claim, run_id, place.owner, place.limits.lease_seconds)
        if lease is None:
            continue
        run = await place.db.call(store.run, run_id)
        text = schedule_words(place.replies).text(run.language, "run_abandoned")
        await place.db.call(store.finish_run, lease, RunResult.failed(text, "abandoned", run.state))
        log.info("run %s was abandoned, and is ended", run_id)
        ended += 1
    return ended
