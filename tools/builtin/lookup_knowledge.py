"""Runbooks, code tables and past cases: what the team wrote down, quoted verbatim."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tools.contracts import (
    CallContext,
    Contract,
    EvidenceRef,
    EvidenceStatus,
    ToolDeps,
    ToolResult,
    ToolSpec,
    nothing_found,
)
from tools.errors import ToolFailed
from tools.retrieval import Block, Lookup
from tools.tokens import content_terms


class LookupKnowledge(Contract):
    query: str = Field(
        min_length=1,
        max_length=2000,
        description="What to look up: error codes, identifiers and API paths as they stand, and the symptom in words.",
    )
    domains: tuple[str, ...] = Field((), max_length=20, description="Only these knowledge domains; empty = all.")
    limit: int = Field(5, ge=1, le=10, description="At most so many pieces.")


async def run(arguments: LookupKnowledge, deps: ToolDeps, context: CallContext) -> ToolResult:
    if deps.retriever is None:
        raise ToolFailed("No knowledge base is configured.")
    found = await deps.retriever.lookup(
        arguments.query, arguments.domains, arguments.limit, audience=context.audience
    )
    details = _details(found)
    if not found.blocks:
        searched = ", ".join(found.searched_domains) or "no documents at all: run `proofthread kb sync`"
        sentence = f"The knowledge base ({searched}) holds nothing relevant to {found.query[:200]!r}."
        return nothing_found(sentence, scope={"source": "knowledge"}, **details)
    return ToolResult(
        payload={"evidence_blocks": [block.chunk.content for block in found.blocks], "sources": _sources(found)},
        evidence_status=EvidenceStatus.SUPPORTED,
        evidence_refs=tuple(_ref(index, block) for index, block in enumerate(found.blocks)),
        retrieval_details=details,
    )


def _ref(index: int, block: Block) -> EvidenceRef:
    chunk = block.chunk
    scope = {
        "domain": chunk.category,
        "document": chunk.source,
        "title": chunk.title,
        "breadcrumb": chunk.breadcrumb,
        "source": "knowledge",
    }
    return EvidenceRef(raw_path=f"$.evidence_blocks[{index}]", text=chunk.content, scope=scope)


def _sources(found: Lookup) -> list[dict[str, Any]]:
    """What the model may know of each block beside its text."""
    return [
        {
            "document": block.chunk.source,
            "title": block.chunk.title,
            "breadcrumb": block.chunk.breadcrumb,
            "domain": block.chunk.category,
            "relevance": block.relevance,
            "matched": list(block.matched),
        }
        for block in found.blocks
    ]


def _details(found: Lookup) -> dict[str, Any]:
    return {
        "retrieval_layer": found.retrieval_layer,
        "l0_match_count": found.l0_match_count,
        "l1_match_count": found.l1_match_count,
        "relevance_level": found.relevance_level,
        "retrieved_domains": list(found.retrieved_domains),
        "dedup_reason": found.dedup_reason,
        "source_documents": list(found.source_documents),
        "searched_domains": list(found.searched_domains),
        "notes": list(found.notes),
    }


def _unavailable(deps: ToolDeps) -> str | None:
    return None if deps.retriever else "no knowledge base is configured"


def _compiled(arguments: LookupKnowledge, _: CallContext) -> str:
    """The same words in another order, or with other question words, ask the same."""
    words = sorted(content_terms(arguments.query)) or [arguments.query]
    return f"{' '.join(words)}\n{' '.join(sorted(arguments.domains))}\n{arguments.limit}"


TOOL = ToolSpec(
    name="lookup_knowledge",
    description=(
        "Looks up the team's runbooks and reference documents. Returns verbatim pieces with their document and place. "
        "A runbook says what a symptom usually means and what to do; it does not say what happened today. Pieces of "
        "the domain `cases` are past incidents: leads, never evidence of today's cause."
    ),
    input_model=LookupKnowledge,
    run=run,
    evidence_level="indirect",
    unavailable=_unavailable,
    compiled=_compiled,
)
