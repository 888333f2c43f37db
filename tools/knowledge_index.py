"""The lexical index of the knowledge base as it is now: built from the SQL database, kept until the base changes."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from storage.knowledge import IndexRow, KnowledgeStore
from tools.lexical import LexicalHit, LexicalIndex
from tools.tokens import codes, content_terms, content_words, fold, term_counts

# A code that many chunks hold ("checkout-service") says what the base is about, not which chunk answers.
_RARE_SHARE, _RARE_COUNT = 0.05, 5
_SHORTEST_TITLE = 4
_ERROR_CODE = re.compile(r"[a-z]{2,}(?:[-_][a-z]+)*[-_]?\d{2,}")


@dataclass(frozen=True)
class LexicalMatches:
    """`exact` (L0): chunks that hold a rare code of the query or whose title it names, best first, with what matched;
    `ranked` (L1): the best by BM25, those of `exact` among them; `coded`: rows that hold an error code of the query, be
    it rare or not: they are never noise."""

    exact: list[tuple[LexicalHit, tuple[str, ...]]]
    ranked: list[LexicalHit]
    coded: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Snapshot:
    """The index at one revision. Rows are ordered by chunk_id, so that equal scores rank alike everywhere."""

    revision: int
    rows: tuple[IndexRow, ...]
    index: LexicalIndex
    titles: dict[str, list[int]] = field(default_factory=dict)

    def matches(
        self, query: str, categories: Collection[str], limit: int, *, hidden: Collection[str] = ()
    ) -> LexicalMatches:
        """The best of these categories (none given: of all), documents in `hidden` left out."""
        terms = dict.fromkeys(content_terms(query), 1) or dict(term_counts(query))
        allowed = self._allowed(categories, hidden)
        scores = self.index.scores(terms, allowed)
        shares = self.index.shares(content_words(query))
        ranked = self.index.best(scores, shares, limit)
        exact = self._exact(query, allowed)
        rows = sorted(exact, key=lambda row: (-exact[row][0], -float(scores[row]), row))[:limit]
        found = [(self.index.hit(row, scores, shares), exact[row][1]) for row in rows]
        return LexicalMatches(found, ranked, self._coded(query))

    def _allowed(self, categories: Collection[str], hidden: Collection[str]) -> Any:
        import numpy as np

        if not categories and not hidden:
            return np.ones(len(self.rows), bool)
        open_rows = ((not categories or row.category in categories) and row.doc_id not in hidden for row in self.rows)
        return np.fromiter(open_rows, bool, len(self.rows))

    def _exact(self, query: str, allowed: Any) -> dict[int, tuple[float, tuple[str, ...]]]:
        """row → (weight of what matched, what matched)."""
        found: dict[int, tuple[float, tuple[str, ...]]] = {}
        common = max(_RARE_COUNT, _RARE_SHARE * len(self.rows))
        places = [(code, self.index.idf(fold(code)), self.index.rows_with(fold(code))) for code in codes(query)]
        places += [(title, 1.0, self.titles[title]) for title in self._titles_in(_plain(query))]
        for name, weight, rows in places:
            if len(rows) > common and name not in self.titles:
                continue
            for row in (int(row) for row in rows if allowed[row]):
                before, names = found.get(row, (0.0, ()))
                found[row] = (before + weight, (*names, name))
        return found

    def _coded(self, query: str) -> frozenset[int]:
        asked = [code for code in codes(query) if _ERROR_CODE.fullmatch(code)]
        return frozenset(int(row) for code in asked for row in self.index.rows_with(fold(code)))

    def _titles_in(self, query: str) -> list[str]:
        """The titles that the query says whole, as words of its own."""
        said = [title for title in self.titles if len(title) >= _SHORTEST_TITLE and title in query]
        return [title for title in said if re.search(rf"(?<!\w){re.escape(title)}(?!\w)", query)]


class KnowledgeIndex:
    """Blocking; thread-safe. Only changed chunks are read again."""

    def __init__(self, store: KnowledgeStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None

    def snapshot(self) -> Snapshot:
        """The index of the newest revision."""
        revision = self._store.revision()
        with self._lock:
            if self._snapshot is None or self._snapshot.revision < revision:
                self._snapshot = self._refreshed(revision)
            return self._snapshot

    def _refreshed(self, revision: int) -> Snapshot:
        kept = {row.chunk_id: row for row in (self._snapshot.rows if self._snapshot else ())}
        if kept:
            ids = self._store.chunk_ids()
            new = self._store.index_rows(ids - kept.keys())
            rows = [row for row in kept.values() if row.chunk_id in ids] + new
        else:
            rows = self._store.index_rows()
        return _snapshot(revision, sorted(rows, key=lambda row: row.chunk_id))


def _snapshot(revision: int, rows: list[IndexRow]) -> Snapshot:
    titles: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        titles.setdefault(_plain(row.title), []).append(place)
    return Snapshot(revision, tuple(rows), LexicalIndex.build([row.terms for row in rows]), titles)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
