"""The verifier without a model: fixed sentences are true by construction, other wording is measured by its words."""

from __future__ import annotations

from collections.abc import Sequence

from agents.contracts import ClaimCheck, Verification, VerifiedClaim, VerifiedEvidence, VerifierDraft, VerifierInput
from agents.llm.base import ModelRequest
from agents.offline.answers import answers
from agents.offline.question import Question, read
from agents.offline.sentences import LANGUAGES, Sentences, sentences_of
from agents.offline.similarity import tokens

ENOUGH_WORDS = 0.6
_PROVEN = (Verification.DIRECT, Verification.INDIRECT)


def verify(request: ModelRequest) -> VerifierDraft:
    given = request.payload
    assert isinstance(given, VerifierInput)
    sentences = sentences_of(request.language)
    question = read(given.original_query, request.now, request.zone)
    claims = given.verified_executor_output.claims
    checks = tuple(_check(claim, question, given.verified_evidence, sentences) for claim in claims)
    proven = any(check.is_critical and check.verification in _PROVEN for check in checks)
    settled = proven and _speaks_of(question, given.verified_evidence)
    return VerifierDraft(
        claim_checks=checks,
        question_answered=settled,
        rationale=sentences.say("verify", "answered" if settled else "unanswered"),
    )


def _speaks_of(question: Question, evidence: Sequence[VerifiedEvidence]) -> bool:
    """Where the question names things and the proof none of them, it is the cause of something else."""
    shown = " ".join(f"{one.span_text} {' '.join(one.scope.values())}" for one in evidence).lower()
    return not question.names or any(name.lower().removesuffix("s") in shown for name in question.names)


def _check(
    claim: VerifiedClaim, question: Question, evidence: tuple[VerifiedEvidence, ...], sentences: Sentences
) -> ClaimCheck:
    """A claim that answers the question is critical: without it the answer would not stand."""
    spans = " ".join(one.span_text for one in evidence if one.claim_id == claim.claim_id)
    verification, detail = _judged(claim, spans)
    return ClaimCheck(
        claim_id=claim.claim_id,
        verification=verification,
        is_critical=answers(question, claim, evidence),
        detail=sentences.say("verify", detail),
    )


def _judged(claim: VerifiedClaim, spans: str) -> tuple[Verification, str]:
    if any(sentences_of(language).is_claim(claim.claim_text) for language in LANGUAGES):
        return Verification.DIRECT, "direct"
    said, shown = set(tokens(claim.claim_text)), set(tokens(spans))
    if said and len(said & shown) >= ENOUGH_WORDS * len(said):
        return Verification.INDIRECT, "weak"
    return Verification.NONE, "unsupported"
