"""Chunks and their vectors in Milvus: a server by address, or milvus-lite by file, one code path for both.

What differs between the two is hidden here: a file is served by a child process (storage/milvus_file.py), a collection
is loaded before it is searched, writes are upserts, reads are strongly consistent, every call has a time-out, filters
are quoted by our own escaper, and every failure is a StorageError.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from storage.errors import StorageError, StorageUnavailable
from storage.knowledge import Chunk

if TYPE_CHECKING:
    from pymilvus import MilvusClient

P = ParamSpec("P")
T = TypeVar("T")

LITE_CHUNKS = 10_000
_BYTES = 60_000
_BATCH = 500
_MODEL, _DIMENSION = "proofthread.embedding_model", "proofthread.embedding_dimension"


class VectorsUnavailable(StorageUnavailable):
    """Milvus is away, frozen, or refuses the call."""


class EmbeddingMismatch(StorageError):
    """The stored vectors are another model's: the two cannot be compared."""


@dataclass(frozen=True)
class Embedding:
    """The model that vectors come from. `LEXICAL` stands for none: Milvus wants a vector in each row, so those rows
    carry a constant one that is never searched."""

    model: str
    dimension: int


LEXICAL = Embedding("none", 2)
LEXICAL_VECTOR = [1.0, 0.0]


@dataclass(frozen=True)
class VectorHit:
    """`similarity` is the cosine, -1 to 1."""

    chunk_id: str
    similarity: float


def capacity_note(chunks: int, uri: str) -> str | None:
    """What to tell the operator where a file holds more chunks than milvus-lite bears; None where all is well."""
    if is_server(uri) or chunks <= LITE_CHUNKS:
        return None
    return (
        f"{chunks} chunks are more than milvus-lite serves well (about {LITE_CHUNKS}): run a Milvus server, "
        "set its address as milvus_uri and sync again."
    )


def is_server(uri: str) -> bool:
    return "://" in uri


class VectorStore:
    """Synchronous, made for threads: from async code use `call`. Opens nothing before the first use; close it.

    Raises VectorsUnavailable, EmbeddingMismatch, or StorageUnavailable for a file that cannot be served.
    """

    def __init__(
        self,
        uri: str,
        *,
        token: str = "",
        collection: str = "proofthread_chunks",
        timeout_seconds: float = 10.0,
        idle_seconds: float = 30.0,
    ) -> None:
        from storage.milvus_file import MilvusFile

        self.uri = uri
        self._token, self._collection, self._timeout = token, collection, timeout_seconds
        self._file = None if is_server(uri) else MilvusFile(Path(uri), idle_seconds=idle_seconds)
        self._client: MilvusClient | None = None
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="vectors")

    async def call(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking method in this store's own threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(fn, *args, **kwargs))

    def close(self) -> None:
        self._threads.shutdown(wait=True)
        self._drop_client()
        if self._file:
            self._file.close()

    # ------------------------------------------------ the collection

    def embedding(self) -> Embedding | None:
        """What the stored vectors come from; None where there is no collection yet."""
        return self._do("describe", self._stored_embedding)

    def prepare(self, wanted: Embedding, *, rebuild: bool = False) -> bool:
        """Make the collection ready for `wanted`; True where it was made anew, so that every chunk must be put again.

        Raises EmbeddingMismatch where it holds another model's vectors and `rebuild` is not asked. A collection without
        vectors (LEXICAL) is replaced without asking: nothing is lost.
        """
        stored = self.embedding()
        if stored == wanted and not rebuild:
            return False
        if stored not in (None, LEXICAL, wanted) and not rebuild:
            raise mismatch(stored, wanted)
        self._do("create collection", lambda client: self._create(client, wanted, replace=stored is not None))
        return True

    def count(self) -> int:
        """Chunks in the collection, 0 where there is none."""
        if self.embedding() is None:
            return 0
        return self._do("count", self._count)

    # ------------------------------------------------ rows

    def put(self, chunks: Sequence[tuple[Chunk, Sequence[float]]]) -> None:
        """Insert or replace chunks with their vectors."""
        for start in range(0, len(chunks), _BATCH):
            rows = [_row(chunk, vector) for chunk, vector in chunks[start : start + _BATCH]]
            self._do("upsert", partial(self._upsert, rows=rows))

    def forget(self, doc_ids: Sequence[str], *, but: Collection[str] = ()) -> None:
        """Delete the chunks of these documents, except the chunk ids in `but`."""
        for start in range(0, len(doc_ids), _BATCH):
            wanted = f"docId in {_listed(doc_ids[start : start + _BATCH])}"
            if but:
                wanted += f" and chunkId not in {_listed(but)}"
            self._do("delete", partial(self._delete, filter=wanted))

    def search(self, vector: Sequence[float], wanted: Embedding, categories: Collection[str], limit: int) -> list[VectorHit]:
        """The nearest chunks, nearest first, of these categories (empty: of all)."""
        stored = self.embedding()
        if stored != wanted:
            raise mismatch(stored, wanted)
        chosen = f"category in {_listed(categories)}" if categories else ""
        return self._do("search", lambda client: self._search(client, list(vector), chosen, limit))

    def _search(self, client: MilvusClient, vector: list[float], chosen: str, limit: int) -> list[VectorHit]:
        found = client.search(
            self._collection, [vector], filter=chosen, limit=limit, timeout=self._timeout, consistency_level="Strong"
        )
        return [VectorHit(str(hit["chunkId"]), float(hit["distance"])) for hit in found[0]]

    def _upsert(self, client: MilvusClient, rows: list[dict[str, Any]]) -> None:
        client.upsert(self._collection, rows, timeout=self._timeout)

    def _delete(self, client: MilvusClient, filter: str) -> None:
        client.delete(self._collection, filter=filter, timeout=self._timeout)

    def _count(self, client: MilvusClient) -> int:
        rows = client.query(
            self._collection, filter="", output_fields=["count(*)"], timeout=self._timeout, consistency_level="Strong"
        )
        return int(rows[0]["count(*)"])

    def _stored_embedding(self, client: MilvusClient) -> Embedding | None:
        if not client.has_collection(self._collection, timeout=self._timeout):
            return None
        said = client.describe_collection(self._collection, timeout=self._timeout).get("properties", {})
        if _MODEL not in said:
            raise EmbeddingMismatch(
                f"The Milvus collection {self._collection} was not made by Proofthread: name another collection."
            )
        return Embedding(said[_MODEL], int(said[_DIMENSION]))

    def _create(self, client: MilvusClient, wanted: Embedding, *, replace: bool) -> None:
        if replace:
            client.drop_collection(self._collection, timeout=self._timeout)
        client.create_collection(
            self._collection,
            schema=_schema(client, wanted.dimension),
            index_params=_index(client),
            properties={_MODEL: wanted.model, _DIMENSION: str(wanted.dimension)},
            consistency_level="Strong",
            timeout=self._timeout,
        )
        client.load_collection(self._collection, timeout=self._timeout)

    # ------------------------------------------------ the connection

    def _do(self, what: str, work: Callable[[MilvusClient], T]) -> T:
        """Run `work`; a file's server that died is started again, once."""
        try:
            with _translated(what, self.uri):
                return work(self._opened())
        except VectorsUnavailable:
            if self._file is None or self._is_served():
                raise
        self._drop_client()
        with _translated(what, self.uri):
            return work(self._opened())

    def _is_served(self) -> bool:
        return self._file is not None and self._file.is_served()

    def _opened(self) -> MilvusClient:
        with self._lock:
            if self._client is None:
                self._client = self._open()
            return self._client

    def _open(self) -> MilvusClient:
        # pymilvus writes a traceback for every refused call; ours says it in one line.
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        from pymilvus import MilvusClient

        address = self._file.open() if self._file else self.uri
        client = MilvusClient(uri=address, token=self._token, timeout=self._timeout)
        if client.has_collection(self._collection, timeout=self._timeout):
            # A server that was restarted has released it.
            client.load_collection(self._collection, timeout=self._timeout)
        return client

    def _drop_client(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


@contextmanager
def _translated(what: str, uri: str) -> Iterator[None]:
    import grpc
    from pymilvus.exceptions import MilvusException

    try:
        yield
    except MilvusException as error:
        raise _unavailable(what, uri, error.message) from error
    except grpc.RpcError as error:
        # A deadline comes as a bare grpc error, everything else as a MilvusException.
        raise _unavailable(what, uri, str(error.details() if isinstance(error, grpc.Call) else error)) from error


def _unavailable(what: str, uri: str, said: str) -> VectorsUnavailable:
    place = re.sub(r"//[^/@]*@", "//", uri)
    return VectorsUnavailable(
        f"Milvus at {place} cannot {what} ({said[:300]}): check that it runs and that milvus_uri is right."
    )


def mismatch(stored: Embedding | None, wanted: Embedding) -> EmbeddingMismatch:
    if stored in (None, LEXICAL):
        return EmbeddingMismatch(
            f"The vector store holds no vectors of {wanted.model} yet: run `proofthread kb sync`, with `--rebuild` if the "
            "store was lost."
        )
    kept = f"{stored.model} ({stored.dimension} numbers)" if stored else ""
    return EmbeddingMismatch(
        f"The vector store holds vectors of {kept}, the settings say {wanted.model} ({wanted.dimension}): "
        "set the old model again, or embed everything anew with `proofthread kb sync --rebuild`."
    )


def _schema(client: MilvusClient, dimension: int) -> Any:
    from pymilvus import DataType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("chunkId", DataType.VARCHAR, is_primary=True, max_length=128)
    for name in ("docId", "_source", "title", "breadcrumb", "category", "content"):
        schema.add_field(name, DataType.VARCHAR, max_length=65_535)
    for name in ("chunkIndex", "totalChunks"):
        schema.add_field(name, DataType.INT64)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    return schema


def _index(client: MilvusClient) -> Any:
    index = client.prepare_index_params()
    index.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
    return index


def _row(chunk: Chunk, vector: Sequence[float]) -> dict[str, Any]:
    return {
        "chunkId": chunk.chunk_id,
        "docId": chunk.doc_id,
        "_source": _fitting(chunk.source),
        "chunkIndex": chunk.chunk_index,
        "totalChunks": chunk.total_chunks,
        "title": _fitting(chunk.title),
        "breadcrumb": _fitting(chunk.breadcrumb),
        "category": chunk.category,
        "content": _fitting(chunk.content),
        "vector": list(vector),
    }


def _fitting(text: str) -> str:
    """Milvus counts the bytes of a text, and takes 65,535."""
    return text.encode()[:_BYTES].decode(errors="ignore")


def _listed(values: Collection[str]) -> str:
    """A list literal of a Milvus filter: JSON's quoting is Milvus's."""
    return json.dumps(list(values), ensure_ascii=False)
