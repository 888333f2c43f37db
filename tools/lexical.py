"""BM25 over an inverted index that is built in memory from the term vectors of the SQL database.

Per chunk the database holds the 64-bit hashes of its tokens and their counts; document frequencies, and with them the
weights, are taken from the corpus as it is now. Every process and every database ranks alike. Measured in
benchmarks/README.md: under a millisecond a query at 10,000 chunks, where milvus-lite needs 200 and a posting table in
SQL fetches thousands of rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tools.tokens import is_cjk, term_hash

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

K1, B = 1.2, 0.75
_SEAM, _PARTS = 0.5, 0.5
_MAX_COUNT = 65535


@dataclass(frozen=True)
class LexicalHit:
    """`row` is the chunk's place in the index; `share` is how much of the query's weight the chunk holds, 0 to 1."""

    row: int
    score: float
    share: float


def pack_terms(counts: Mapping[str, int]) -> bytes:
    """Term vector of one chunk: all hashes (uint64, ascending), then all counts (uint16), little-endian."""
    import numpy as np

    pairs = sorted((term_hash(term), min(count, _MAX_COUNT)) for term, count in counts.items())
    hashes = np.array([term for term, _ in pairs], dtype="<u8")
    return hashes.tobytes() + np.array([count for _, count in pairs], dtype="<u2").tobytes()


class LexicalIndex:
    """Immutable; a changed corpus makes a new one (`build` of 10,000 chunks takes about half a second)."""

    def __init__(self, terms: Any, starts: Any, rows: Any, counts: Any, lengths: Any) -> None:
        self._terms, self._starts, self._rows = terms, starts, rows
        self._size = len(lengths)
        mean = float(lengths.mean()) if self._size else 1.0
        norms = K1 * (1 - B + B * lengths / max(mean, 1.0))
        self._weights = counts * (K1 + 1) / (counts + norms[rows])

    @classmethod
    def build(cls, packed: Sequence[bytes]) -> LexicalIndex:
        import numpy as np

        sizes = np.array([len(blob) // 10 for blob in packed], dtype=np.int64)
        hashes = _joined((np.frombuffer(b, "<u8", n) for b, n in zip(packed, sizes, strict=True)), np.uint64)
        counts = _joined((np.frombuffer(b, "<u2", n, n * 8) for b, n in zip(packed, sizes, strict=True)), np.float32)
        owners = np.repeat(np.arange(len(packed), dtype=np.int32), sizes)
        order = np.argsort(hashes, kind="stable")
        terms, starts = np.unique(hashes[order], return_index=True)
        lengths = np.bincount(owners, counts, minlength=len(packed)).astype(np.float32)
        return cls(terms, np.append(starts, len(order)), owners[order], counts[order], lengths)

    def __len__(self) -> int:
        return self._size

    def idf(self, term: str) -> float:
        """Weight of a term; one that no chunk holds weighs most."""
        return self._idf(self._postings(term))

    def scores(self, terms: Mapping[str, int], allowed: Any) -> Floats:
        """BM25 of every chunk for `terms` (token → count in the query); 0 where `allowed[row]` is False."""
        import numpy as np

        scores = np.zeros(self._size, np.float32)
        for term, count in terms.items():
            span = self._postings(term)
            scores[self._rows[span]] += self._idf(span) * count * self._weights[span]
        scores[~allowed] = 0
        return scores

    def shares(self, words: Iterable[tuple[str, ...]]) -> Floats:
        """Per chunk the part of a query that it holds, 0 to 1: the idf of the words it holds over that of all.

        A word is its token and the tokens of its parts; a chunk that holds only parts of a compound holds half of it at
        most.
        """
        import numpy as np

        held = np.zeros(self._size, np.float32)
        whole = 0.0
        for token, *parts in words:
            weight = self._need(token)
            whole += weight
            extent = _PARTS * self._parts_held(parts) if parts else np.zeros(self._size, np.float32)
            extent[self.rows_with(token)] = 1
            held += weight * extent
        return held / whole if whole else held

    def _parts_held(self, parts: Sequence[str]) -> Floats:
        import numpy as np

        held = np.zeros(self._size, np.float32)
        for part in parts:
            held[self.rows_with(part)] += self.idf(part)
        return held / max(sum(self.idf(part) for part in parts), 1e-9)

    def _need(self, token: str) -> float:
        """How much a word weighs in a query. A pair of Chinese characters that no chunk holds is often the seam of two
        words, not a word that is missing."""
        span = self._postings(token)
        return self._idf(span) * (_SEAM if is_cjk(token) and span.start == span.stop else 1.0)

    def best(self, scores: Floats, shares: Floats, limit: int) -> list[LexicalHit]:
        """The chunks with the highest positive scores, best first; equal scores in row order."""
        import numpy as np

        if not self._size or limit < 1:
            return []
        last = np.partition(scores, -min(limit, self._size))[-min(limit, self._size)]
        rows = np.flatnonzero((scores >= last) & (scores > 0))
        hits = [self.hit(int(row), scores, shares) for row in rows]
        return sorted(hits, key=lambda hit: (-hit.score, hit.row))[:limit]

    def hit(self, row: int, scores: Floats, shares: Floats) -> LexicalHit:
        return LexicalHit(row, float(scores[row]), float(shares[row]))

    def rows_with(self, term: str) -> Any:
        """The rows that hold `term`."""
        return self._rows[self._postings(term)]

    def _postings(self, term: str) -> slice:
        import numpy as np

        wanted = np.uint64(term_hash(term))
        place = int(np.searchsorted(self._terms, wanted))
        if place == len(self._terms) or self._terms[place] != wanted:
            return slice(0, 0)
        return slice(int(self._starts[place]), int(self._starts[place + 1]))

    def _idf(self, span: slice) -> float:
        found = span.stop - span.start
        return math.log(1 + (self._size - found + 0.5) / (found + 0.5))


def _joined(arrays: Iterable[Any], kind: Any) -> Any:
    import numpy as np

    parts = list(arrays)
    return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)
