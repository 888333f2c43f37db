"""What the trace is made of. `New…` goes in; the rest comes out. Instants are UTC, durations milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class NewRun:
    """`state` is the checkpoint's JSON. The deadline starts to count when the run is first claimed."""

    run_id: str
    session_id: str
    agent_flow: str
    query: str
    language: str
    zone: str
    state: str
    next_node: str
    deadline_seconds: int


@dataclass(frozen=True)
class Lease:
    """The right to write a run. `attempt` is the fencing token: a later claim makes this lease worthless."""

    run_id: str
    attempt: int
    owner: str
    deadline: datetime


@dataclass(frozen=True)
class RunResult:
    """How a run ended. `cost` None = price unknown."""

    status: str
    answer: str
    verdict: str
    orchestration_trace: dict[str, Any]
    total_duration_ms: int
    total_token_count: int
    step_count: int
    tool_call_count: int
    cost: float | None
    state: str

    @classmethod
    def failed(cls, answer: str, reason: str, state: str) -> RunResult:
        """Of a run that nobody could bring to an outcome; what it spent is not known. `state` is kept as it was."""
        return cls(
            status="FAILED",
            answer=answer,
            verdict="REJECT",
            orchestration_trace={"termination_reason": reason},
            total_duration_ms=0,
            total_token_count=0,
            step_count=0,
            tool_call_count=0,
            cost=None,
            state=state,
        )


@dataclass(frozen=True)
class Run:
    """A row of diagnosis_run. Totals, verdict and answer are None until it has ended."""

    run_id: str
    session_id: str
    agent_flow: str
    query: str
    language: str
    zone: str
    status: str
    verdict: str | None
    answer: str | None
    total_duration_ms: int | None
    total_token_count: int | None
    step_count: int | None
    tool_call_count: int | None
    cost: float | None
    self_evaluation: dict[str, Any] | None
    orchestration_trace: dict[str, Any] | None
    feedback: str | None
    state: str
    next_node: str | None
    attempt: int
    lease_owner: str | None
    lease_until: datetime | None
    deadline_seconds: int
    deadline: datetime | None
    cancel_requested_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True)
class NewStep:
    """One model call. `model_input`, `model_output` are summaries for people; the whole texts serve replay."""

    session_id: str
    node: str
    round: int
    sequence: int
    request_hash: str
    agent_name: str
    model_name: str
    model_input: str
    model_output: str
    thought: str
    has_tool_call: bool
    duration_ms: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float | None
    request_whole: str
    reply_whole: str
    ok: bool
    error: str | None

    @property
    def token_count(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Step(NewStep):
    """`step_index` counts from 1 within the run, over all its attempts."""

    id: int
    run_id: str
    step_index: int


@dataclass(frozen=True)
class NewInvocation:
    """A tool call about to be made. (run, node, round, sequence, arguments_hash) is its replay key."""

    session_id: str
    step_id: int | None
    node: str
    round: int
    sequence: int
    arguments_hash: str
    tool_name: str
    input_params: dict[str, Any]


@dataclass(frozen=True)
class InvocationResult:
    """What a tool answered. `retrieval_details` holds evidence_status and evidence_refs, `payload` the whole answer."""

    output_preview: str
    output_length: int
    retrieval_layer: str | None
    l0_match_count: int | None
    l1_match_count: int | None
    is_truncated: bool
    relevance_level: str | None
    dedup_reason: str | None
    retrieval_details: dict[str, Any]
    payload: dict[str, Any]
    duration_ms: int
    success: bool
    error_message: str | None


@dataclass(frozen=True)
class StoredInvocation(NewInvocation, InvocationResult):
    """A call and its answer. Where `finished` is False nobody knows the answer, and its fields are blank."""

    id: int
    run_id: str
    finished: bool
