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
from dataclasses import dataclass, replace
from typing import Literal

from storage.audience import PUBLIC, Audience
from storage.cases import CaseStore
from storage.engine import Database
from storage.knowledge import Chunk, Domain, KnowledgeStore
from storage.vectors import VectorStore
from tools.dense import DenseHit, DenseHits, DenseSearch
from tools.embedding import Embedder
from tools.errors import ToolFailed
from tools.knowledge_index import KnowledgeIndex, LexicalMatches, Snapshot

Layer = Literal["L0", "L1"]
Relevance = Literal["high", "medium", "low"]

CASES = "cases"
QUERY_LIMIT = 2000
_POOL = 40
_MOST_LEADS = 2
_RRF = 60
_TRIES = 3


@dataclass(frozen=True)
class RetrievalSettings:
    """Parts of a question's weight (idf of its meaningful tokens) that a lexical hit holds: under `floor` it is dropped,
    from `medium` and `high` it is called so. `near` is the margin from which a dense hit is medium."""

    floor: float = 0.3
    medium: float = 0.4
    high: float = 0.6
    near: float = 0.03


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
    margin: float | None = None
    is_noise: bool = False


def case_document(case_id: str) -> str:
    """The doc_id of a case."""
    return f"case-{case_id}"


class Retriever:
    """One per process; many lookups at once. Without `cases` no case is found."""

    def __init__(
        self,
        db: Database,
        *,
        vectors: VectorStore | None = None,
        embedder: Embedder | None = None,
        settings: RetrievalSettings = RetrievalSettings(),
        cases: CaseStore | None = None,
    ) -> None:
        self._db, self._settings, self._cases = db, settings, cases
        self._dense = DenseSearch(db, vectors, embedder) if vectors and embedder else None
        self._store = KnowledgeStore(db)
        self._index = KnowledgeIndex(self._store)

    async def domains(self) -> list[Domain]:
        """The map of what can be looked up."""
        return await self._db.call(self._store.domains)

    async def lookup(
        self,
        query: str,
        domains: Sequence[str] = (),
        limit: int = 5,
        *,
        with_floor: bool = True,
        audience: Audience = PUBLIC,
    ) -> Lookup:
        """The best `limit` chunks of these domains; no blocks where nothing is relevant. Without domains: of all, and up
        to two cases beside them, since a lead takes no runbook's place. Of the cases only those that `audience` may
        read and that stand at this moment.

        `with_floor` False gives a person browsing (`kb search`) the best there is, relevant or not. Raises ToolFailed
        where no domain of that name exists, StorageError where the database is away.
        """
        query = query[:QUERY_LIMIT]
        known, searched, notes = await self._searched(domains)
        cases = await self._open_cases(audience)
        found, dense = await asyncio.gather(
            self._db.call(self._lexical, query, searched, cases), self._nearest(query, searched, with_floor)
        )
        for _ in range(_TRIES):
            kept = [one for one in _ranked(*found, dense.hits, self._settings.floor) if not (with_floor and one.is_noise)]
            chunks = await self._db.call(self._store.chunks, [candidate.chunk_id for candidate in kept])
            if len(chunks) == len(kept):
                break
            # A sync replaced a document since the index was read.
            found = await self._db.call(self._lexical, query, searched, cases)
        # Nearness knows nothing of audiences.
        shown = {name: one for name, one in chunks.items() if one.category != CASES or one.doc_id in cases}
        blocks, dropped = self._blocks(kept, shown, limit, _MOST_LEADS if not domains else 0)
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

    async def _open_cases(self, audience: Audience) -> frozenset[str]:
        """Documents of the cases that may be shown."""
        if self._cases is None:
            return frozenset()
        return frozenset(map(case_document, await self._db.call(self._cases.searchable_ids, audience)))

    def _lexical(
        self, query: str, domains: Sequence[str], cases: frozenset[str]
    ) -> tuple[Snapshot, LexicalMatches]:
        snapshot = self._index.snapshot()
        hidden = {row.doc_id for row in snapshot.rows if row.category == CASES} - cases
        return snapshot, snapshot.matches(query, domains, _POOL, hidden=hidden)

    async def _nearest(self, query: str, domains: Sequence[str], with_floor: bool) -> DenseHits:
        if self._dense is None:
            return DenseHits()
        return await self._dense.search(query, domains, _POOL, with_floor=with_floor)

    def _blocks(
        self, ranked: Sequence[_Candidate], chunks: dict[str, Chunk], limit: int, leads: int
    ) -> tuple[list[Block], int]:
        """The first `limit`, with up to `leads` cases beside them (0: a case counts like any other), and how many were
        left out as repeating another's text."""
        room = {False: limit, True: leads}
        blocks: list[Block] = []
        seen: set[str] = set()
        dropped = 0
        for candidate in ranked:
            chunk = chunks.get(candidate.chunk_id)
            is_lead = leads > 0 and chunk is not None and chunk.category == CASES
            if chunk is None or room[is_lead] == 0:
                continue
            text = " ".join(chunk.content.split())
            if text in seen:
                dropped += 1
                continue
            seen.add(text)
            room[is_lead] -= 1
            blocks.append(self._block(candidate, chunk))
        return blocks, dropped

    def _block(self, candidate: _Candidate, chunk: Chunk) -> Block:
        return Block(
            chunk, candidate.layer, self._relevance(candidate), candidate.matched, candidate.share, candidate.similarity
        )

    def _relevance(self, candidate: _Candidate) -> Relevance:
        share, margin = candidate.share or 0.0, candidate.margin or 0.0
        if candidate.layer == "L0" or share >= self._settings.high:
            return "high"
        return "medium" if share >= self._settings.medium or margin >= self._settings.near else "low"


def _ranked(snapshot: Snapshot, matches: LexicalMatches, dense: Sequence[DenseHit], floor: float) -> list[_Candidate]:
    """L0 in its order, then both lists fused by reciprocal rank, then the noise: chunks found by words alone that hold
    less than `floor` of the question."""
    names = [row.chunk_id for row in snapshot.rows]
    shares = {names[hit.row]: hit.share for hit in matches.ranked}
    near = {hit.chunk_id: hit for hit in dense}
    coded = {names[row] for row in matches.coded}
    noise = {name for name, share in shares.items() if share < floor and name not in near and name not in coded}
    fused = _fused([[name for name in shares if name not in noise], list(near)])
    # Without a second list BM25's own order is the best there is.
    order = [*fused, *(name for name in shares if name in noise)] if near else list(shares)
    exact = [_Candidate(names[hit.row], "L0", matched, hit.share) for hit, matched in matches.exact]
    first = {candidate.chunk_id for candidate in exact}
    rest = [_Candidate(name, "L1", share=shares.get(name), is_noise=name in noise) for name in order]
    return [
        _with_dense(candidate, near.get(candidate.chunk_id))
        for candidate in (*exact, *(candidate for candidate in rest if candidate.chunk_id not in first))
    ]


def _with_dense(candidate: _Candidate, hit: DenseHit | None) -> _Candidate:
    return replace(candidate, similarity=hit.similarity, margin=hit.margin) if hit else candidate


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
