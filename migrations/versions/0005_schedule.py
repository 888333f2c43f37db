"""The schedule: its leader, the slots that were fired, and what is to be looked at again."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0005"
down_revision = "0004"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
INSTANT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
TABLE = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin", "mysql_engine": "InnoDB"}


def upgrade() -> None:
    op.create_table("schedule_lease",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("owner", sa.String(length=128), nullable=False),
        sa.Column("epoch", KEY, autoincrement=False, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_schedule_lease"),
        **TABLE,
    )
    op.create_table("schedule_slot",
        sa.Column("job", sa.String(length=128), nullable=False),
        sa.Column("slot", INSTANT, nullable=False),
        sa.Column("fired_by", sa.String(length=128), nullable=False),
        sa.Column("fired_at", INSTANT, nullable=False),
        sa.Column("ended_at", INSTANT, nullable=True),
        sa.Column("outcome", TEXT, nullable=True),
        sa.PrimaryKeyConstraint("job", "slot", name="pk_schedule_slot"),
        **TABLE,
    )
    op.create_index("ix_schedule_slot_slot", "schedule_slot", ["slot"], unique=False)
    op.create_table("recheck",
        sa.Column("id", KEY, nullable=False),
        sa.Column("recheck_key", sa.String(length=128), nullable=False),
        sa.Column("team", sa.String(length=32), nullable=False),
        sa.Column("channel", sa.String(length=32), nullable=False),
        sa.Column("thread_ts", sa.String(length=32), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=True),
        sa.Column("user_id", sa.String(length=32), nullable=True),
        sa.Column("since", INSTANT, nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("taken_by", sa.String(length=128), nullable=True),
        sa.Column("taken_until", INSTANT, nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("done_at", INSTANT, nullable=True),
        sa.Column("outcome", sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_recheck"),
        sa.UniqueConstraint("recheck_key", name="uq_recheck_recheck_key"),
        **TABLE,
    )
    op.create_index("ix_recheck_done_at_due_at", "recheck", ["done_at", "due_at"], unique=False)
    op.create_index("ix_recheck_run_id", "recheck", ["run_id"], unique=False)


def downgrade() -> None:
    op.drop_table("recheck")
    op.drop_table("schedule_slot")
    op.drop_table("schedule_lease")
