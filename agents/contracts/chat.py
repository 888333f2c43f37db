"""What the planner and the executor of a chat run say, and the words that all share. Field names are the seeds'."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from tools.contracts import Contract

# ---------------------------------------------------------------- words


class Verdict(StrEnum):
    PASS = "PASS"
    LOW_CONFID = "LOW_CONFID"
    REJECT = "REJECT"


class Verification(StrEnum):
    DIRECT = "direct_evidence"
    INDIRECT = "indirect_support"
    NONE = "no_evidence"
    CONTRADICTED = "contradicted"


ClaimType = Literal["root_cause", "symptom", "impact", "change", "healthy", "gap"]
InvocationId = int | str


class HistoryTurn(Contract):
    """One earlier turn of the session. `run_id` is set on our own answers. Never evidence."""

    role: Literal["user", "assistant"]
    text: str
    run_id: str | None = None


class RetryHint(Contract):
    """The right path for a binding whose path was mis-copied: told to the model, never rebound by code."""

    claim_id: str
    ref: str
    detail: str


class RetryContext(Contract):
    round: int
    missing_evidence_facts: tuple[str, ...]
    instruction: str
    hints: tuple[RetryHint, ...] = ()


# ---------------------------------------------------------------- planner


class SkillCard(Contract):
    """All that the planner sees of a skill."""

    name: str
    description: str


class KnowledgeDomain(Contract):
    domain_id: str
    description: str
    when_to_retrieve: str
    document_count: int


class PlannerInput(Contract):
    question: str
    history: tuple[HistoryTurn, ...] = ()
    available_knowledge_domains: tuple[KnowledgeDomain, ...] = ()
    skill_catalog: tuple[SkillCard, ...] = ()
    retry_context: RetryContext | None = None


class PlannerPlan(Contract):
    selected_skill: str | None
    selection_reason: str
    plan: tuple[str, ...]
    reasoning: str


# ---------------------------------------------------------------- executor


class ToolPermissions(Contract):
    """`method_tools` are built in, `tool_callbacks` come from outside (MCP, a recorded scenario)."""

    method_tools: tuple[str, ...]
    tool_callbacks: tuple[str, ...] = ()


class ExecutorInput(Contract):
    """`question` stands beside the seed fields: without it a plan of one line loses what was asked."""

    question: str
    planner_plan: PlannerPlan
    history: tuple[HistoryTurn, ...] = ()
    available_knowledge_domains: tuple[KnowledgeDomain, ...] = ()
    retry_context: RetryContext | None = None
    tool_permissions: ToolPermissions


class DraftCitation(Contract):
    """What the model writes to cite: the handle it was shown and words copied from that ref."""

    ref: str
    excerpt: str


class DraftClaim(Contract):
    claim_id: str
    claim_type: ClaimType
    claim_text: str
    support_level: Literal["direct", "indirect"]
    evidence: tuple[DraftCitation, ...]


class DraftAction(Contract):
    action_text: str
    reason: str
    evidence: tuple[DraftCitation, ...] = ()


class Hypothesis(Contract):
    hypothesis_text: str
    basis: str
    needed_evidence: tuple[str, ...] = ()


class ExecutorDraft(Contract):
    """The executor's answer as the model writes it; `agents/nodes/executor.py` expands it to ExecutorEvidence."""

    diagnosis_summary: str
    claims: tuple[DraftClaim, ...]
    hypotheses: tuple[Hypothesis, ...]
    recommended_actions: tuple[DraftAction, ...]
    missing_info: tuple[str, ...]
    user_facing_answer: str


class EvidenceBinding(Contract):
    source_type: Literal["tool_trace"] = "tool_trace"
    source_invocation_id: InvocationId
    tool_name: str
    raw_path: str
    evidence_excerpt: str


class Claim(Contract):
    """A micro-fact: one predicate, at most two numbers, at most 200 characters outside the quote."""

    claim_id: str
    claim_type: ClaimType
    claim_text: str
    support_level: Literal["direct", "indirect"]
    evidence_bindings: tuple[EvidenceBinding, ...] = Field(min_length=1)


class RecommendedAction(Contract):
    action_text: str
    reason: str
    evidence_bindings: tuple[EvidenceBinding, ...] = ()


class ExecutorEvidence(Contract):
    """executor_evidence_v2."""

    answer_version: Literal["executor_evidence_v2"] = "executor_evidence_v2"
    diagnosis_summary: str
    claims: tuple[Claim, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
    recommended_actions: tuple[RecommendedAction, ...] = ()
    missing_info: tuple[str, ...] = ()
    user_facing_answer: str = ""


class ParseStatus(Contract):
    status: Literal["valid", "missing", "malformed"]
    detail: str
