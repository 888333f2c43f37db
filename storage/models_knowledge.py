"""What retrieval reads: chunks with their term vectors, cached embeddings, and the state of the knowledge base."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Dialect, Index, Integer, LargeBinary, String
from sqlalchemy.dialects.mysql import LONGBLOB
from sqlalchemy.types import TypeDecorator, TypeEngine

from storage.types import BigKey, LongText, UtcDateTime, table


class LongBytes(TypeDecorator[bytes]):
    """Bytes of any length: MySQL's plain BLOB ends at 64 kB."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        mysql = dialect.name in ("mysql", "mariadb")
        return dialect.type_descriptor(LONGBLOB() if mysql else LargeBinary())


# The text that evidence quotes, and `terms`, the packed term vector that tools/lexical.py inverts.
knowledge_chunk = table(
    "knowledge_chunk",
    Column("id", BigKey, primary_key=True),
    Column("chunk_id", String(128), nullable=False, unique=True),
    Column("doc_id", String(64), nullable=False),
    Column("chunk_index", Integer, nullable=False),
    Column("total_chunks", Integer, nullable=False),
    Column("source", LongText, nullable=False),
    Column("title", LongText, nullable=False),
    Column("breadcrumb", LongText, nullable=False),
    Column("category", String(64), nullable=False),
    Column("content", LongText, nullable=False),
    Column("terms", LongBytes, nullable=False),
    Index(None, "doc_id"),
)

# Vectors by sha256(model, text): a text is embedded once, whatever becomes of the vector store.
embedding_cache = table(
    "embedding_cache",
    Column("key", String(64), primary_key=True),
    Column("vector", LongBytes, nullable=False),
)

# One row. `revision` goes up with every change of chunks; `owner` is the one sync that may run.
knowledge_state = table(
    "knowledge_state",
    Column("name", String(32), primary_key=True),
    Column("revision", BigInteger, nullable=False),
    Column("owner", String(128)),
    Column("owned_until", UtcDateTime),
)
