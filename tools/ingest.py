"""`kb sync`: makes the knowledge base equal to a folder of Markdown.

Order of writes, so that a crash at any point leaves what the next sync repairs: the document is PENDING in SQL → its
chunks go to Milvus → its chunks are swapped in SQL in one transaction → its old chunks leave Milvus → INDEXED. Until the
swap, lookups read the old text. A chunk's id holds its document's content hash, so a vector never meets another text.
Where nothing changed, Milvus is not opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from storage.engine import Database
from storage.errors import StorageError
from storage.knowledge import Chunk, Document, DocumentStatus, KnowledgeStore
from storage.vectors import LEXICAL, LEXICAL_VECTOR, Embedding, VectorStore, capacity_note
from tools.dense import background
from tools.documents import SourceFile, find_files
from tools.domain_map import domain_map
from tools.embedding import Embedder, Vector, embed_cached
from tools.errors import ToolConfigError, ToolFailed
from tools.sync_plan import Piece, Plan, SyncProblem, batches, planned, read_all

LEASE_SECONDS = 300
# A base in SQL alone is small and synced in a second: whoever waits for a killed sync should not wait long.
SHORT_LEASE_SECONDS = 10

OnProgress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class SyncDeps:
    """`vectors` None keeps the base in SQL alone (a scenario's own small base). `owner` names this process."""

    db: Database
    redact: Callable[[str], str]
    owner: str
    vectors: VectorStore | None = None
    embedder: Embedder | None = None


@dataclass(frozen=True)
class SyncReport:
    """What a sync did. `aliases` maps a file to the one with the same content that stands for it. `failure` says why it
    ended early (a store away, another model's vectors); documents it left are PENDING and the next sync finishes them.
    `is_busy`: it did nothing, since another sync holds the base or was killed a moment ago."""

    folder: str
    indexed: tuple[str, ...] = ()
    unchanged: int = 0
    removed: tuple[str, ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)
    problems: tuple[SyncProblem, ...] = ()
    chunks: int = 0
    domains: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str | None = None
    is_busy: bool = False

    @property
    def exit_code(self) -> int:
        """0, or 2 where the operator must act."""
        return 2 if self.problems or self.failure else 0


def _quiet(_done: int, _total: int, _document: str) -> None:
    return None


async def sync_folder(
    root: Path, deps: SyncDeps, *, rebuild: bool = False, alone: bool = False, on_progress: OnProgress = _quiet
) -> SyncReport:
    """Make the base equal to `root`; documents of other folders stay, unless the base is this folder's `alone`. `rebuild` indexes everything anew and may change
    the embedding model. `on_progress` gets (chunks done, of how many, the document or stage at hand).

    Raises ToolConfigError where `root` is no folder, StorageError where the SQL database is away.
    """
    files, unopened = await asyncio.to_thread(find_files, root)
    sync = _Sync(root.expanduser().resolve(), deps, on_progress)
    if not await sync.claim():
        return SyncReport(str(root), failure="Another sync is running: wait for it, then sync again.", is_busy=True)
    try:
        return await sync.run(files, unopened, rebuild, alone)
    finally:
        await deps.db.call(sync.store.release, deps.owner)


class _Sync:
    def __init__(self, root: Path, deps: SyncDeps, on_progress: OnProgress) -> None:
        self.store = KnowledgeStore(deps.db)
        self._root, self._deps, self._db, self._on_progress = root, deps, deps.db, on_progress
        self._total = self._left = 0
        self._model = deps.embedder.model if deps.embedder and deps.vectors else LEXICAL.model

    async def claim(self) -> bool:
        seconds = SHORT_LEASE_SECONDS if self._deps.vectors is None else LEASE_SECONDS
        return await self._db.call(self.store.claim, self._deps.owner, seconds)

    async def run(
        self, files: list[SourceFile], unopened: dict[str, str], rebuild: bool, alone: bool
    ) -> SyncReport:
        rows = {row.doc_id: row for row in await self._db.call(self.store.documents)}
        plan = planned(files, rows, self._root, self._model, unopened, rebuild=rebuild, alone=alone)
        pieces, broken = await asyncio.to_thread(read_all, plan.changed, rows, self._model, self._deps.redact)
        await self._db.call(self.store.put_documents, [replace(p.row, status=DocumentStatus.PENDING) for p in pieces])
        failure = await self._written(plan, pieces, [one.row for one in broken], rows, rebuild)
        problems = [SyncProblem(source, None, why) for source, why in unopened.items()]
        return await self._report(plan, pieces, [*problems, *(one.problem for one in broken)], failure)

    # ------------------------------------------------ doing it

    async def _written(
        self,
        plan: Plan,
        pieces: list[Piece],
        failed: list[Document],
        rows: dict[str, Document],
        rebuild: bool,
    ) -> str | None:
        """None, or why the sync ended early."""
        gone = [row.doc_id for row in plan.gone]
        emptied = [row.doc_id for row in failed if row.doc_id in rows and rows[row.doc_id].chunk_count]
        try:
            if pieces or gone or emptied or rebuild:
                await self._open_vectors(pieces, rows, rebuild)
            await self._remove(gone, emptied)
            await self._db.call(self.store.put_documents, failed)
            await self._index(pieces, rows)
        except (StorageError, ToolFailed, ToolConfigError) as error:
            return str(error)
        return None

    async def _open_vectors(self, pieces: list[Piece], rows: dict[str, Document], rebuild: bool) -> None:
        """Prepare Milvus; where its collection was made anew, put back the documents that this sync does not touch."""
        vectors = self._deps.vectors
        if vectors is None:
            return
        made = await vectors.call(vectors.prepare, await self._embedding(), rebuild=rebuild)
        touched = {piece.row.doc_id for piece in pieces}
        others = [row for row in rows.values() if row.doc_id not in touched and row.chunk_count]
        if made:
            # Written first: a sync that dies on the way leaves rows that the next one sees are not in Milvus.
            others = [_embedded_by(row, "") for row in others]
            await self._db.call(self.store.put_documents, others)
        for part in batches([row for row in others if row.metadata.get("embedding") != self._model]):
            chunks = await self._db.call(self.store.chunks_of, [row.doc_id for row in part])
            await vectors.call(vectors.put, list(zip(chunks, await self._vectors_of(chunks), strict=True)))
            await self._db.call(self.store.put_documents, [_embedded_by(row, self._model) for row in part])

    async def _embedding(self) -> Embedding:
        embedder = self._deps.embedder
        if embedder is None:
            return LEXICAL
        # Lookups need these vectors; having them now also tells the dimension.
        probe = await background(embedder, self._db, self.store)
        return Embedding(embedder.model, len(probe[True][0]))

    async def _remove(self, gone: list[str], emptied: list[str]) -> None:
        if self._deps.vectors and (gone or emptied):
            await self._deps.vectors.call(self._deps.vectors.forget, gone + emptied)
        if gone:
            await self._db.call(self.store.remove, gone)
        if emptied:
            await self._db.call(self.store.replace_chunks, emptied, [])

    async def _index(self, pieces: list[Piece], rows: dict[str, Document]) -> None:
        self._left = self._total = sum(len(piece.chunks) for piece in pieces)
        for part in batches(pieces):
            await self._index_batch(part, rows)
            self._left -= sum(len(piece.chunks) for piece in part)
            self._on_progress(self._total - self._left, self._total, part[-1].row.metadata["source"])

    async def _index_batch(self, part: list[Piece], rows: dict[str, Document]) -> None:
        chunks = [chunk for piece in part for chunk in piece.chunks]
        terms = [packed for piece in part for packed in piece.terms]
        embedded = await self._vectors_of(chunks)
        await self._still_ours()
        vectors = self._deps.vectors
        if vectors:
            await vectors.call(vectors.put, list(zip(chunks, embedded, strict=True)))
        doc_ids = [piece.row.doc_id for piece in part]
        await self._db.call(self.store.replace_chunks, doc_ids, list(zip(chunks, terms, strict=True)))
        known = [doc_id for doc_id in doc_ids if doc_id in rows]
        if vectors and known:
            await vectors.call(vectors.forget, known, but=[chunk.chunk_id for chunk in chunks if chunk.doc_id in known])
        done = [replace(piece.row, chunk_count=len(piece.chunks), status=DocumentStatus.INDEXED) for piece in part]
        await self._db.call(self.store.put_documents, done)

    async def _vectors_of(self, chunks: Sequence[Chunk]) -> list[Vector]:
        embedder = self._deps.embedder
        if embedder is None or self._deps.vectors is None:
            return [LEXICAL_VECTOR] * len(chunks)
        texts = [f"{chunk.title}\n{chunk.breadcrumb[-80:]}\n{chunk.content}" for chunk in chunks]
        return await embed_cached(embedder, texts, self._db, self.store, self._embedded(len(texts)))

    def _embedded(self, batch: int) -> Callable[[int], Awaitable[None]]:
        """Embedding may take minutes: keep the claim and show that it goes on."""

        async def tell(missing: int) -> None:
            await self._still_ours()
            done = self._total - self._left + max(batch - missing, 0)
            self._on_progress(min(done, self._total), self._total, "embedding")

        return tell

    async def _still_ours(self) -> None:
        if not await self.claim():
            raise ToolFailed("Another sync took over because this one was too slow: sync again.")

    # ------------------------------------------------ what was done

    async def _report(
        self, plan: Plan, pieces: list[Piece], problems: list[SyncProblem], failure: str | None
    ) -> SyncReport:
        rows = await self._db.call(self.store.documents)
        domains = domain_map(rows)
        await self._db.call(self.store.put_domains, domains)
        chunks = await self._db.call(self.store.chunk_count)
        note = capacity_note(chunks, self._deps.vectors.uri) if self._deps.vectors else None
        indexed = {row.doc_id for row in rows if row.status is DocumentStatus.INDEXED}
        return SyncReport(
            folder=str(self._root),
            indexed=tuple(p.row.metadata["source"] for p in pieces if p.row.doc_id in indexed),
            unchanged=plan.unchanged,
            removed=tuple(str(row.metadata.get("source")) for row in plan.gone) if failure is None else (),
            aliases=plan.aliases,
            problems=tuple(problems),
            chunks=chunks,
            domains=tuple(domain.domain_id for domain in domains),
            notes=(note,) if note else (),
            failure=failure,
        )


def _embedded_by(row: Document, model: str) -> Document:
    return replace(row, metadata={**row.metadata, "embedding": model})
