"""Cases in the knowledge base, as documents of the domain `cases`.

The case library decides what a lookup may show, at every lookup; the index only finds. So a retracted case is gone at
once, in every process, and what is written here may lag behind or fail: the next `kb sync` puts missing vectors back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256

from storage.cases import Case
from storage.errors import StorageConflict, StorageError
from storage.knowledge import Chunk, Document, DocumentStatus, KnowledgeStore
from storage.vectors import LEXICAL, Embedding, VectorStore, mismatch
from tools.chunking import chunk_markdown
from tools.domain_map import domain_map
from tools.embedding import Embedder, embed_cached
from tools.errors import ToolConfigError, ToolFailed
from tools.ingest import SyncDeps
from tools.lexical import pack_terms
from tools.retrieval import CASES, case_document
from tools.sync_plan import INDEX_VERSION
from tools.tokens import term_counts

TRIES = 3
ABOUT = {
    "description": "Past incidents of this team, as their runs proved them: cause and solution",
    "when_to_retrieve": "for leads from incidents that looked alike; never as evidence of today's cause",
}

log = logging.getLogger(__name__)


async def index_case(case: Case, deps: SyncDeps) -> None:
    """Make the base hold the case as it stands, or not at all where it is not offered. Raises StorageError where the
    SQL database is away; without its vectors it is found by its words alone."""
    for _ in range(TRIES - 1):
        # Another process indexes the same case, or writes the map of domains, at this moment.
        with suppress(StorageConflict):
            return await _index(case, deps)
    return await _index(case, deps)


async def forget_cases(case_ids: Iterable[str], deps: SyncDeps) -> None:
    """Take these cases out of the base."""
    store = KnowledgeStore(deps.db)
    documents = [case_document(case_id) for case_id in case_ids]
    if not await deps.db.call(store.chunks_of, documents):
        return
    await deps.db.call(store.remove, documents)
    await _refresh_domains(deps, store)
    if deps.vectors is not None and deps.embedder is not None:
        try:
            await deps.vectors.call(deps.vectors.forget, documents)
        except StorageError as error:
            log.warning("vectors of %d cases stay behind: %s", len(documents), error)


async def _index(case: Case, deps: SyncDeps) -> None:
    if not case.is_offered:
        return await forget_cases([case.case_id], deps)
    store, document = KnowledgeStore(deps.db), case_document(case.case_id)
    chunks = _chunks(case, document)
    terms = [pack_terms(term_counts(f"{chunk.title}\n{chunk.breadcrumb}\n{chunk.content}")) for chunk in chunks]
    await deps.db.call(store.replace_chunks, [document], list(zip(chunks, terms, strict=True)))
    model = await _embedded(chunks, deps, store)
    await deps.db.call(store.put_documents, [_row(case, document, len(chunks), model)])
    return await _refresh_domains(deps, store)


def _chunks(case: Case, document: str) -> list[Chunk]:
    texts = chunk_markdown(_markdown(case))
    version = sha256(_markdown(case).encode("utf-8", "replace")).hexdigest()[:16]
    return [
        Chunk(
            chunk_id=f"{document}.{version}.{INDEX_VERSION}.{index}",
            doc_id=document,
            chunk_index=index,
            total_chunks=len(texts),
            source=f"case {case.case_id}",
            title=case.title,
            breadcrumb=text.breadcrumb,
            category=CASES,
            content=text.text,
        )
        for index, text in enumerate(texts)
    ]


def _markdown(case: Case) -> str:
    return (
        f"# {' '.join(case.title.split())}\n\n"
        f"Case of {case.created_at:%Y-%m-%d}, {case.fault_category}.\n\n"
        f"Root cause: {case.root_cause}\n\n"
        f"Solution: {case.solution}\n"
    )


def _row(case: Case, document: str, chunk_count: int, model: str) -> Document:
    metadata = {
        "source": f"case {case.case_id}",
        "title": case.title,
        "category": CASES,
        "front_matter": ABOUT,
        "aliases": [],
        "index_version": INDEX_VERSION,
        "embedding": model,
    }
    digest = sha256(_markdown(case).encode("utf-8", "replace")).hexdigest()
    return Document(document, document, f"case:{case.case_id}", digest, DocumentStatus.INDEXED, chunk_count, metadata)


async def _embedded(chunks: list[Chunk], deps: SyncDeps, store: KnowledgeStore) -> str:
    """The model whose vectors Milvus holds of the chunks now; "" where it could not take them, as the next sync sees."""
    if deps.vectors is None or deps.embedder is None:
        return LEXICAL.model
    try:
        await _put(chunks, deps.vectors, deps.embedder, deps, store)
    except (StorageError, ToolFailed, ToolConfigError) as error:
        log.warning("case %s is found by its words alone: %s", chunks[0].source, error)
        return ""
    return deps.embedder.model


async def _put(
    chunks: list[Chunk], vectors: VectorStore, embedder: Embedder, deps: SyncDeps, store: KnowledgeStore
) -> None:
    texts = [f"{chunk.title}\n{chunk.breadcrumb[-80:]}\n{chunk.content}" for chunk in chunks]
    found = await embed_cached(embedder, texts, deps.db, store, lambda _: asyncio.sleep(0))
    wanted, stored = Embedding(embedder.model, len(found[0])), await vectors.call(vectors.embedding)
    if stored != wanted:
        raise mismatch(stored, wanted)
    await vectors.call(vectors.put, list(zip(chunks, found, strict=True)))
    await vectors.call(vectors.forget, [chunks[0].doc_id], but=[chunk.chunk_id for chunk in chunks])


async def _refresh_domains(deps: SyncDeps, store: KnowledgeStore) -> None:
    await deps.db.call(store.put_domains, domain_map(await deps.db.call(store.documents)))
