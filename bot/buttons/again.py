"""The question of an earlier run, asked again with more to go on."""

from __future__ import annotations

from datetime import datetime

from agents.state import StateUnreadable, load_state
from bot.buttons.clicks import Subject
from bot.desk import Asked, Desk
from storage.jobs import Added, Duplicate, JobKey
from tools.contracts import Addition


async def ask_again(
    desk: Desk,
    subject: Subject,
    message_ts: str,
    trigger: str,
    at: datetime,
    *,
    key: str = "",
    hours: int = 0,
    additions: tuple[Addition, ...] = (),
) -> Added | Duplicate:
    """`trigger` says what was pressed under the message, `key` which of several uses it is. `hours`: how far back to
    look. What was added to the earlier run comes along. Raises as Desk.submit."""
    job, run = subject.job, subject.run
    asked = str(job.details.get("asked") or run.query)
    question = desk.says(run.language, "wider_question", hours=hours, question=asked) if hours else asked
    return await desk.submit(
        Asked(
            key=JobKey(job.team, job.channel, message_ts or job.ts, f"{trigger}{'.' if key else ''}{key}"[:64]),
            thread=job.thread,
            person=subject.person,
            question=question,
            at=at,
            details={"trigger": trigger, "asked": asked, "after": run.run_id, "user_team": subject.person.team},
            additions=(*_before(run.state), *additions),
        )
    )


def _before(state: str) -> tuple[Addition, ...]:
    try:
        return load_state(state).additions
    except StateUnreadable:
        return ()
