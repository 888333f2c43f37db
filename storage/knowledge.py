"""Documents, domains and chunks of the knowledge base, in SQL: what a lookup reads and what `kb sync` writes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, or_, select, update

from storage.engine import Database
from storage.errors import StorageConflict
from storage.models import api_document, knowledge_domain
from storage.models_knowledge import embedding_cache, knowledge_chunk, knowledge_state
from storage.types import InSeconds, database_now

T = TypeVar("T")
BATCH = 400
STATE = "knowledge"


class DocumentStatus(StrEnum):
    """PENDING: a sync has begun with it and must finish it. FAILED: unreadable, not searchable."""

    PENDING = "PENDING"
    INDEXED = "INDEXED"
    FAILED = "FAILED"


@dataclass(frozen=True)
class Document:
    """A row of api_document. `metadata` is JSON: front matter, title, category, source, aliases, error."""

    doc_id: str
    file_name: str
    file_path: str
    file_hash: str
    status: DocumentStatus
    chunk_count: int
    metadata: dict[str, Any]


@dataclass(frozen=True)
class Domain:
    domain_id: str
    description: str
    when_to_retrieve: str
    document_count: int


@dataclass(frozen=True)
class Chunk:
    """A piece of a document. `source` is the document's path inside its folder, `category` its domain."""

    chunk_id: str
    doc_id: str
    chunk_index: int
    total_chunks: int
    source: str
    title: str
    breadcrumb: str
    category: str
    content: str


@dataclass(frozen=True)
class IndexRow:
    """What the lexical index holds of a chunk: `terms` is its packed term vector. A chunk_id never changes its row."""

    chunk_id: str
    doc_id: str
    title: str
    category: str
    terms: bytes


class KnowledgeStore:
    """Synchronous, like all of storage: call it through `Database.call`. Raises StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # ------------------------------------------------ reading

    def revision(self) -> int:
        """Goes up with every change of chunks: an index built at the same revision is still right."""
        with self._db.read() as connection:
            found = connection.execute(select(knowledge_state.c.revision).where(knowledge_state.c.name == STATE))
            return int(found.scalar() or 0)

    def documents(self) -> list[Document]:
        with self._db.read() as connection:
            return [_document(row) for row in connection.execute(select(api_document).order_by(api_document.c.doc_id))]

    def domains(self) -> list[Domain]:
        with self._db.read() as connection:
            rows = connection.execute(select(knowledge_domain).order_by(knowledge_domain.c.domain_id))
            return [Domain(row.domain_id, row.description, row.when_to_retrieve, row.document_count) for row in rows]

    def chunk_count(self) -> int:
        with self._db.read() as connection:
            return int(connection.execute(select(func.count()).select_from(knowledge_chunk)).scalar_one())

    def chunk_ids(self) -> set[str]:
        with self._db.read() as connection:
            return set(connection.execute(select(knowledge_chunk.c.chunk_id)).scalars())

    def index_rows(self, chunk_ids: Collection[str] | None = None) -> list[IndexRow]:
        """The rows of these chunks, or of all."""
        columns = knowledge_chunk.c
        query = select(columns.chunk_id, columns.doc_id, columns.title, columns.category, columns.terms)
        return [IndexRow(**row._mapping) for row in self._rows(query, chunk_ids)]

    def chunks(self, chunk_ids: Collection[str]) -> dict[str, Chunk]:
        """Those of the chunks that still exist, by id."""
        query = select(*(knowledge_chunk.c[name] for name in Chunk.__dataclass_fields__))
        return {row.chunk_id: Chunk(**row._mapping) for row in self._rows(query, chunk_ids)}

    def chunks_of(self, doc_ids: Collection[str]) -> list[Chunk]:
        query = select(*(knowledge_chunk.c[name] for name in Chunk.__dataclass_fields__))
        with self._db.read() as connection:
            return [
                Chunk(**row._mapping)
                for part in _batches(list(doc_ids))
                for row in connection.execute(query.where(knowledge_chunk.c.doc_id.in_(part)))
            ]

    def vectors(self, keys: Collection[str]) -> dict[str, bytes]:
        """Cached embeddings by key; what is not cached is absent."""
        query = select(embedding_cache.c.key, embedding_cache.c.vector)
        with self._db.read() as connection:
            return {
                row.key: row.vector
                for part in _batches(list(keys))
                for row in connection.execute(query.where(embedding_cache.c.key.in_(part)))
            }

    # ------------------------------------------------ writing

    def claim(self, owner: str, seconds: int) -> bool:
        """Become, or stay, the one sync that may write for so long, on the database's clock."""
        state = knowledge_state.c
        free = or_(state.owner.is_(None), state.owner == owner, state.owned_until < database_now())
        change = update(knowledge_state).where(state.name == STATE, free)
        self._make_state()
        with self._db.begin() as connection:
            return connection.execute(change.values(owner=owner, owned_until=InSeconds(seconds))).rowcount == 1

    def _make_state(self) -> None:
        """The one row of the state, made by whoever comes first."""
        with self._db.read() as connection:
            if connection.execute(select(knowledge_state.c.name).where(knowledge_state.c.name == STATE)).first():
                return
        with suppress(StorageConflict), self._db.begin() as connection:
            connection.execute(insert(knowledge_state).values(name=STATE, revision=0))

    def release(self, owner: str) -> None:
        mine = (knowledge_state.c.name == STATE) & (knowledge_state.c.owner == owner)
        with self._db.begin() as connection:
            connection.execute(update(knowledge_state).where(mine).values(owner=None, owned_until=None))

    def put_documents(self, documents: Sequence[Document]) -> None:
        """Write rows of api_document, each new or in place of the one with its doc_id."""
        self._db.transact(lambda connection: _put_documents(connection, documents))

    def replace_chunks(self, doc_ids: Sequence[str], chunks: Sequence[tuple[Chunk, bytes]]) -> None:
        """In one transaction: all chunks of these documents go, `chunks` (each with its term vector) come."""

        def work(connection: Connection) -> None:
            _delete_chunks(connection, doc_ids)
            for part in _batches([{**asdict(chunk), "terms": terms} for chunk, terms in chunks]):
                connection.execute(insert(knowledge_chunk), part)
            _bump(connection)

        self._make_state()
        self._db.transact(work)

    def remove(self, doc_ids: Sequence[str]) -> None:
        """Documents and their chunks, gone."""

        def work(connection: Connection) -> None:
            _delete_chunks(connection, doc_ids)
            for part in _batches(doc_ids):
                connection.execute(delete(api_document).where(api_document.c.doc_id.in_(part)))
            _bump(connection)

        self._make_state()
        self._db.transact(work)

    def put_domains(self, domains: Sequence[Domain]) -> None:
        """The whole map, in place of the old one; nothing is written where it is the same."""
        if domains == self.domains():
            return

        def work(connection: Connection) -> None:
            connection.execute(delete(knowledge_domain))
            if domains:
                connection.execute(insert(knowledge_domain), [asdict(domain) for domain in domains])

        self._db.transact(work)

    def cache_vectors(self, vectors: dict[str, bytes]) -> None:
        known = self.vectors(vectors)
        rows = [{"key": key, "vector": vector} for key, vector in vectors.items() if key not in known]
        for part in _batches(rows):
            # Another process may have cached the same texts meanwhile; what is then missing is embedded again one day.
            with suppress(StorageConflict), self._db.begin() as connection:
                connection.execute(insert(embedding_cache), part)

    def _rows(self, query: Any, chunk_ids: Collection[str] | None) -> list[Row[Any]]:
        with self._db.read() as connection:
            if chunk_ids is None:
                return list(connection.execute(query))
            parts = (query.where(knowledge_chunk.c.chunk_id.in_(part)) for part in _batches(list(chunk_ids)))
            return [row for part in parts for row in connection.execute(part)]


def _document(row: Row[Any]) -> Document:
    fields = row._mapping
    return Document(
        doc_id=fields["doc_id"],
        file_name=fields["file_name"],
        file_path=fields["file_path"],
        file_hash=fields["file_hash"],
        status=DocumentStatus(fields["status"]),
        chunk_count=fields["chunk_count"],
        metadata=fields["metadata"],
    )


def _put_documents(connection: Connection, documents: Sequence[Document]) -> None:
    columns = api_document.c
    known: set[str] = set()
    for part in _batches([document.doc_id for document in documents]):
        known |= set(connection.execute(select(columns.doc_id).where(columns.doc_id.in_(part))).scalars())
    rows = [asdict(document) for document in documents]
    new = [row for row in rows if row["doc_id"] not in known]
    if new:
        connection.execute(insert(api_document), new)
    old = [{"which": row.pop("doc_id"), **row} for row in rows if row["doc_id"] in known]
    if old:
        connection.execute(update(api_document).where(columns.doc_id == bindparam("which")), old)


def _delete_chunks(connection: Connection, doc_ids: Sequence[str]) -> None:
    for part in _batches(doc_ids):
        connection.execute(delete(knowledge_chunk).where(knowledge_chunk.c.doc_id.in_(part)))


def _bump(connection: Connection) -> None:
    state = knowledge_state
    connection.execute(update(state).where(state.c.name == STATE).values(revision=state.c.revision + 1))


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))
