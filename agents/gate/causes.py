"""Rule 9: when a text speaks of a cause, and what suffices to prove one."""

from __future__ import annotations

from collections.abc import Sequence

from agents.gate.cause_words import (
    BUSINESS_WORDS,
    CAUSAL,
    HEALTH,
    LOOKED_UP,
    STATED_CAUSES,
    SYMPTOMS,
    TERMS,
)
from agents.gate.tokens import content_words, parts, stem

KNOWLEDGE_TOOL = "lookup_knowledge"
ADDED_TOOL = "added_context"
CASES = "cases"


def speaks_of_cause(own_words: str) -> bool:
    """`own_words` is the claim without what it quotes."""
    return CAUSAL.search(own_words.lower()) is not None


def claims_absence(text: str) -> bool:
    """Whether a gap claim says more than that a look-up returned nothing: health, or that something did not happen."""
    return HEALTH.search(text) is not None or LOOKED_UP.search(text) is None


def is_lead(tool_name: str, raw_path: str, scope: dict[str, str]) -> bool:
    """Evidence that may be quoted but never carries a cause: an earlier case, and what a person typed or pasted, who may
    be wrong about it or about the day."""
    if tool_name == ADDED_TOOL:
        return True
    return tool_name == KNOWLEDGE_TOOL and (scope.get("domain") == CASES or raw_path.startswith("$.cases"))


def states_own_cause(claim: str, record: str, scope: str) -> bool:
    """Whether a record itself names the cause of the event the claim speaks of, and the claim names that cause.

    A symptom the record does not bear (latency, an error rate, a customer's order) is another event: for that one the
    record is no proof.
    """
    stated = [match[0] for match in STATED_CAUSES.finditer(record)]
    if not stated or not any(_shares(claim, cause) for cause in stated):
        return False
    return not (_foreign(claim, f"{record} {scope}"))


def _shares(claim: str, cause: str) -> bool:
    said = {stem(part) for word in claim.split() for part in parts(word)} | content_words(claim)
    named = content_words(cause) | {stem(part) for word in cause.split() for part in parts(word)}
    plain = {
        stem(word)
        for word in ("reason", "caused", "cause", "error", "because", "due", "by", "to", "of", "the", "is", "a")
    }
    return bool((said & named) - plain) or bool(terms(claim) & terms(cause))


def _foreign(claim: str, record: str) -> bool:
    lowered, known = claim.lower(), record.lower()
    symptoms = {name for name, pattern in SYMPTOMS.items() if pattern.search(lowered)}
    if symptoms - {name for name, pattern in SYMPTOMS.items() if pattern.search(known)}:
        return True
    return any(word in lowered and word not in known for word in BUSINESS_WORDS)


def terms(text: str) -> set[str]:
    """What the text speaks of, in whichever language it says so."""
    lowered = text.lower()
    return {term for term, pattern in TERMS.items() if pattern.search(lowered)}


def enough_tools(tools: Sequence[tuple[str, bool]]) -> bool:
    """`tools` are (name, is a lead) of the claim's proven bindings: two different tools, leads left out."""
    return len({name for name, is_lead in tools if not is_lead}) > 1
