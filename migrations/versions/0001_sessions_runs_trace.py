"""Sessions, runs and their trace, and what the knowledge base has read."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0001"
down_revision = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
INSTANT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
TABLE = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin", "mysql_engine": "InnoDB"}

# The seeds call a run a session; whoever reads by their name finds a run a row.
DIAGNOSIS_SESSION = """
CREATE VIEW diagnosis_session AS
SELECT id, run_id, session_id, query, status, agent_flow, total_duration_ms, total_token_count, step_count,
       tool_call_count, answer, self_evaluation, feedback
FROM diagnosis_run
"""


def upgrade() -> None:
    op.create_table("api_document",
        sa.Column("id", KEY, nullable=False),
        sa.Column("doc_id", sa.String(length=64), nullable=False),
        sa.Column("file_name", sa.String(length=255), nullable=False),
        sa.Column("file_path", TEXT, nullable=False),
        sa.Column("file_hash", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("chunk_count", sa.Integer(), nullable=False),
        sa.Column("metadata", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_api_document"),
        sa.UniqueConstraint("doc_id", name="uq_api_document_doc_id"),
        **TABLE,
    )
    op.create_index("ix_api_document_file_hash", "api_document", ["file_hash"], unique=False)
    op.create_table("chat_session",
        sa.Column("id", KEY, nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("team", sa.String(length=32), nullable=True),
        sa.Column("channel", sa.String(length=32), nullable=True),
        sa.Column("thread_ts", sa.String(length=32), nullable=True),
        sa.Column("terminal", sa.String(length=64), nullable=True),
        sa.Column("language", sa.String(length=16), nullable=False),
        sa.Column("time_zone", sa.String(length=64), nullable=False),
        sa.Column("joined_at", INSTANT, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_chat_session"),
        sa.UniqueConstraint("session_id", name="uq_chat_session_session_id"),
        sa.UniqueConstraint("team", "channel", "thread_ts", name="uq_chat_session_team_channel_thread_ts"),
        **TABLE,
    )
    op.create_table("knowledge_domain",
        sa.Column("id", KEY, nullable=False),
        sa.Column("domain_id", sa.String(length=64), nullable=False),
        sa.Column("description", TEXT, nullable=False),
        sa.Column("when_to_retrieve", TEXT, nullable=False),
        sa.Column("document_count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_knowledge_domain"),
        sa.UniqueConstraint("domain_id", name="uq_knowledge_domain_domain_id"),
        **TABLE,
    )
    op.create_table("diagnosis_run",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("agent_flow", sa.String(length=16), nullable=False),
        sa.Column("query", TEXT, nullable=False),
        sa.Column("language", sa.String(length=16), nullable=False),
        sa.Column("time_zone", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=True),
        sa.Column("answer", TEXT, nullable=True),
        sa.Column("total_duration_ms", KEY, nullable=True),
        sa.Column("total_token_count", KEY, nullable=True),
        sa.Column("step_count", sa.Integer(), nullable=True),
        sa.Column("tool_call_count", sa.Integer(), nullable=True),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("self_evaluation", sa.JSON(), nullable=True),
        sa.Column("orchestration_trace", sa.JSON(), nullable=True),
        sa.Column("feedback", sa.String(length=16), nullable=True),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("next_node", sa.String(length=32), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("lease_owner", sa.String(length=128), nullable=True),
        sa.Column("lease_until", INSTANT, nullable=True),
        sa.Column("deadline_seconds", sa.Integer(), nullable=False),
        sa.Column("deadline_at", INSTANT, nullable=True),
        sa.Column("cancel_requested_at", INSTANT, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("started_at", INSTANT, nullable=True),
        sa.Column("finished_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(["session_id"], ["chat_session.session_id"], name="fk_diagnosis_run_session_id"),
        sa.PrimaryKeyConstraint("id", name="pk_diagnosis_run"),
        sa.UniqueConstraint("run_id", name="uq_diagnosis_run_run_id"),
        **TABLE,
    )
    op.create_index("ix_diagnosis_run_session_id", "diagnosis_run", ["session_id"], unique=False)
    op.create_index("ix_diagnosis_run_status_lease_until", "diagnosis_run", ["status", "lease_until"], unique=False)
    op.create_table("agent_step",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("step_index", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("node", sa.String(length=32), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("agent_name", sa.String(length=32), nullable=False),
        sa.Column("model_name", sa.String(length=128), nullable=False),
        sa.Column("model_input", TEXT, nullable=False),
        sa.Column("model_output", TEXT, nullable=False),
        sa.Column("thought", TEXT, nullable=False),
        sa.Column("has_tool_call", sa.Boolean(), nullable=False),
        sa.Column("duration_ms", KEY, nullable=False),
        sa.Column("token_count", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("cached_tokens", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("request_whole", TEXT, nullable=False),
        sa.Column("reply_whole", TEXT, nullable=False),
        sa.Column("ok", sa.Boolean(), nullable=False),
        sa.Column("error", TEXT, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["diagnosis_run.run_id"], name="fk_agent_step_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_agent_step"),
        sa.UniqueConstraint("run_id", "step_index", name="uq_agent_step_run_id_step_index"),
        **TABLE,
    )
    op.create_table("tool_invocation",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("step_id", KEY, nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("node", sa.String(length=32), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("arguments_hash", sa.String(length=64), nullable=False),
        sa.Column("tool_name", TEXT, nullable=False),
        sa.Column("input_params", TEXT, nullable=False),
        sa.Column("output_preview", TEXT, nullable=True),
        sa.Column("output_length", KEY, nullable=True),
        sa.Column("retrieval_layer", sa.String(length=32), nullable=True),
        sa.Column("l0_match_count", sa.Integer(), nullable=True),
        sa.Column("l1_match_count", sa.Integer(), nullable=True),
        sa.Column("is_truncated", sa.Boolean(), nullable=True),
        sa.Column("relevance_level", sa.String(length=32), nullable=True),
        sa.Column("dedup_reason", TEXT, nullable=True),
        sa.Column("retrieval_details", TEXT, nullable=True),
        sa.Column("payload", TEXT, nullable=True),
        sa.Column("duration_ms", KEY, nullable=True),
        sa.Column("success", sa.Boolean(), nullable=True),
        sa.Column("error_message", TEXT, nullable=True),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("finished_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["diagnosis_run.run_id"], name="fk_tool_invocation_run_id"),
        sa.ForeignKeyConstraint(["step_id"], ["agent_step.id"], name="fk_tool_invocation_step_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tool_invocation"),
        sa.UniqueConstraint("run_id", "node", "round", "sequence", "arguments_hash", name="uq_tool_invocation_replay_key"),
        **TABLE,
    )
    op.create_index("ix_tool_invocation_step_id", "tool_invocation", ["step_id"], unique=False)
    op.execute(DIAGNOSIS_SESSION)


def downgrade() -> None:
    op.execute("DROP VIEW diagnosis_session")
    # Tables go whole: MariaDB refuses to drop an index that a foreign key needs.
    op.drop_table("tool_invocation")
    op.drop_table("agent_step")
    op.drop_table("diagnosis_run")
    op.drop_table("knowledge_domain")
    op.drop_table("chat_session")
    op.drop_table("api_document")
