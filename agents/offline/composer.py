"""The answer without a model: the claims' own sentences, in the order in which a woken-up engineer needs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agents.contracts import AllowedClaim, AnswerSections, ComposerDraft, ComposerInput, Verdict
from agents.llm.base import ModelRequest
from agents.offline.sentences import Sentences, sentences_of

_LEADING = ("root_cause", "healthy", "change")
_STOP = {"zh": "。", "en": "."}


def compose(request: ModelRequest) -> ComposerDraft:
    given = request.payload
    assert isinstance(given, ComposerInput)
    sentences = sentences_of(given.language)
    shown = [claim for claim in given.allowed_claims if claim.claim.claim_type != "gap"]
    leading = _leading(shown, given.verdict)
    return ComposerDraft(
        used_claim_ids=tuple(claim.claim.claim_id for claim in shown),
        sections=AnswerSections(
            lead=_lead(leading, shown, given, sentences),
            confirmed=tuple(_line(claim) for claim in shown if claim not in leading or given.verdict is not Verdict.PASS),
            gaps=tuple(dict.fromkeys([*_empty(given.allowed_claims), *given.missing_info, sentences.say("missing", "no_model")])),
            next_steps=tuple(_next_steps(given)),
        ),
    )


def _leading(shown: Sequence[AllowedClaim], verdict: Verdict) -> list[AllowedClaim]:
    """The cause and the change before it; where the question was about a fact, that fact."""
    if verdict is not Verdict.PASS:
        return list(shown[:1])
    causes = [claim for claim in shown if claim.claim.claim_type in _LEADING]
    return causes[:3] or list(shown[:1])


def _lead(
    leading: Sequence[AllowedClaim], shown: Sequence[AllowedClaim], given: ComposerInput, sentences: Sentences
) -> str:
    if not leading:
        return sentences.say("compose", "nothing")
    if given.verdict is not Verdict.PASS:
        return sentences.say("compose", "look_first", claim=_line(leading[0]))
    onset = [claim for claim in shown if claim.claim.claim_type in ("impact", "symptom") and claim not in leading][:1]
    said = [_line(claim) for claim in (*leading, *(onset if leading[0].claim.claim_type == "root_cause" else ()))]
    return " ".join(said)


def _line(claim: AllowedClaim) -> str:
    return f"{claim.claim.claim_text} [{claim.number}]"


def _empty(claims: Sequence[AllowedClaim]) -> Iterator[str]:
    yield from (_line(claim) for claim in claims if claim.claim.claim_type == "gap")


def _next_steps(given: ComposerInput) -> Iterator[str]:
    yield from (action.action_text for action in given.recommended_actions)
    yield from (hypothesis.hypothesis_text for hypothesis in given.hypotheses)
