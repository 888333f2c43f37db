"""Alert channels: alerts, incidents and their runs, posted changes, and how a channel is watched."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0004"
down_revision = "0003"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
INSTANT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
TABLE = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin", "mysql_engine": "InnoDB"}


def upgrade() -> None:
    op.create_table("change_event",
        sa.Column("id", KEY, nullable=False),
        sa.Column("team", sa.String(length=32), nullable=False),
        sa.Column("channel", sa.String(length=32), nullable=False),
        sa.Column("ts", sa.String(length=32), nullable=False),
        sa.Column("summary", TEXT, nullable=False),
        sa.Column("service", sa.String(length=255), nullable=True),
        sa.Column("details", TEXT, nullable=False),
        sa.Column("happened_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_change_event"),
        sa.UniqueConstraint("team", "channel", "ts", name="uq_change_event_team_channel_ts"),
        **TABLE,
    )
    op.create_index("ix_change_event_team_happened_at", "change_event", ["team", "happened_at"], unique=False)
    op.create_table("channel_watch",
        sa.Column("id", KEY, nullable=False),
        sa.Column("team", sa.String(length=32), nullable=False),
        sa.Column("channel", sa.String(length=32), nullable=False),
        sa.Column("watched", sa.Boolean(), nullable=True),
        sa.Column("muted_until", INSTANT, nullable=True),
        sa.Column("shadow_channel", sa.String(length=32), nullable=True),
        sa.Column("changed_by", sa.String(length=32), nullable=True),
        sa.Column("changed_at", INSTANT, nullable=True),
        sa.Column("free_at", INSTANT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_channel_watch"),
        sa.UniqueConstraint("team", "channel", name="uq_channel_watch_team_channel"),
        **TABLE,
    )
    op.create_table("incident",
        sa.Column("id", KEY, nullable=False),
        sa.Column("incident_id", sa.String(length=64), nullable=False),
        sa.Column("occurrence", sa.Integer(), nullable=False),
        sa.Column("team", sa.String(length=32), nullable=False),
        sa.Column("channel", sa.String(length=32), nullable=False),
        sa.Column("root_ts", sa.String(length=32), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("severity", sa.String(length=16), nullable=True),
        sa.Column("lead", sa.String(length=128), nullable=False),
        sa.Column("entities", TEXT, nullable=False),
        sa.Column("alert_count", sa.Integer(), nullable=False),
        sa.Column("post_count", sa.Integer(), nullable=False),
        sa.Column("firing_count", sa.Integer(), nullable=False),
        sa.Column("opened_at", INSTANT, nullable=False),
        sa.Column("last_seen_at", INSTANT, nullable=False),
        sa.Column("grown_at", INSTANT, nullable=False),
        sa.Column("resolved_at", INSTANT, nullable=True),
        sa.Column("due_at", INSTANT, nullable=True),
        sa.Column("run_id", sa.String(length=64), nullable=True),
        sa.Column("placed_at", INSTANT, nullable=True),
        sa.Column("not_run_reason", sa.String(length=64), nullable=True),
        sa.Column("queue_position", sa.Integer(), nullable=True),
        sa.Column("verdict", sa.String(length=16), nullable=True),
        sa.Column("reported_at", INSTANT, nullable=True),
        sa.Column("flaps", sa.Integer(), nullable=False),
        sa.Column("turns", TEXT, nullable=False),
        sa.Column("previous_id", sa.String(length=64), nullable=True),
        sa.Column("merged_into", sa.String(length=64), nullable=True),
        sa.Column("told", TEXT, nullable=False),
        sa.Column("told_dirty", sa.Boolean(), nullable=False),
        sa.Column("changes", sa.Integer(), nullable=False),
        sa.Column("teller", sa.String(length=128), nullable=True),
        sa.Column("teller_until", INSTANT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_incident"),
        sa.UniqueConstraint("incident_id", name="uq_incident_incident_id"),
        **TABLE,
    )
    op.create_index("ix_incident_last_seen_at", "incident", ["last_seen_at"], unique=False)
    op.create_index("ix_incident_run_id", "incident", ["run_id"], unique=False)
    op.create_index("ix_incident_status_due_at", "incident", ["status", "due_at"], unique=False)
    op.create_index("ix_incident_team_channel_last_seen_at", "incident", ["team", "channel", "last_seen_at"], unique=False)
    op.create_index("ix_incident_team_channel_root_ts", "incident", ["team", "channel", "root_ts"], unique=False)
    op.create_index("ix_incident_told_dirty", "incident", ["told_dirty"], unique=False)
    op.create_table("alert",
        sa.Column("id", KEY, nullable=False),
        sa.Column("incident_id", sa.String(length=64), nullable=False),
        sa.Column("team", sa.String(length=32), nullable=False),
        sa.Column("channel", sa.String(length=32), nullable=False),
        sa.Column("fingerprint", sa.String(length=128), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("document", TEXT, nullable=False),
        sa.Column("first_ts", sa.String(length=32), nullable=False),
        sa.Column("last_ts", sa.String(length=32), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("most", sa.Integer(), nullable=False),
        sa.Column("first_seen_at", INSTANT, nullable=False),
        sa.Column("last_seen_at", INSTANT, nullable=False),
        sa.Column("resolved_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(["incident_id"], ["incident.incident_id"], name="fk_alert_incident_id"),
        sa.PrimaryKeyConstraint("id", name="pk_alert"),
        sa.UniqueConstraint("incident_id", "fingerprint", name="uq_alert_incident_id_fingerprint"),
        **TABLE,
    )
    op.create_index("ix_alert_team_channel_fingerprint", "alert", ["team", "channel", "fingerprint"], unique=False)
    op.create_table("incident_run",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("incident_id", sa.String(length=64), nullable=False),
        sa.Column("occurrence", sa.Integer(), nullable=False),
        sa.Column("team", sa.String(length=32), nullable=False),
        sa.Column("severity", sa.String(length=16), nullable=True),
        sa.Column("placed_at", INSTANT, nullable=False),
        sa.Column("ended_at", INSTANT, nullable=True),
        sa.Column("verdict", sa.String(length=16), nullable=True),
        sa.ForeignKeyConstraint(["incident_id"], ["incident.incident_id"], name="fk_incident_run_incident_id"),
        sa.PrimaryKeyConstraint("run_id", name="pk_incident_run"),
        **TABLE,
    )
    op.create_index("ix_incident_run_ended_at", "incident_run", ["ended_at"], unique=False)
    op.create_index("ix_incident_run_incident_id", "incident_run", ["incident_id"], unique=False)
    op.create_index("ix_incident_run_team_placed_at", "incident_run", ["team", "placed_at"], unique=False)


def downgrade() -> None:
    # Tables go whole: MariaDB refuses to drop an index that a foreign key needs.
    for name in ("incident_run", "alert", "incident", "channel_watch", "change_event"):
        op.drop_table(name)
