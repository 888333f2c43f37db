"""Dense search: nearest chunks by meaning, and which of them are near enough to be worth a look."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from storage.engine import Database
from storage.errors import StorageError
from storage.knowledge import Chunk, KnowledgeStore
from storage.vectors import Embedding, VectorHit, VectorStore
from tools.embedding import Embedder, Vector, embed_cached
from tools.embedding_background import CJK, LATIN
from tools.errors import ToolConfigError, ToolFailed
from tools.tokens import is_mostly_cjk

# Cosines, measured on xquad in all four language pairs (benchmarks/README.md). A true hit across scripts stands lower.
SAME_SCRIPT, OTHER_SCRIPT = 0.015, 0.0
OVER_THE_REST = 0.025
_REST = slice(10, 40)
_ENOUGH_REST = 10


@dataclass(frozen=True)
class DenseHit:
    """`margin` is how much nearer the chunk is to the question than the nearest text that answers nothing."""

    chunk_id: str
    similarity: float
    margin: float


@dataclass(frozen=True)
class DenseHits:
    """Nearest first. `note` says why there are none where something is away or not set up."""

    hits: tuple[DenseHit, ...] = ()
    note: str | None = None


class DenseSearch:
    """Opens Milvus and the embedder at the first search."""

    def __init__(self, db: Database, vectors: VectorStore, embedder: Embedder) -> None:
        self._db, self._vectors, self._embedder = db, vectors, embedder
        self._store = KnowledgeStore(db)
        self._background: dict[bool, list[Vector]] | None = None

    async def search(self, query: str, domains: Sequence[str], limit: int, *, with_floor: bool) -> DenseHits:
        """The nearest chunks; with the floor only those that stand out. Never raises for what is away."""
        try:
            vector = await self._embedder.query(query)
            wanted = Embedding(self._embedder.model, len(vector))
            found = await self._vectors.call(self._vectors.search, list(vector), wanted, domains, limit)
            chunks = await self._db.call(self._store.chunks, [hit.chunk_id for hit in found])
            nearest = await self._nearest_background(vector)
        except (StorageError, ToolFailed, ToolConfigError) as error:
            return DenseHits(note=f"searched by words only: {error}")
        there = [hit for hit in found if hit.chunk_id in chunks]
        standing = _standing_out(query, there, chunks, nearest) if with_floor else {hit.chunk_id for hit in there}
        scripts = {hit.chunk_id: is_mostly_cjk(chunks[hit.chunk_id].content) for hit in there}
        return DenseHits(
            tuple(
                DenseHit(hit.chunk_id, hit.similarity, hit.similarity - nearest[scripts[hit.chunk_id]])
                for hit in there
                if hit.chunk_id in standing
            )
        )

    async def _nearest_background(self, vector: Vector) -> dict[bool, float]:
        """Per script (True: Chinese, Japanese, Korean) the cosine of the nearest text that answers nothing."""
        if self._background is None:
            self._background = await background(self._embedder, self._db, self._store)
        return {script: max(_cosine(vector, one) for one in texts) for script, texts in self._background.items()}


async def background(embedder: Embedder, db: Database, store: KnowledgeStore) -> dict[bool, list[Vector]]:
    """Vectors of the texts that answer nothing, per script; embedded once, then cached."""
    vectors = await embed_cached(embedder, [*LATIN, *CJK], db, store, lambda _: asyncio.sleep(0))
    return {False: vectors[: len(LATIN)], True: vectors[len(LATIN) :]}


def _standing_out(
    query: str, hits: Sequence[VectorHit], chunks: dict[str, Chunk], nearest: dict[bool, float]
) -> set[str]:
    """Ids of hits nearer than the background and, in a base large enough to tell, than the rest of the base."""
    asked = is_mostly_cjk(query)
    groups: defaultdict[bool, list[VectorHit]] = defaultdict(list)
    for hit in hits:
        groups[is_mostly_cjk(chunks[hit.chunk_id].content)].append(hit)
    kept: set[str] = set()
    for script, group in groups.items():
        floor = nearest[script] + (SAME_SCRIPT if script == asked else OTHER_SCRIPT)
        rest = [hit.similarity for hit in group][_REST]
        if len(rest) >= _ENOUGH_REST:
            floor = max(floor, sum(rest) / len(rest) + OVER_THE_REST)
        kept |= {hit.chunk_id for hit in group if hit.similarity >= floor}
    return kept


def _cosine(left: Vector, right: Vector) -> float:
    dot = sum(a * b for a, b in zip(left, right, strict=True))
    size = sum(a * a for a in left) * sum(b * b for b in right)
    return float(dot / size**0.5) if size else 0.0
