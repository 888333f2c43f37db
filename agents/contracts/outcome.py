"""The end of a run: its trace in short, its evaluations, its outcome."""

from __future__ import annotations

from typing import Literal

from agents.contracts.aiops import AiopsReport
from agents.contracts.chat import (
    ExecutorEvidence,
    Hypothesis,
    InvocationId,
    ParseStatus,
    RecommendedAction,
    Verdict,
)
from agents.contracts.proven import (
    AllowedClaim,
    AnswerSections,
    ClaimCheck,
    ComposerOutput,
    FactChecked,
    GatekeeperResult,
    VerifierDecision,
)
from tools.contracts import Contract

# ---------------------------------------------------------------- trace


class ToolTraceItem(Contract):
    """One item of tool_trace_summary: an audit index, not a source of evidence."""

    trace_ref: str
    tool_name: str
    success: bool
    input_summary: str
    output_summary: str
    evidence_level: Literal["direct", "indirect", "none"]
    topic_domain: str
    source_invocation_ids: tuple[InvocationId, ...]
    invocation_count: int
    failed_invocation_count: int
    no_hit_invocation_count: int
    query_samples: tuple[str, ...]
    retrieval_layers: tuple[str, ...]
    relevance_levels: tuple[str, ...]
    source_documents: tuple[str, ...]


class Transition(Contract):
    """`reason` is the edge in words: ok, evidence_retry, technical_retry:…, degraded:…, limit:…"""

    source: str
    target: str
    reason: str


class OrchestrationTrace(Contract):
    """`window_from` and `window_to`: what most look-ups looked at, RFC 3339; empty where none had a window."""

    version: str
    transitions: tuple[Transition, ...]
    final_node: str
    termination_reason: str
    degraded: bool
    evidence_retry_count: int
    window_from: str = ""
    window_to: str = ""


class RuleEvaluation(Contract):
    """score = 0.4 × share of evidence tools that answered + 0.4 × share of claims verified + 0.2 × share of them
    direct."""

    score: float
    evidence_tools_answered: float
    claims_verified: float
    claims_direct: float
    reasons: tuple[str, ...]


class VerifierEvaluation(Contract):
    verdict: Verdict
    groundedness_score: float
    critical_fact_count: int
    claim_checks: tuple[ClaimCheck, ...]
    facts_checked: tuple[FactChecked, ...]
    rationale: str
    round: int
    traceability_version: Literal["v1"] = "v1"
    executor_output_parse_status: ParseStatus
    executor_structured_output: ExecutorEvidence | None
    gatekeeper_result: GatekeeperResult | None
    composer_output: ComposerOutput | None
    composer_output_parse_status: ParseStatus
    tool_trace_summary: tuple[ToolTraceItem, ...]


class RunUsage(Contract):
    """`cost` None = unknown price, never 0.00. `model` is the backend's name, "offline" where none was used."""

    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    steps: int = 0
    tool_calls: int = 0


class RunOutcome(Contract):
    """What a finished run gives the caller: all that an answer, its evidence view and its JSON need. `report` is an
    AI_OPS run's."""

    run_id: str
    session_id: str
    question: str
    language: str
    verdict: Verdict
    status: Literal["SUCCESS", "FAILED", "CANCELLED"]
    answer: str
    sections: AnswerSections
    claims: tuple[AllowedClaim, ...]
    hypotheses: tuple[Hypothesis, ...]
    recommended_actions: tuple[RecommendedAction, ...]
    missing_info: tuple[str, ...]
    gatekeeper_result: GatekeeperResult | None
    verifier_output: VerifierDecision | None
    orchestration_trace: OrchestrationTrace
    usage: RunUsage
    duration_ms: int
    report: AiopsReport | None = None
