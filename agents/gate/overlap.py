"""How much of a claim's wording its quotes bear: the code's cross-check on a verifier that says yes."""

from __future__ import annotations

from collections.abc import Sequence

from agents.contracts import VerifiedEvidence
from agents.gate.facts import Passage, Sources, Statement, missing_facts, scope_durations, scope_zones
from agents.gate.keys import meanings_of
from agents.gate.normalise import normalise
from agents.gate.tokens import content_words, has_cjk


def content_share(claim_text: str, evidence: Sequence[VerifiedEvidence]) -> float:
    """Share (0 to 1) of the claim's content words in its spans and their scope, where both are of one language; across
    languages the share of its names, codes, numbers and times. 1.0 where there is nothing to compare."""
    claim = normalise(claim_text).text
    spans = [normalise(proof.span_text).text for proof in evidence]
    if has_cjk(claim) != has_cjk(" ".join(spans)):
        return _fact_share(claim, spans, evidence)
    said = content_words(claim)
    if not said:
        return 1.0
    text = " ".join([*spans, *(value for proof in evidence for value in proof.scope.values())])
    known, meant = content_words(text), meanings_of(content_words(text))
    return sum(1 for word in said if word in known or meanings_of([word]) & meant) / len(said)


def _fact_share(claim: str, spans: Sequence[str], evidence: Sequence[VerifiedEvidence]) -> float:
    labels = [normalise(", ".join(f"{key}={value}" for key, value in proof.scope.items())).text for proof in evidence]
    sources = Sources(
        [Passage.whole(text) for text in (*spans, *labels)],
        tuple(zone for proof in evidence for zone in scope_zones(proof.scope)),
        tuple(length for proof in evidence for length in scope_durations(proof.scope)),
    )
    said = Statement(claim)
    return 1 - sum(1 for _ in missing_facts(said, sources)) / said.size if said.size else 1.0
