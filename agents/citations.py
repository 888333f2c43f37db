"""Short handles for evidence: what a model cites (E12), and the full binding that code makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from agents.contracts import (
    Claim,
    DraftCitation,
    DraftClaim,
    EvidenceBinding,
    ExecutorDraft,
    ExecutorEvidence,
    InvocationEvidence,
    RecommendedAction,
)
from agents.llm.base import CitedRef, Exchange, ToolCall
from tools.contracts import EvidenceStatus
from tools.invocation import Invocation

_QUOTABLE = (EvidenceStatus.SUPPORTED, EvidenceStatus.NO_EVIDENCE)
_HANDLE = re.compile(r"[Ee]\d+")


def exchanges_of(invocations: Iterable[Invocation]) -> tuple[Exchange, ...]:
    """The run's finished calls in order. Handles count through all their refs; a deduped or failed call has none."""
    numbers = count(1)
    return tuple(_exchange(invocation, numbers) for invocation in invocations)


def evidence_of(invocations: Iterable[Invocation], run_id: str) -> tuple[InvocationEvidence, ...]:
    """The same calls as the Gatekeeper sees them."""
    return tuple(
        InvocationEvidence(
            id=invocation.id,
            run_id=run_id,
            tool_name=invocation.tool_name,
            evidence_status=invocation.evidence_status,
            # For the gate: a ref's text was cut. That rows were left out makes no end of a text uncertain.
            truncated=any("truncated" in ref.scope for ref in invocation.refs),
            evidence_refs=invocation.refs,
        )
        for invocation in invocations
    )


def expanded(draft: ExecutorDraft, exchanges: Sequence[Exchange], round: int) -> ExecutorEvidence:
    """executor_evidence_v2 of a draft. Claim ids carry their round, so that two rounds never collide."""
    refs = {cited.handle: cited for exchange in exchanges for cited in exchange.refs}
    ids = _distinct(f"r{round}-{claim.claim_id}" for claim in draft.claims)
    return ExecutorEvidence(
        diagnosis_summary=draft.diagnosis_summary,
        claims=tuple(_claim(claim, name, refs) for claim, name in zip(draft.claims, ids, strict=True)),
        hypotheses=draft.hypotheses,
        recommended_actions=tuple(
            RecommendedAction(
                action_text=action.action_text,
                reason=action.reason,
                evidence_bindings=tuple(_binding(citation, refs) for citation in action.evidence),
            )
            for action in draft.recommended_actions
        ),
        missing_info=draft.missing_info,
        user_facing_answer=draft.user_facing_answer,
    )


def merged(earlier: ExecutorEvidence | None, later: ExecutorEvidence) -> ExecutorEvidence:
    """Both rounds' claims; of the rest the later round knows better, save where it has nothing to say."""
    if earlier is None:
        return later
    return later.model_copy(
        update={
            "claims": (*earlier.claims, *later.claims),
            "hypotheses": later.hypotheses or earlier.hypotheses,
            "recommended_actions": later.recommended_actions or earlier.recommended_actions,
        }
    )


def _exchange(invocation: Invocation, numbers: Iterable[int]) -> Exchange:
    quotable = invocation.refs if invocation.evidence_status in _QUOTABLE else ()
    cited = tuple(
        CitedRef(f"E{number}", invocation.id, invocation.tool_name, ref)
        for ref, number in zip(quotable, numbers, strict=False)
    )
    return Exchange(
        call=ToolCall(str(invocation.id), invocation.tool_name, invocation.arguments),
        invocation_id=invocation.id,
        evidence_status=invocation.evidence_status,
        refs=cited,
        payload=invocation.payload,
        error=invocation.error,
        node_round=invocation.key.round,
    )


def answering(exchange: Exchange, call: ToolCall) -> Exchange:
    """The exchange under the id by which the model made the call."""
    return replace(exchange, call=call)


def _claim(draft: DraftClaim, claim_id: str, refs: Mapping[str, CitedRef]) -> Claim:
    return Claim(
        claim_id=claim_id,
        claim_type=draft.claim_type,
        claim_text=draft.claim_text,
        support_level=draft.support_level,
        evidence_bindings=tuple(_binding(citation, refs) for citation in draft.evidence) or (_UNCITED,),
    )


# A claim without a citation keeps its place in the record: the Gatekeeper rejects it by its empty key.
_UNCITED = EvidenceBinding(source_invocation_id="", tool_name="", raw_path="", evidence_excerpt="")


def _binding(citation: DraftCitation, refs: Mapping[str, CitedRef]) -> EvidenceBinding:
    """An unknown handle stays what the model wrote, as an invocation that this run does not have."""
    found = _HANDLE.search(citation.ref)
    cited = refs.get(found.group().upper()) if found else None
    if cited is None:
        return EvidenceBinding(
            source_invocation_id=citation.ref,
            tool_name="",
            raw_path=citation.ref,
            evidence_excerpt=citation.excerpt,
        )
    return EvidenceBinding(
        source_invocation_id=cited.invocation_id,
        tool_name=cited.tool_name,
        raw_path=cited.ref.raw_path,
        evidence_excerpt=citation.excerpt,
    )


def _distinct(names: Iterable[str]) -> list[str]:
    """A name that comes again gets its count: two claims under one id could not be told apart."""
    seen: set[str] = set()
    distinct = []
    for name in names:
        free = next(candidate for candidate in _spellings(name) if candidate not in seen)
        seen.add(free)
        distinct.append(free)
    return distinct


def _spellings(name: str) -> Iterable[str]:
    yield name
    for number in count(2):
        yield f"{name}#{number}"
