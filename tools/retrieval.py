"""Finds the pieces of the knowledge base that answer a question: L0 exact, then L1 hybrid, fused and floored.

L0: chunks that hold a rare code, identifier or API path of the question, or whose title it names. L1: BM25 over our own
tokens, and dense vectors where an embedder is configured, fused by reciprocal rank. A hit under the floor (too little
of the question's weight, too far a vector) is dropped before fusing: a best hit that has nothing to do with the question
is no evidence, and a list of noise would spoil a good one.

The lexical path reads the SQL database alone. Milvus is opened for dense vectors only, so a lookup without an embedder
neither pays for it nor needs it; where Milvus or the embedder is away the lookup is lexical and `notes` says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from storage.engine import Database
from storage.errors import StorageError
from storage.knowledge import Chunk, Domain, KnowledgeStore
from storage.vectors import Embedding, VectorHit, VectorStore
from tools.embedding import Embedder
from tools.errors import ToolConfigError, ToolFailed
from tools.knowledge_index import KnowledgeIndex, LexicalMatches, Snapshot

Layer = Literal["L0", "L1"]
Relevance = Literal["high", "medium", "low"]

CASES = "cases"
QUERY_LIMIT = 2000
_POOL = 40
_RRF = 60


@dataclass(frozen=True)
class RetrievalSettings:
    """`floor`: the least part of a question's weight (idf of its meaningful tokens) that a lexical hit must hold."""

    floor: float = 0.25
    medium: float = 0.4
    high: float = 0.6


@dataclass(frozen=True)
class Block:
    """One found chunk. `matched` are the codes and titles that L0 found; `share` and `similarity` are None where that
    list did not hold it."""

    chunk: Chunk
    layer: Layer
    relevance: Relevance
    matched: tuple[str, ...] = ()
    share: float | None = None
    similarity: float | None = None


@dataclass(frozen=True)
class Lookup:
    """An answer of the knowledge base. `retrieval_layer` is None where nothing was found."""

    query: str
    blocks: tuple[Block, ...]
    retrieval_layer: Literal["L0", "L1", "L0+L1"] | None
    l0_match_count: int
    l1_match_count: int
    relevance_level: Relevance | None
    searched_domains: tuple[str, ...]
    retrieved_domains: tuple[str, ...]
    source_documents: tuple[str, ...]
    dedup_reason: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Candidate:
    """A chunk on its way: the best rank comes first."""

    chunk_id: str
    layer: Layer
    matched: tuple[str, ...] = ()
    share: float | None = None
    similarity: float | None = None


@dataclass(frozen=True)
class _Dense:
    hits: list[VectorHit]
    note: str | None = None


class Retriever:
    """One per process; many lookups at once."""

    def __init__(
        self,
        db: Database,
        *,
        vectors: VectorStore | None = None,
        embedder: Embedder | None = None,
        settings: RetrievalSettings = RetrievalSettings(),
    ) -> None:
        self._db, self._vectors, self._embedder, self._settings = db, vectors, embedder, settings
        self._store = KnowledgeStore(db)
        self._index = KnowledgeIndex(self._store)

    async def domains(self) -> list[Domain]:
        """The map of what can be looked up."""
        return await self._db.call(self._store.domains)

    async def lookup(
        self, query: str, domains: Sequence[str] = (), limit: int = 5, *, with_floor: bool = True
    ) -> Lookup:
        """The best `limit` chunks of these domains (none given: of all); no blocks where nothing is relevant.

        `with_floor` False gives a person browsing (`kb search`) the best there is, relevant or not. Raises ToolFailed
        where no domain of that name exists, StorageError where the database is away.
        """
        query = query[:QUERY_LIMIT]
        known, searched, notes = await self._searched(domains)
        found, dense = await asyncio.gather(
            self._db.call(self._lexical, query, searched), self._dense(query, searched, with_floor)
        )
        snapshot, matches = found
        floor = self._settings.floor if with_floor else 0.0
        ranked = _ranked(snapshot, matches, dense.hits, floor)
        blocks, dropped = await self._db.call(self._blocks, ranked, limit)
        return _lookup(query, blocks, searched or known, (*notes, *filter(None, [dense.note])), dropped)

    async def _searched(self, domains: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """(every domain, the asked ones that exist, notes); asked ones that do not exist are named."""
        known = tuple(domain.domain_id for domain in await self.domains())
        asked = tuple(dict.fromkeys(name.strip() for name in domains if name.strip()))
        there = tuple(name for name in asked if name in known or name == CASES)
        unknown = [name for name in asked if name not in there]
        if unknown and not there:
            have = ", ".join(known) or "none, run `proofthread kb sync`"
            raise ToolFailed(f"There is no knowledge domain {', '.join(unknown)}. There are: {have}.")
        notes = (f"no such domain: {', '.join(unknown)}",) if unknown else ()
        return known, there, notes

    def _lexical(self, query: str, domains: Sequence[str]) -> tuple[Snapshot, LexicalMatches]:
        snapshot = self._index.snapshot()
        return snapshot, snapshot.matches(query, domains, _POOL)

    async def _dense(self, query: str, domains: Sequence[str], with_floor: bool) -> _Dense:
        if self._vectors is None or self._embedder is None:
            return _Dense([])
        try:
            vector = await self._embedder.query(query)
            wanted = Embedding(self._embedder.model, len(vector))
            hits = await self._vectors.call(self._vectors.search, list(vector), wanted, domains, _POOL)
        except (StorageError, ToolFailed, ToolConfigError) as error:
            return _Dense([], f"searched by words only: {error}")
        floor = self._embedder.floor if with_floor else -1.0
        return _Dense([hit for hit in hits if hit.similarity >= floor])

    def _blocks(self, ranked: list[_Candidate], limit: int) -> tuple[list[Block], int]:
        """The first `limit` with their text, and how many were dropped as repeating another's text."""
        chunks = self._store.chunks([candidate.chunk_id for candidate in ranked])
        blocks: list[Block] = []
        seen: set[str] = set()
        dropped = 0
        for candidate in ranked:
            chunk = chunks.get(candidate.chunk_id)
            if chunk is None or len(blocks) == limit:
                continue  # gone since the index or the vectors were read
            text = " ".join(chunk.content.split())
            if text in seen:
                dropped += 1
                continue
            seen.add(text)
            blocks.append(self._block(candidate, chunk))
        return blocks, dropped

    def _block(self, candidate: _Candidate, chunk: Chunk) -> Block:
        return Block(
            chunk, candidate.layer, self._relevance(candidate), candidate.matched, candidate.share, candidate.similarity
        )

    def _relevance(self, candidate: _Candidate) -> Relevance:
        share = candidate.share or 0.0
        near = (candidate.similarity or -1.0) - (self._embedder.floor if self._embedder else 0.0)
        if candidate.layer == "L0" or share >= self._settings.high:
            return "high"
        return "medium" if share >= self._settings.medium or near >= 0.05 else "low"


def _ranked(snapshot: Snapshot, matches: LexicalMatches, dense: list[VectorHit], floor: float) -> list[_Candidate]:
    """L0 in its order, then the rest by reciprocal rank over both lists."""
    names = [row.chunk_id for row in snapshot.rows]
    lexical = {names[hit.row]: hit.share for hit in matches.ranked if hit.share >= floor}
    near = {hit.chunk_id: hit.similarity for hit in dense}
    exact = [
        _Candidate(names[hit.row], "L0", matched, hit.share, near.get(names[hit.row])) for hit, matched in matches.exact
    ]
    first = {candidate.chunk_id for candidate in exact}
    fused = [name for name in _fused([list(lexical), list(near)]) if name not in first]
    return exact + [_Candidate(name, "L1", (), lexical.get(name), near.get(name)) for name in fused]


def _fused(lists: Iterable[list[str]]) -> list[str]:
    """Reciprocal rank fusion; among equal sums the earlier list comes first."""
    sums: dict[str, float] = {}
    for ranking in lists:
        for rank, name in enumerate(ranking, start=1):
            sums[name] = sums.get(name, 0.0) + 1 / (_RRF + rank)
    return sorted(sums, key=lambda name: -sums[name])


def _lookup(
    query: str, blocks: list[Block], searched: tuple[str, ...], notes: tuple[str, ...], dropped: int
) -> Lookup:
    l0 = sum(block.layer == "L0" for block in blocks)
    l1 = len(blocks) - l0
    levels: tuple[Relevance, ...] = ("high", "medium", "low")
    return Lookup(
        query=query,
        blocks=tuple(blocks),
        retrieval_layer=("L0+L1" if l0 and l1 else "L0" if l0 else "L1") if blocks else None,
        l0_match_count=l0,
        l1_match_count=l1,
        relevance_level=next((level for level in levels if any(block.relevance == level for block in blocks)), None),
        searched_domains=searched,
        retrieved_domains=tuple(dict.fromkeys(block.chunk.category for block in blocks)),
        source_documents=tuple(dict.fromkeys(block.chunk.source for block in blocks)),
        dedup_reason=f"{dropped} with the same text left out" if dropped else None,
        notes=notes,
    )
