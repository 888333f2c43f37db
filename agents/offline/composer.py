"""The answer without a model: the claims' own sentences, in the order in which a woken-up engineer needs them."""

from __future__ import annotations

from collections.abc import Sequence

from agents.contracts import AllowedClaim, AnswerSections, ComposerDraft, ComposerInput, Verdict, VerifiedEvidence
from agents.llm.base import ModelRequest
from agents.offline.sentences import Sentences, sentences_of

_STOPS = {"zh": "。"}


def compose(request: ModelRequest) -> ComposerDraft:
    given = request.payload
    assert isinstance(given, ComposerInput)
    sentences = sentences_of(given.language)
    shown = [claim for claim in given.allowed_claims if claim.claim.claim_type != "gap"]
    leading = _leading(shown, given.verdict)
    told = tuple(_line(claim) for claim in shown if claim not in leading)
    return ComposerDraft(
        used_claim_ids=tuple(claim.claim.claim_id for claim in shown),
        sections=AnswerSections(
            lead=_lead(leading, given, sentences),
            confirmed=told if given.verdict is Verdict.PASS else tuple(_line(claim) for claim in given.allowed_claims),
            gaps=given.missing_info,
            next_steps=tuple(action.action_text for action in given.recommended_actions),
        ),
    )


def _leading(shown: Sequence[AllowedClaim], verdict: Verdict) -> list[AllowedClaim]:
    """The cause, the change before it and since when; where the question was about a fact, that fact."""
    if verdict is not Verdict.PASS:
        return list(shown[:1])
    causes = [claim for claim in shown if claim.claim.claim_type in ("root_cause", "healthy")][:1]
    told = {_place(proof) for cause in causes for proof in cause.evidence}
    changes = [claim for claim in shown if claim.claim.claim_type == "change"]
    changes = [claim for claim in changes if all(_place(proof) not in told for proof in claim.evidence)][:1]
    places = {_service(proof) for cause in causes for proof in cause.evidence} - {""}
    symptoms = [claim for claim in shown if claim.claim.claim_type == "symptom"]
    onset = [claim for claim in symptoms if any(_service(proof) in places for proof in claim.evidence)][:1]
    return [*causes, *changes, *onset] if causes else list(shown[:1])


def _place(proof: VerifiedEvidence) -> tuple[object, str]:
    return proof.source_invocation_id, proof.raw_path


def _service(proof: VerifiedEvidence) -> str:
    return proof.scope.get("service", "")


def _lead(leading: Sequence[AllowedClaim], given: ComposerInput, sentences: Sentences) -> str:
    if not leading:
        return sentences.say("compose", "nothing")
    stop = _STOPS.get(given.language, ".")
    said = ("" if stop == "。" else " ").join(f"{_line(claim)}{stop}" for claim in leading)
    return said if given.verdict is Verdict.PASS else sentences.say("compose", "look_first", claim=said)


def _line(claim: AllowedClaim) -> str:
    return f"{claim.claim.claim_text} [{claim.number}]"
