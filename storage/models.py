"""The tables of sessions, runs and their trace, and of what the knowledge base has read (DESIGN §8)."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, UniqueConstraint

from storage.types import BigKey, ExactJson, Json, LongText, Real, UtcDateTime, table

chat_session = table(
    "chat_session",
    Column("id", BigKey, primary_key=True),
    Column("session_id", String(64), nullable=False, unique=True),
    # A Slack thread has team, channel and thread_ts; a terminal conversation has `terminal`.
    Column("team", String(32)),
    Column("channel", String(32)),
    Column("thread_ts", String(32)),
    Column("terminal", String(64)),
    Column("language", String(16), nullable=False),
    Column("time_zone", String(64), nullable=False),
    Column("joined_at", UtcDateTime, nullable=False),
    Column("state", String(16), nullable=False),
    # Who asked the bot last, and {person: instant} of who has spoken in the thread since. Instants are Slack's.
    Column("addressed_at", UtcDateTime),
    Column("addressed_by", String(32)),
    Column("speakers", ExactJson),
    UniqueConstraint("team", "channel", "thread_ts"),
)

diagnosis_run = table(
    "diagnosis_run",
    Column("id", BigKey, primary_key=True),
    Column("run_id", String(64), nullable=False, unique=True),
    Column("session_id", String(64), ForeignKey(chat_session.c.session_id), nullable=False),
    Column("agent_flow", String(16), nullable=False),
    Column("query", LongText, nullable=False),
    Column("language", String(16), nullable=False),
    Column("time_zone", String(64), nullable=False),
    Column("status", String(16), nullable=False),
    Column("verdict", String(16)),
    Column("answer", LongText),
    Column("total_duration_ms", BigKey),
    Column("total_token_count", BigKey),
    Column("step_count", Integer),
    Column("tool_call_count", Integer),
    Column("cost", Real),
    Column("self_evaluation", Json),
    Column("orchestration_trace", Json),
    Column("feedback", String(16)),
    # The checkpoint: what a process needs to take over from a dead one.
    Column("state", LongText, nullable=False),
    Column("next_node", String(32)),
    Column("attempt", Integer, nullable=False),
    Column("lease_owner", String(128)),
    Column("lease_until", UtcDateTime),
    Column("deadline_seconds", Integer, nullable=False),
    Column("deadline_at", UtcDateTime),
    Column("cancel_requested_at", UtcDateTime),
    Column("created_at", UtcDateTime, nullable=False),
    Column("started_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    Index(None, "session_id"),
    Index(None, "status", "lease_until"),
)

agent_step = table(
    "agent_step",
    Column("id", BigKey, primary_key=True),
    Column("run_id", String(64), ForeignKey(diagnosis_run.c.run_id), nullable=False),
    Column("session_id", String(64), nullable=False),
    Column("step_index", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("node", String(32), nullable=False),
    Column("round", Integer, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("request_hash", String(64), nullable=False),
    Column("agent_name", String(32), nullable=False),
    Column("model_name", String(128), nullable=False),
    Column("model_input", LongText, nullable=False),
    Column("model_output", LongText, nullable=False),
    Column("thought", LongText, nullable=False),
    Column("has_tool_call", Boolean, nullable=False),
    Column("duration_ms", BigKey, nullable=False),
    Column("token_count", Integer, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("cached_tokens", Integer, nullable=False),
    Column("cost", Real),
    Column("request_whole", LongText, nullable=False),
    Column("reply_whole", LongText, nullable=False),
    Column("ok", Boolean, nullable=False),
    Column("error", LongText),
    Column("created_at", UtcDateTime, nullable=False),
    UniqueConstraint("run_id", "step_index"),
)

# The row is written before the call; what only the answer knows is null until then.
tool_invocation = table(
    "tool_invocation",
    Column("id", BigKey, primary_key=True),
    Column("run_id", String(64), ForeignKey(diagnosis_run.c.run_id), nullable=False),
    Column("session_id", String(64), nullable=False),
    Column("step_id", BigKey, ForeignKey(agent_step.c.id)),
    Column("attempt", Integer, nullable=False),
    Column("node", String(32), nullable=False),
    Column("round", Integer, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("arguments_hash", String(64), nullable=False),
    # As the model wrote it, however long: a call of a tool that does not exist is recorded too.
    Column("tool_name", LongText, nullable=False),
    Column("input_params", ExactJson, nullable=False),
    Column("output_preview", LongText),
    Column("output_length", BigKey),
    Column("retrieval_layer", String(32)),
    Column("l0_match_count", Integer),
    Column("l1_match_count", Integer),
    Column("is_truncated", Boolean),
    Column("relevance_level", String(32)),
    Column("dedup_reason", LongText),
    Column("retrieval_details", ExactJson),
    Column("payload", ExactJson),
    Column("duration_ms", BigKey),
    Column("success", Boolean),
    Column("error_message", LongText),
    Column("started_at", UtcDateTime, nullable=False),
    Column("finished_at", UtcDateTime),
    # A resumed run finds a call that was made by this key, and cannot make it twice.
    UniqueConstraint("run_id", "node", "round", "sequence", "arguments_hash", name="uq_tool_invocation_replay_key"),
    Index(None, "step_id"),
)

api_document = table(
    "api_document",
    Column("id", BigKey, primary_key=True),
    Column("doc_id", String(64), nullable=False, unique=True),
    Column("file_name", String(255), nullable=False),
    Column("file_path", LongText, nullable=False),
    Column("file_hash", String(64), nullable=False, index=True),
    Column("status", String(16), nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("metadata", ExactJson, nullable=False),
)

knowledge_domain = table(
    "knowledge_domain",
    Column("id", BigKey, primary_key=True),
    Column("domain_id", String(64), nullable=False, unique=True),
    Column("description", LongText, nullable=False),
    Column("when_to_retrieve", LongText, nullable=False),
    Column("document_count", Integer, nullable=False),
)
