"""The values of a chat run that cross a node. Field names are the seeds'."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from tools.contracts import Contract, EvidenceRef, EvidenceStatus

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


# ---------------------------------------------------------------- gatekeeper


class InvocationEvidence(Contract):
    """A recorded tool call as the Gatekeeper sees it: its text is the redacted text that the model saw."""

    id: InvocationId
    run_id: str
    tool_name: str
    evidence_status: EvidenceStatus
    truncated: bool = False
    evidence_refs: tuple[EvidenceRef, ...] = ()


class CheckedBinding(Contract):
    """One binding's result. A passed one carries the stored span (offsets into the ref's text as stored), the mode
    (raw | unescaped) and the sha256 of the ref's text; `hint` is the right path of a path_mismatch."""

    claim_id: str
    index: int
    outcome: Literal["passed", "rejected"]
    rule: str
    detail: str
    span_start: int | None = None
    span_end: int | None = None
    mode: Literal["raw", "unescaped"] | None = None
    evidence_sha256: str | None = None
    hint: str | None = None


class GatekeeperResult(Contract):
    """`warnings` name what was let through with a remark (a cause turned into a hypothesis); `errors` what could not be
    checked at all."""

    ruleset_version: str
    checked_bindings: tuple[CheckedBinding, ...]
    passed_claim_ids: tuple[str, ...]
    rejected_claim_ids: tuple[str, ...]
    failed_rules: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


class VerifiedEvidence(Contract):
    """A passed binding with the canonical words: what everything downstream shows."""

    claim_id: str
    index: int
    source_invocation_id: InvocationId
    tool_name: str
    raw_path: str
    span_text: str
    span_start: int
    span_end: int
    evidence_sha256: str
    scope: dict[str, str] = Field(default_factory=dict)


class VerifiedClaim(Contract):
    claim_id: str
    claim_type: ClaimType
    claim_text: str
    support_level: Literal["direct", "indirect"]


class VerifiedOutput(Contract):
    """verified_executor_output: the claims that passed, nothing else of the executor's text."""

    claims: tuple[VerifiedClaim, ...]


# ---------------------------------------------------------------- verifier


class RefIndexEntry(Contract):
    """A ref without its output: the verifier may know that it exists, not what it says."""

    source_invocation_id: InvocationId
    tool_name: str
    raw_path: str


class VerifierInput(Contract):
    original_query: str
    verified_executor_output: VerifiedOutput
    verified_evidence: tuple[VerifiedEvidence, ...]
    gatekeeper_audit: GatekeeperResult
    ref_index: tuple[RefIndexEntry, ...] = ()
    retry_context: RetryContext | None = None


class ClaimCheck(Contract):
    claim_id: str
    verification: Verification
    is_critical: bool
    detail: str


class VerifierDraft(Contract):
    """What the model votes on; score, counts, criticality of causes and the verdict are recomputed by code."""

    claim_checks: tuple[ClaimCheck, ...]
    question_answered: bool
    rationale: str


class FactEvidenceRef(Contract):
    trace_ref: str
    tool_name: str
    topic_domain: str
    source_invocation_ids: tuple[InvocationId, ...]
    note: str


class FactChecked(Contract):
    fact: str
    is_critical: bool
    verification: Verification
    detail: str
    evidence_refs: tuple[FactEvidenceRef, ...] = ()


class VerifierOutput(Contract):
    verdict: Verdict
    groundedness_score: float
    critical_fact_count: int
    claim_checks: tuple[ClaimCheck, ...]
    facts_checked: tuple[FactChecked, ...]
    rationale: str


class VerifierDecision(VerifierOutput):
    round: int


# ---------------------------------------------------------------- composer


class AllowedClaim(Contract):
    """A claim the answer may state, with the spans it rests on. `number` is its mark in the text: [1]."""

    number: int
    claim: VerifiedClaim
    evidence: tuple[VerifiedEvidence, ...]


class ComposerInput(Contract):
    question: str
    allowed_claims: tuple[AllowedClaim, ...]
    missing_info: tuple[str, ...]
    recommended_actions: tuple[RecommendedAction, ...]
    hypotheses: tuple[Hypothesis, ...]
    verdict: Verdict
    language: str


class AnswerSections(Contract):
    """The parts of an answer; `lead` is the conclusion, the lists are lines without bullets. `confirmed` lines carry
    marks like [1] that point at allowed claims."""

    lead: str
    confirmed: tuple[str, ...]
    gaps: tuple[str, ...]
    next_steps: tuple[str, ...]


class ComposerDraft(Contract):
    used_claim_ids: tuple[str, ...]
    sections: AnswerSections


class ComposerOutput(Contract):
    answer: str
    used_claim_ids: tuple[str, ...]
    sections: AnswerSections
