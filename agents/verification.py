"""The verdict, recomputed by code from what the verifier voted on each claim. A model can vote a run down, never up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agents.contracts import (
    ClaimCheck,
    FactChecked,
    FactEvidenceRef,
    ToolTraceItem,
    Verdict,
    Verification,
    VerifiedClaim,
    VerifiedEvidence,
    VerifierDecision,
    VerifierDraft,
)
from agents.fences import shortened
from agents.gate.overlap import content_share
from agents.gate.tokens import content_words
from agents.question_kind import question_kind, without_when

PROVEN = (Verification.DIRECT, Verification.INDIRECT)
WEIGHTS = {Verification.DIRECT: 1.0, Verification.INDIRECT: 0.5}
LEAST_SHARE = 0.5
NOTE_CHARS = 160
UNCHECKED = "not checked by the verifier"

Proofs = Mapping[str, Sequence[VerifiedEvidence]]


def decide(
    draft: VerifierDraft,
    claims: Sequence[VerifiedClaim],
    evidence: Iterable[VerifiedEvidence],
    question: str,
    summary: Sequence[ToolTraceItem],
    round: int,
) -> VerifierDecision:
    """Exactly one check a passed claim; votes on other ids are dropped. No claims at all = REJECT."""
    proofs = by_claim(evidence)
    checks = tuple(_check(claim, draft) for claim in claims)
    critical = [check for check in checks if check.is_critical]
    return VerifierDecision(
        verdict=_verdict(draft, claims, checks, proofs, question),
        groundedness_score=round_share(sum(WEIGHTS.get(check.verification, 0.0) for check in critical), len(critical)),
        critical_fact_count=len(critical),
        claim_checks=checks,
        facts_checked=tuple(_fact(c, check, proofs, summary) for c, check in zip(claims, checks, strict=True)),
        rationale=draft.rationale,
        round=round,
    )


def checks_by_code(claims: Sequence[VerifiedClaim], evidence: Iterable[VerifiedEvidence], rationale: str) -> VerifierDraft:
    """What stands in for a verifier that cannot be reached: the gate's match and the words that claim and quote share."""
    proofs = by_claim(evidence)
    return VerifierDraft(
        claim_checks=tuple(
            ClaimCheck(
                claim_id=claim.claim_id,
                verification=_by_words(claim, proofs),
                is_critical=claim.claim_type in ("root_cause", "healthy"),
                detail="judged by shared words alone",
            )
            for claim in claims
        ),
        question_answered=True,
        rationale=rationale,
    )


def by_claim(evidence: Iterable[VerifiedEvidence]) -> dict[str, list[VerifiedEvidence]]:
    proofs: dict[str, list[VerifiedEvidence]] = {}
    for proof in evidence:
        proofs.setdefault(proof.claim_id, []).append(proof)
    return proofs


def round_share(part: float, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


# ---------------------------------------------------------------- checks


def _check(claim: VerifiedClaim, draft: VerifierDraft) -> ClaimCheck:
    """The first vote on a claim counts. A cause is always critical, a gap never."""
    vote = next((check for check in draft.claim_checks if check.claim_id == claim.claim_id), None)
    is_critical = claim.claim_type == "root_cause" or bool(vote and vote.is_critical and claim.claim_type != "gap")
    if vote is None:
        return ClaimCheck(
            claim_id=claim.claim_id, verification=Verification.NONE, is_critical=is_critical, detail=UNCHECKED
        )
    return vote.model_copy(update={"is_critical": is_critical})


def _by_words(claim: VerifiedClaim, proofs: Proofs) -> Verification:
    if _share(claim, proofs) < LEAST_SHARE:
        return Verification.NONE
    return Verification.DIRECT if claim.support_level == "direct" else Verification.INDIRECT


def _share(claim: VerifiedClaim, proofs: Proofs) -> float:
    return content_share(claim.claim_text, [proof for proof in proofs.get(claim.claim_id, ())])


# ---------------------------------------------------------------- verdict


def _verdict(
    draft: VerifierDraft,
    claims: Sequence[VerifiedClaim],
    checks: Sequence[ClaimCheck],
    proofs: Proofs,
    question: str,
) -> Verdict:
    critical = [check.verification for check in checks if check.is_critical]
    if not claims or Verification.CONTRADICTED in critical:
        return Verdict.REJECT
    proven = [claim for claim, check in zip(claims, checks, strict=True) if check.verification in PROVEN]
    names = {check.claim_id for check in checks if check.is_critical}
    carrying = [claim for claim in proven if claim.claim_id in names]
    passes = (
        bool(critical)
        and all(verification in PROVEN for verification in critical)
        and Verification.DIRECT in critical
        and draft.question_answered
        and _answers(question, carrying, proofs)
        and all(_share(claim, proofs) >= LEAST_SHARE for claim in carrying)
    )
    return Verdict.PASS if passes else Verdict.LOW_CONFID


def _answers(question: str, carrying: Sequence[VerifiedClaim], proofs: Proofs) -> bool:
    """A why needs a proven cause or proven health; a fact a proven claim about what was asked."""
    if question_kind(question) == "why":
        return any(claim.claim_type in ("root_cause", "healthy") for claim in carrying)
    asked = content_words(without_when(question))
    return any(not asked or asked & _words_of(claim, proofs) for claim in carrying)


def _words_of(claim: VerifiedClaim, proofs: Proofs) -> set[str]:
    quoted = [f"{proof.span_text} {' '.join(proof.scope.values())}" for proof in proofs.get(claim.claim_id, ())]
    return content_words(" ".join([claim.claim_text, *quoted]))


# ---------------------------------------------------------------- facts


def _fact(
    claim: VerifiedClaim, check: ClaimCheck, proofs: Proofs, summary: Sequence[ToolTraceItem]
) -> FactChecked:
    by_tool: dict[str, list[VerifiedEvidence]] = {}
    for proof in proofs.get(claim.claim_id, ()):
        by_tool.setdefault(proof.tool_name, []).append(proof)
    return FactChecked(
        fact=claim.claim_text,
        is_critical=check.is_critical,
        verification=check.verification,
        detail=check.detail,
        evidence_refs=tuple(_ref(name, found, summary) for name, found in by_tool.items()),
    )


def _ref(tool_name: str, found: Sequence[VerifiedEvidence], summary: Sequence[ToolTraceItem]) -> FactEvidenceRef:
    item = next((item for item in summary if item.tool_name == tool_name), None)
    return FactEvidenceRef(
        trace_ref=item.trace_ref if item else "",
        tool_name=tool_name,
        topic_domain=item.topic_domain if item else "general",
        source_invocation_ids=tuple(dict.fromkeys(proof.source_invocation_id for proof in found)),
        note=shortened(found[0].span_text, NOTE_CHARS),
    )
