"""Whether a posted change may be read outside its channel; of those that are there nobody knows."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("change_event", sa.Column("is_private", sa.Boolean(), nullable=False, server_default=sa.true()))


def downgrade() -> None:
    op.drop_column("change_event", "is_private")
