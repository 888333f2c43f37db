"""The tables of the Slack bot: jobs, what it has seen and posted, votes, cases, and what was spent (DESIGN §8)."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, String, UniqueConstraint

from storage.models import diagnosis_run
from storage.types import BigKey, ExactJson, LongText, Real, UtcDateTime, table

# One row a run that somebody asked for in Slack. The run's own row says how far it is.
job = table(
    "job",
    Column("id", BigKey, primary_key=True),
    Column("run_id", String(64), ForeignKey(diagnosis_run.c.run_id), nullable=False, unique=True),
    Column("team", String(32), nullable=False),
    Column("channel", String(32), nullable=False),
    Column("ts", String(64), nullable=False),
    # TRIGGER is a reserved word of MySQL.
    Column("trigger_name", String(64), nullable=False),
    Column("event_id", String(64), unique=True),
    Column("thread_ts", String(32), nullable=False),
    Column("user_id", String(32)),
    Column("reply_to", String(64)),
    Column("details", ExactJson, nullable=False),
    Column("placed_at", UtcDateTime, nullable=False),
    Column("charged_at", UtcDateTime),
    # Who is bringing the answer into the thread: a process may die between the run's end and its post.
    Column("delivery_owner", String(128)),
    Column("delivery_until", UtcDateTime),
    Column("answered_at", UtcDateTime),
    UniqueConstraint("team", "channel", "ts", "trigger_name", name="uq_job_key"),
    Index(None, "answered_at"),
    Index(None, "user_id"),
)

# Keys of events that started nothing: never their text.
slack_event = table(
    "slack_event",
    Column("event_key", String(128), primary_key=True),
    Column("seen_at", UtcDateTime, nullable=False),
    Index(None, "seen_at"),
)

# Slack gives reactions on a reply without its thread: what we posted must be findable by its own ts.
slack_message = table(
    "slack_message",
    Column("id", BigKey, primary_key=True),
    Column("run_id", String(64), ForeignKey(diagnosis_run.c.run_id), nullable=False),
    Column("part", String(32), nullable=False),
    Column("channel", String(32), nullable=False),
    Column("ts", String(32), nullable=False),
    Column("posted_at", UtcDateTime, nullable=False),
    UniqueConstraint("channel", "ts"),
    Index(None, "run_id"),
)

# One row a person and run. A withdrawn vote stays as a row without a vote: an older event that comes late finds it.
feedback = table(
    "feedback",
    Column("id", BigKey, primary_key=True),
    Column("run_id", String(64), ForeignKey(diagnosis_run.c.run_id), nullable=False),
    Column("user_id", String(32), nullable=False),
    Column("vote", String(16)),
    Column("source", String(16), nullable=False),
    Column("reason", LongText),
    Column("voted_at", UtcDateTime, nullable=False),
    UniqueConstraint("run_id", "user_id"),
    Index(None, "user_id"),
)

# No foreign key to the run: a case that a person edited outlives it.
case_library = table(
    "case_library",
    Column("id", BigKey, primary_key=True),
    Column("case_id", String(64), nullable=False, unique=True),
    Column("diagnosis_id", String(64), nullable=False, unique=True),
    Column("source_type", String(16), nullable=False),
    Column("fault_category", String(64), nullable=False),
    Column("title", String(100), nullable=False),
    Column("root_cause", LongText, nullable=False),
    Column("solution", LongText, nullable=False),
    Column("created_by", String(64), nullable=False),
    Column("status", String(16), nullable=False),
    # The one who took it back: "system" where no vote was left, else a person, whose word stands.
    Column("retracted_by", String(64)),
    Column("voted_down", Boolean, nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("language", String(16), nullable=False),
    # Where it comes from, and who may find it again: all, or its own channel alone.
    Column("team", String(32)),
    Column("channel", String(32)),
    Column("thread_ts", String(32)),
    Column("is_private", Boolean, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index(None, "status"),
)

# A useful run as a scenario, whole: the run itself may be gone by the time somebody replays it.
frozen_scenario = table(
    "frozen_scenario",
    Column("id", BigKey, primary_key=True),
    Column("run_id", String(64), nullable=False, unique=True),
    Column("document", LongText, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

# What a day cost a workspace or a person. `cost` stays null as long as no price is known.
budget = table(
    "budget",
    Column("day", String(10), primary_key=True),
    Column("scope", String(96), primary_key=True),
    Column("tokens", BigInteger, nullable=False),
    Column("cost", Real),
    Column("runs", Integer, nullable=False),
)
