"""Slack jobs for tests: one request a call, all fields filled."""

from dataclasses import replace
from typing import Any

from trace_rows import RUN

from storage.jobs import JobKey, NewJob
from storage.sessions import Thread

THREAD = Thread("T1", "C1", "1700000000.000100")


def new_job(number: int = 1, thread: Thread = THREAD, trigger: str = "mention", **changes: Any) -> NewJob:
    """The request of the message `number` of a thread."""
    run = replace(RUN, run_id=f"run-{number}", session_id=thread.session_id)
    key = JobKey(thread.team, thread.channel, f"1700000000.{number:06}", trigger)
    job = NewJob(key, run, thread, "U1", f"Ev{number}", None, {"kind": "channel", "text": "为什么慢"})
    return replace(job, **changes)
