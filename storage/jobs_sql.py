"""The statements of the job table, built once. Adding a job is on the way of an ack, so it goes on the driver's cursor."""

from __future__ import annotations

from sqlalchemy import String, and_, bindparam, case, delete, exists, func, insert, or_, select, update

from storage.models import diagnosis_run
from storage.models_slack import job, slack_event, slack_message
from storage.prepared import Prepared
from storage.types import InSeconds, database_now

row, run, message = job.c, diagnosis_run.c, slack_message.c
earlier = diagnosis_run.alias("earlier")
UNFINISHED = ("QUEUED", "RUNNING")

SAME_JOB = Prepared(
    select(row.run_id).where(
        or_(
            and_(
                row.team == bindparam("team", type_=String),
                row.channel == bindparam("channel", type_=String),
                row.ts == bindparam("ts", type_=String),
                row.trigger_name == bindparam("trigger_name", type_=String),
            ),
            row.event_id == bindparam("event_id", type_=String),
        )
    )
)
ADD_JOB = Prepared(
    insert(job).values(placed_at=database_now()),
    ["run_id", "team", "channel", "ts", "trigger_name", "event_id", "thread_ts", "user_id", "reply_to", "details"],
)
NOTE_EVENT = Prepared(insert(slack_event).values(seen_at=database_now()), ["event_key"])

JOBS = select(
    row.run_id,
    run.session_id,
    row.team,
    row.channel,
    row.ts,
    row.trigger_name,
    row.event_id,
    row.thread_ts,
    row.user_id,
    row.reply_to,
    row.details,
    row.placed_at,
    row.answered_at,
    run.status,
    run.attempt,
    run.cancel_requested_at.is_not(None),
).join_from(job, diagnosis_run, row.run_id == run.run_id)
ONE_JOB = JOBS.where(row.run_id == bindparam("the_run"))

# A thread's runs go one after another: an earlier one that waits or runs comes first.
FIRST_OF_ITS_THREAD = ~exists().where(
    earlier.c.session_id == run.session_id, earlier.c.id < run.id, earlier.c.status.in_(UNFINISHED)
)
# Who asked goes first: a storm of alerts must not keep a person waiting.
IS_ALERTS = case((row.user_id.is_(None), 1), else_=0)
# Unanswered jobs are few, and have an index: both polls begin with them, however long the history.
READY = (
    JOBS.where(
        row.answered_at.is_(None),
        or_(run.status == "QUEUED", and_(run.status == "RUNNING", run.lease_until < database_now())),
        FIRST_OF_ITS_THREAD,
    )
    .order_by(IS_ALERTS, row.id)
    .limit(bindparam("the_limit"))
)
UNFINISHED_JOBS = JOBS.where(row.answered_at.is_(None), run.status.in_(UNFINISHED)).order_by(row.id)
WAITING = select(run.id, IS_ALERTS).join_from(job, diagnosis_run, row.run_id == run.run_id)
WAITING = WAITING.where(run.run_id == bindparam("the_run"), run.status == "QUEUED")
AHEAD = select(func.count()).join_from(job, diagnosis_run, row.run_id == run.run_id)
AHEAD = AHEAD.where(
    run.status == "QUEUED",
    or_(bindparam("the_class") > IS_ALERTS, and_(bindparam("the_class") == IS_ALERTS, run.id < bindparam("the_id"))),
)

UNTAKEN = or_(row.delivery_until.is_(None), row.delivery_until < database_now())
UNDELIVERED = (
    JOBS.where(
        row.answered_at.is_(None),
        run.status.not_in(UNFINISHED),
        run.finished_at < InSeconds(bindparam("since_seconds")),
        UNTAKEN,
    )
    .order_by(row.id)
    .limit(bindparam("the_limit"))
)
TAKE_DELIVERY = (
    update(job)
    .where(
        row.run_id == bindparam("the_run"),
        row.answered_at.is_(None),
        or_(UNTAKEN, row.delivery_owner == bindparam("the_owner")),
    )
    .values(delivery_owner=bindparam("the_owner"), delivery_until=InSeconds(bindparam("for_seconds")))
)
ANSWERED = (
    update(job)
    .where(row.run_id == bindparam("the_run"))
    .values(answered_at=func.coalesce(row.answered_at, database_now()), delivery_owner=None, delivery_until=None)
)

POST = insert(slack_message).values(posted_at=database_now())
MESSAGES = select(message.run_id, message.part, message.channel, message.ts, message.posted_at).order_by(message.id)
OF_RUN = MESSAGES.where(message.run_id == bindparam("the_run"))
AT = MESSAGES.where(message.channel == bindparam("the_channel"), message.ts == bindparam("the_ts"))
UNPOST = delete(slack_message).where(message.channel == bindparam("the_channel"), message.ts == bindparam("the_ts"))
