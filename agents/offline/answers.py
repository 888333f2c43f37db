"""Whether supported claims answer the question that was asked."""

from __future__ import annotations

from collections.abc import Sequence

from agents.contracts import VerifiedClaim, VerifiedEvidence
from agents.offline.question import Question
from agents.offline.telling import COUNT_LINE


def answered(question: Question, claims: Sequence[VerifiedClaim], evidence: Sequence[VerifiedEvidence]) -> bool:
    """A why needs a cause or proven health; a count its number; logs the lines asked for; a list items of its kind."""
    kinds = {claim.claim_type for claim in claims}
    if "root_cause" in kinds or "healthy" in kinds:
        return True
    spans = [one for one in evidence if any(claim.claim_id == one.claim_id and claim.claim_type != "gap" for claim in claims)]
    if question.ask == "count":
        return any(COUNT_LINE.search(one.span_text) for one in spans)
    if question.ask == "logs":
        return any(_is_asked_line(question, one) for one in spans)
    if question.ask == "listing":
        return question.kind is not None and any(question.kind in one.scope.values() for one in spans)
    if question.ask == "meaning":
        return any(code in one.span_text for one in spans if one.tool_name == "lookup_knowledge" for code in question.codes)
    return False


def _is_asked_line(question: Question, one: VerifiedEvidence) -> bool:
    if "log" not in one.tool_name.lower():
        return False
    return not question.quoted or any(quoted in one.span_text for quoted in question.quoted)
