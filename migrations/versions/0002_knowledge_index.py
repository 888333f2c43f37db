"""Chunks with term vectors, cached embeddings, the state of the knowledge base."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0002"
down_revision = "0001"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
BYTES = sa.LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb")
INSTANT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
TABLE = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin", "mysql_engine": "InnoDB"}


def upgrade() -> None:
    op.create_table("knowledge_chunk",
        sa.Column("id", KEY, nullable=False),
        sa.Column("chunk_id", sa.String(length=128), nullable=False),
        sa.Column("doc_id", sa.String(length=64), nullable=False),
        sa.Column("chunk_index", sa.Integer(), nullable=False),
        sa.Column("total_chunks", sa.Integer(), nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("breadcrumb", TEXT, nullable=False),
        sa.Column("category", sa.String(length=64), nullable=False),
        sa.Column("content", TEXT, nullable=False),
        sa.Column("terms", BYTES, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_knowledge_chunk"),
        sa.UniqueConstraint("chunk_id", name="uq_knowledge_chunk_chunk_id"),
        **TABLE,
    )
    op.create_index("ix_knowledge_chunk_doc_id", "knowledge_chunk", ["doc_id"], unique=False)
    op.create_table("embedding_cache",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("vector", BYTES, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_embedding_cache"),
        **TABLE,
    )
    op.create_table("knowledge_state",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.String(length=128), nullable=True),
        sa.Column("owned_until", INSTANT, nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_knowledge_state"),
        **TABLE,
    )


def downgrade() -> None:
    op.drop_table("knowledge_state")
    op.drop_table("embedding_cache")
    op.drop_table("knowledge_chunk")
