"""What the gatekeeper, the verifier and the composer of a chat run say. Field names are the seeds'."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agents.contracts.chat import (
    ClaimType,
    Hypothesis,
    InvocationId,
    RecommendedAction,
    RetryContext,
    Verdict,
    Verification,
)
from tools.contracts import Contract, EvidenceRef, EvidenceStatus

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
