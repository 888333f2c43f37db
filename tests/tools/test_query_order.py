"""Business rows by named queries, on a real database."""

import sqlite3
from pathlib import Path

import pytest
from tool_door import DoorOfRun

from storage.business import BusinessStore
from tools.builtin.query_order import TOOL
from tools.business import BusinessQueries, NamedQuery, QueryParameter
from tools.contracts import EvidenceStatus, ToolDeps
from tools.errors import ToolConfigError
from tools.registry import ToolRegistry
from tools.skills import SkillRegistry

BY_ID = NamedQuery(
    "order_by_id",
    "SELECT order_id, status, amount_cents, failure_code FROM orders WHERE order_id = :order_id",
    "one order",
    {"order_id": QueryParameter(description="the order's id")},
)
SINCE = NamedQuery(
    "failed_since",
    "SELECT order_id, status, created_at FROM orders WHERE created_at >= :start AND (:low IS NULL OR amount_cents >= :low)",
    "failed orders",
    {"start": QueryParameter("time"), "low": QueryParameter("integer", required=False)},
)
WRITES = NamedQuery("writes", "DELETE FROM orders", "not allowed")


@pytest.fixture
def deps(tmp_path: Path) -> ToolDeps:
    path = tmp_path / "orders.db"
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TABLE orders (order_id TEXT, status TEXT, amount_cents INTEGER, failure_code TEXT, created_at TEXT)"
    )
    rows = [
        (f"SO-{n}", "FAILED" if n % 2 else "PAID", 100 * n, "PAY-2007", f"2026-11-30 08:{n:02}:00")
        for n in range(1, 60)
    ]
    connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    store = BusinessStore(f"sqlite:///{path}")
    return ToolDeps(skills=SkillRegistry(), business=BusinessQueries(store, [BY_ID, SINCE, WRITES], max_rows=5))


async def test_a_row_is_one_ref_with_its_fields(run_door: DoorOfRun, deps: ToolDeps) -> None:
    door = run_door.open([TOOL], deps)
    invocation = await run_door.call(door, "query_order", query="order_by_id", parameters={"order_id": "SO-7"})
    (ref,) = invocation.refs
    assert (ref.raw_path, ref.text) == (
        "$.rows[0]",
        "order_id=SO-7 status=FAILED amount_cents=700 failure_code=PAY-2007",
    )
    assert ref.scope == {"query": "order_by_id", "order_id": "SO-7"}
    assert invocation.payload["rows"][0]["amount_cents"] == 700


async def test_an_orders_id_alone_finds_its_query(run_door: DoorOfRun, deps: ToolDeps) -> None:
    invocation = await run_door.call(run_door.open([TOOL], deps), "query_order", order="SO-7")
    assert invocation.refs[0].text.startswith("order_id=SO-7 ")


async def test_no_row_is_told_with_query_and_parameters(run_door: DoorOfRun, deps: ToolDeps) -> None:
    invocation = await run_door.call(run_door.open([TOOL], deps), "query_order", order="SO-999")
    assert invocation.evidence_status is EvidenceStatus.NO_EVIDENCE
    assert invocation.refs[0].text == "Query order_by_id with order_id=SO-999 returned no rows."


async def test_rows_over_the_cap_are_left_out_and_told(run_door: DoorOfRun, deps: ToolDeps) -> None:
    door = run_door.open([TOOL], deps)
    # 09:30 in Berlin is 08:30 UTC, as the rows are written.
    invocation = await run_door.call(door, "query_order", query="failed_since", parameters={"start": "09:30"})
    assert [ref.text.split()[0] for ref in invocation.refs] == [f"order_id=SO-{n}" for n in range(30, 35)]
    assert (invocation.truncated, invocation.details["truncation"]) == (True, "only the first 5 rows are shown")


async def test_an_optional_parameter_may_be_given_or_not(run_door: DoorOfRun, deps: ToolDeps) -> None:
    door = run_door.open([TOOL], deps)
    parameters = {"start": "2026-11-30T08:00Z", "low": "5800"}
    invocation = await run_door.call(door, "query_order", query="failed_since", parameters=parameters)
    assert len(invocation.refs) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query": "all_orders"}, "there is no query named 'all_orders'. Queries: order_by_id(order_id): one order"),
        ({}, "order_by_id was not run: parameter 'order_id' is required"),
        ({"query": "order_by_id", "parameters": {"id": "x"}}, "unknown parameter 'id'"),
        ({"query": "failed_since", "parameters": {"start": "soon"}}, "start 'soon' is not a time"),
        ({"query": "failed_since", "parameters": {"start": "now", "low": "many"}}, "'low' must be of type integer"),
        ({"query": "writes"}, "query_order failed"),
    ],
)
async def test_a_wrong_question_is_told_what_is_offered(
    run_door: DoorOfRun, deps: ToolDeps, arguments: dict[str, object], told: str
) -> None:
    invocation = await run_door.call(run_door.open([TOOL], deps), "query_order", **arguments)
    assert told in str(invocation.error)


async def test_a_database_that_is_away_is_an_answer(run_door: DoorOfRun, tmp_path: Path) -> None:
    queries = BusinessQueries(BusinessStore(f"sqlite:///{tmp_path / 'nowhere' / 'x.db'}"), [BY_ID])
    door = run_door.open([TOOL], ToolDeps(skills=SkillRegistry(), business=queries))
    invocation = await run_door.call(door, "query_order", order="SO-1")
    assert str(invocation.error).startswith("query_order failed: ")
    assert invocation.evidence_status is EvidenceStatus.FAILED


def test_the_model_is_told_the_named_queries(deps: ToolDeps) -> None:
    (offer,) = ToolRegistry([TOOL]).offered(deps)
    assert "Queries: order_by_id(order_id): one order; failed_since(start, low?): failed orders" in offer.description


def test_a_name_given_twice_is_the_operators_to_mend(deps: ToolDeps) -> None:
    assert deps.business is not None
    with pytest.raises(ToolConfigError, match="two business queries are named 'order_by_id'"):
        BusinessQueries(deps.business.store, [BY_ID, BY_ID])
