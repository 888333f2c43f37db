"""A fact about business rows is asked of the query that the operator made for it."""

from dataclasses import replace

import pytest
from offline_world import BUILTIN, Answers, executor_request, offer

from agents.contracts import ExecutorDraft
from agents.llm.base import ToolCall, ToolOffer
from agents.offline.executor import turn
from tools.contracts import EvidenceRef

CATALOGUE = (
    "Reads orders. Queries: order_by_id(order): one order: its state, failure code; and times; "
    "failures_by_code(since): failed orders since a time, counted by failure code; "
    "open_refunds(): refunds that wait; rows(limit, since): failed orders, one by one"
)
ORDERS = replace(offer("query_order", optional=("order", "query", "parameters"), origin="builtin"), description=CATALOGUE)
OFFERS: tuple[ToolOffer, ...] = (*(one for one in BUILTIN if one.name != "query_order"), ORDERS)


def business_calls(question: str) -> list[object]:
    answers = Answers().nothing("query_metrics", {"mode": "alerts"})
    reply = turn(executor_request(question, OFFERS, answers))
    assert isinstance(reply, tuple)
    calls: list[ToolCall] = list(reply)
    return [call.arguments for call in calls if call.name == "query_order"]


@pytest.mark.parametrize(
    ("question", "query", "since"),
    [
        ("How many failed orders since 08:00?", "failures_by_code", {"since": "2026-11-30T08:00:00Z"}),
        ("从08:00起有多少失败的订单？", "failures_by_code", {"since": "2026-11-30T08:00:00Z"}),
        ("Which open refunds are there?", "open_refunds", {}),
    ],
)
def test_the_query_is_chosen_by_what_it_is_about(question: str, query: str, since: dict[str, str]) -> None:
    assert business_calls(question) == [{"query": query, "parameters": since}]


@pytest.mark.parametrize("question", ["Why do failed orders pile up?", "How many pods are running?", "Which order is it?"])
def test_no_query_is_asked_about_something_else(question: str) -> None:
    assert business_calls(question) == []


@pytest.mark.parametrize(("rows", "gap"), [(("orders=50",), False), (("code=A orders=50", "code=B orders=3"), True)])
def test_rows_that_count_parts_are_told_as_parts(rows: tuple[str, ...], gap: bool) -> None:
    refs = [EvidenceRef(raw_path=f"$.rows[{at}]", text=row, scope={"query": "q"}) for at, row in enumerate(rows)]
    answers = Answers().found("query_order", {"query": "q", "parameters": {}}, refs)
    draft = turn(executor_request("How many failed orders since 08:00?", (), answers))
    assert isinstance(draft, ExecutorDraft)
    assert [any(row in claim.claim_text for claim in draft.claims) for row in rows] == [True] * len(rows)
    assert any("no row states the sum" in one for one in draft.missing_info) is gap
