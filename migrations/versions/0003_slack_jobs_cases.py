"""Slack jobs and messages, votes, cases, frozen scenarios, budgets; who speaks in a thread."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0003"
down_revision = "0002"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
INSTANT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
TABLE = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin", "mysql_engine": "InnoDB"}


def upgrade() -> None:
    op.add_column("chat_session", sa.Column("addressed_at", INSTANT, nullable=True))
    op.add_column("chat_session", sa.Column("addressed_by", sa.String(length=32), nullable=True))
    op.add_column("chat_session", sa.Column("speakers", TEXT, nullable=True))
    op.create_table("budget",
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("scope", sa.String(length=96), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("day", "scope", name="pk_budget"),
        **TABLE,
    )
    op.create_table("case_library",
        sa.Column("id", KEY, nullable=False),
        sa.Column("case_id", sa.String(length=64), nullable=False),
        sa.Column("diagnosis_id", sa.String(length=64), nullable=False),
        sa.Column("source_type", sa.String(length=16), nullable=False),
        sa.Column("fault_category", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=100), nullable=False),
        sa.Column("root_cause", TEXT, nullable=False),
        sa.Column("solution", TEXT, nullable=False),
        sa.Column("created_by", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("retracted_by", sa.String(length=64), nullable=True),
        sa.Column("voted_down", sa.Boolean(), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("language", sa.String(length=16), nullable=False),
        sa.Column("team", sa.String(length=32), nullable=True),
        sa.Column("channel", sa.String(length=32), nullable=True),
        sa.Column("thread_ts", sa.String(length=32), nullable=True),
        sa.Column("is_private", sa.Boolean(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_case_library"),
        sa.UniqueConstraint("case_id", name="uq_case_library_case_id"),
        sa.UniqueConstraint("diagnosis_id", name="uq_case_library_diagnosis_id"),
        **TABLE,
    )
    op.create_index("ix_case_library_status", "case_library", ["status"], unique=False)
    op.create_table("frozen_scenario",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("document", TEXT, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frozen_scenario"),
        sa.UniqueConstraint("run_id", name="uq_frozen_scenario_run_id"),
        **TABLE,
    )
    op.create_table("slack_event",
        sa.Column("event_key", sa.String(length=128), nullable=False),
        sa.Column("seen_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("event_key", name="pk_slack_event"),
        **TABLE,
    )
    op.create_index("ix_slack_event_seen_at", "slack_event", ["seen_at"], unique=False)
    op.create_table("feedback",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("vote", sa.String(length=16), nullable=True),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("reason", TEXT, nullable=True),
        sa.Column("voted_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["diagnosis_run.run_id"], name="fk_feedback_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_feedback"),
        sa.UniqueConstraint("run_id", "user_id", name="uq_feedback_run_id_user_id"),
        **TABLE,
    )
    op.create_index("ix_feedback_user_id", "feedback", ["user_id"], unique=False)
    op.create_table("job",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("team", sa.String(length=32), nullable=False),
        sa.Column("channel", sa.String(length=32), nullable=False),
        sa.Column("ts", sa.String(length=64), nullable=False),
        sa.Column("trigger_name", sa.String(length=64), nullable=False),
        sa.Column("event_id", sa.String(length=64), nullable=True),
        sa.Column("thread_ts", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=True),
        sa.Column("reply_to", sa.String(length=64), nullable=True),
        sa.Column("details", TEXT, nullable=False),
        sa.Column("placed_at", INSTANT, nullable=False),
        sa.Column("charged_at", INSTANT, nullable=True),
        sa.Column("delivery_owner", sa.String(length=128), nullable=True),
        sa.Column("delivery_until", INSTANT, nullable=True),
        sa.Column("answered_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["diagnosis_run.run_id"], name="fk_job_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_job"),
        sa.UniqueConstraint("run_id", name="uq_job_run_id"),
        sa.UniqueConstraint("event_id", name="uq_job_event_id"),
        sa.UniqueConstraint("team", "channel", "ts", "trigger_name", name="uq_job_key"),
        **TABLE,
    )
    op.create_index("ix_job_answered_at", "job", ["answered_at"], unique=False)
    op.create_index("ix_job_user_id", "job", ["user_id"], unique=False)
    op.create_table("slack_message",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("part", sa.String(length=32), nullable=False),
        sa.Column("channel", sa.String(length=32), nullable=False),
        sa.Column("ts", sa.String(length=32), nullable=False),
        sa.Column("posted_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["diagnosis_run.run_id"], name="fk_slack_message_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_slack_message"),
        sa.UniqueConstraint("channel", "ts", name="uq_slack_message_channel_ts"),
        **TABLE,
    )
    op.create_index("ix_slack_message_run_id", "slack_message", ["run_id"], unique=False)


def downgrade() -> None:
    # Tables go whole: MariaDB refuses to drop an index that a foreign key needs.
    for name in ("slack_message", "job", "feedback", "slack_event", "frozen_scenario", "case_library", "budget"):
        op.drop_table(name)
    for name in ("speakers", "addressed_by", "addressed_at"):
        op.drop_column("chat_session", name)
