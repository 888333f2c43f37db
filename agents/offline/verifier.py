"""The verifier without a model: fixed sentences are true by construction, other wording is measured by its words."""

from __future__ import annotations

from agents.contracts import ClaimCheck, VerifiedClaim, VerifiedEvidence, VerifierDraft, VerifierInput, Verification
from agents.llm.base import ModelRequest
from agents.offline.answers import answered
from agents.offline.question import read
from agents.offline.sentences import LANGUAGES, Sentences, sentences_of
from agents.offline.similarity import tokens

ENOUGH_WORDS = 0.6


def verify(request: ModelRequest) -> VerifierDraft:
    given = request.payload
    assert isinstance(given, VerifierInput)
    sentences = sentences_of(request.language)
    claims = given.verified_executor_output.claims
    checks = tuple(_check(claim, given.verified_evidence, sentences) for claim in claims)
    good = {check.claim_id for check in checks if check.verification in (Verification.DIRECT, Verification.INDIRECT)}
    question = read(given.original_query, request.now, request.zone)
    settled = answered(question, [claim for claim in claims if claim.claim_id in good], given.verified_evidence)
    return VerifierDraft(
        claim_checks=checks,
        question_answered=settled,
        rationale=sentences.say("verify", "answered" if settled else "unanswered"),
    )


def _check(claim: VerifiedClaim, evidence: tuple[VerifiedEvidence, ...], sentences: Sentences) -> ClaimCheck:
    spans = " ".join(one.span_text for one in evidence if one.claim_id == claim.claim_id)
    verification, detail = _judged(claim, spans)
    return ClaimCheck(
        claim_id=claim.claim_id,
        verification=verification,
        is_critical=claim.claim_type in ("root_cause", "healthy"),
        detail=sentences.say("verify", detail),
    )


def _judged(claim: VerifiedClaim, spans: str) -> tuple[Verification, str]:
    if any(sentences_of(language).is_claim(claim.claim_text) for language in LANGUAGES):
        return Verification.DIRECT, "direct"
    said, shown = set(tokens(claim.claim_text)), set(tokens(spans))
    if said and len(said & shown) >= ENOUGH_WORDS * len(said):
        return Verification.INDIRECT, "weak"
    return Verification.NONE, "unsupported"
