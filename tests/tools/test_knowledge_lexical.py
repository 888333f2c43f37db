"""The inverted index scores like BM25 computed by hand."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.lexical import K1, B, LexicalIndex, pack_terms

WORDS = st.lists(st.sampled_from(["pool", "disk", "slow", "连接", "err_42"]), max_size=12)


def bm25(documents: list[list[str]], query: list[str]) -> list[float]:
    """The textbook formula, term by term."""
    mean = max(sum(map(len, documents)) / len(documents), 1.0)
    scores = []
    for document in documents:
        score = 0.0
        for term in query:
            holds = sum(term in other for other in documents)
            weight = math.log(1 + (len(documents) - holds + 0.5) / (holds + 0.5))
            count = document.count(term)
            score += weight * count * (K1 + 1) / (count + K1 * (1 - B + B * len(document) / mean))
        scores.append(score)
    return scores


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS)
def test_scores_are_those_of_the_formula(documents: list[list[str]], query: list[str]) -> None:
    index = LexicalIndex.build([pack_terms(Counter(document)) for document in documents])
    scores = index.scores(Counter(query), np.ones(len(documents), bool))
    assert scores.tolist() == pytest.approx(bm25(documents, query), rel=1e-4, abs=1e-5)


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS)
def test_a_chunk_with_every_word_holds_the_whole_query(documents: list[list[str]], query: list[str]) -> None:
    index = LexicalIndex.build([pack_terms(Counter(document)) for document in documents])
    shares = index.shares([(word,) for word in set(query)]).tolist()
    assert all(0 <= share <= 1.0001 for share in shares)
    for document, share in zip(documents, shares, strict=True):
        assert not query or (share == pytest.approx(1.0)) == (set(query) <= set(document))


def test_parts_of_a_compound_are_half_of_it_at_most() -> None:
    index = LexicalIndex.build([pack_terms(Counter(text.split())) for text in ("err_42 err 42", "err 42", "err", "x")])
    whole, parts, one_part, none = index.shares([("err_42", "err", "42")]).tolist()
    assert (whole, parts, none) == (1.0, 0.5, 0.0)
    assert 0 < one_part < 0.5


def test_the_best_come_first_and_equals_in_row_order() -> None:
    index = LexicalIndex.build([pack_terms(Counter(text.split())) for text in ("a b", "a", "b", "a")])
    scores = index.scores({"a": 1}, np.ones(4, bool))
    assert [hit.row for hit in index.best(scores, index.shares([("a",)]), 3)] == [1, 3, 0]
    assert [hit.row for hit in index.best(scores, index.shares([("a",)]), 1)] == [1]


def test_rows_that_are_not_allowed_score_nothing() -> None:
    index = LexicalIndex.build([pack_terms({"a": 1}), pack_terms({"a": 1})])
    assert index.scores({"a": 1}, np.array([False, True])).tolist()[0] == 0


def test_an_empty_index_finds_nothing() -> None:
    index = LexicalIndex.build([])
    scores = index.scores({"a": 1}, np.ones(0, bool))
    assert index.best(scores, index.shares([("a",)]), 5) == []


def test_a_count_beyond_two_bytes_is_kept_at_the_most() -> None:
    index = LexicalIndex.build([pack_terms({"a": 1_000_000})])
    assert index.rows_with("a").tolist() == [0]
