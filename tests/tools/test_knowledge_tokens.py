"""Tokens decide what is found: codes whole and in parts, pairs of Chinese characters, endings folded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.tokens import codes, content_terms, term_hash, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ERR_TIMEOUT", {"err_timeout", "err", "timeout"}),
        ("ORA-00060", {"ora-00060", "ora", "00060"}),
        ("HikariPool-1", {"hikaripool-1", "hikaripool", "hikari", "pool", "1"}),
        ("GET /api/v1/orders/42", {"api/v1/orders/42", "api/v1/orders", "api/v1", "42"}),
        ("v2.3.1", {"v2.3.1", "v2"}),
        ("NullPointerException", {"nullpointerexception", "null", "pointer", "exception"}),
        ("连接池耗尽", {"连接", "接池", "池耗", "耗尽"}),
        ("ＥＲＲ＿４２", {"err_42", "err", "42"}),
    ],
)
def test_a_compound_is_kept_and_gives_its_parts(text: str, expected: set[str]) -> None:
    assert expected <= set(tokens(text))


@pytest.mark.parametrize(("one", "other"), [("timeouts", "timeout"), ("failing", "failed"), ("retries", "retry")])
def test_common_endings_meet(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


def test_a_code_is_not_cut_at_its_ending() -> None:
    assert tokens("ORDERS-7S")[0] == "orders-7s"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("why ERR_TIMEOUT in OrderService", ["err_timeout", "orderservice"]),
        ("报错 ORA-00060 怎么办", ["ora-00060"]),
        ("calls to /api/v1/orders/42", ["api/v1/orders/42", "api/v1", "api/v1/orders"]),
        ("it took 500ms at 14:05, 93 times", []),
        ("checkout is slow", []),
    ],
)
def test_codes_are_compounds_and_identifiers_but_no_amounts(query: str, expected: list[str]) -> None:
    assert codes(query) == expected


def test_question_words_carry_no_meaning_in_either_language() -> None:
    assert content_terms("why is the checkout slow") == tokens("checkout slow")
    assert content_terms("为什么结账变慢了") == ["结账", "账变", "变慢"]


def test_a_hash_is_the_same_in_every_process() -> None:
    assert term_hash("err_timeout") == 10117730065728039401


@given(st.text(max_size=200))
def test_any_text_has_tokens_without_white_space(text: str) -> None:
    assert all(token and not token.isspace() for token in [*tokens(text), *content_terms(text), *codes(text)])
