"""Business rows by the operator's named queries. A model names a query and its parameters, never SQL."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field

from tools.business import BusinessQueries, NamedQuery, QueryParameter
from tools.contracts import (
    CallContext,
    Contract,
    EvidenceRef,
    EvidenceStatus,
    ToolDeps,
    ToolResult,
    ToolSpec,
    nothing_found,
)
from tools.errors import ToolFailed
from tools.external import compact_text
from tools.window import moment_of, stamp

_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


class QueryOrderInput(Contract):
    query: str | None = Field(None, description="The named query. May be left out where `order` is given.")
    parameters: dict[str, str | int | float | bool] = Field(
        default_factory=dict, description="The query's parameters by name."
    )
    order: str | None = Field(None, description="An order's id: short for the query that takes one.")


async def run(arguments: QueryOrderInput, deps: ToolDeps, context: CallContext) -> ToolResult:
    business = deps.business
    assert business is not None  # the door asks `unavailable` first
    query, given = _chosen(arguments, business)
    values = {name: _value(name, query.parameters[name], value, context) for name, value in given.items()}
    for name in query.parameters:
        values.setdefault(name, None)
    rows = await asyncio.to_thread(
        business.store.query,
        query.sql,
        values,
        max_rows=business.max_rows + 1,
        timeout_seconds=business.timeout_seconds,
    )
    return _result(query, given, rows, business.max_rows)


def _result(query: NamedQuery, given: dict[str, Any], rows: list[dict[str, Any]], limit: int) -> ToolResult:
    scope = {"query": query.name, **{name: str(value) for name, value in given.items()}}
    if not rows:
        asked = compact_text(given) or "no parameters"
        return nothing_found(f"Query {query.name} with {asked} returned no rows.", scope=scope)
    kept = rows[:limit]
    more = len(rows) > limit
    return ToolResult(
        payload={"query": query.name, "rows": kept},
        evidence_status=EvidenceStatus.SUPPORTED,
        evidence_refs=tuple(
            EvidenceRef(raw_path=f"$.rows[{index}]", text=compact_text(row), scope=scope)
            for index, row in enumerate(kept)
        ),
        retrieval_details={"truncation": f"only the first {limit} rows are shown"} if more else {},
        truncated=more,
    )


def _chosen(arguments: QueryOrderInput, business: BusinessQueries) -> tuple[NamedQuery, dict[str, Any]]:
    """The query and its parameters, complete and known. Raises ToolFailed with what is offered."""
    offered = f"Queries: {business.catalogue()}"
    query = business.get(arguments.query.strip()) if arguments.query else _query_of_an_order(business)
    if query is None:
        said = f"there is no query named {arguments.query!r}" if arguments.query else "name a query"
        raise ToolFailed(f"{said}. {offered}")
    given: dict[str, Any] = dict(arguments.parameters)
    if arguments.order and _order_parameter(query) not in (None, *given):
        given[str(_order_parameter(query))] = arguments.order
    unknown = sorted(set(given) - set(query.parameters))
    missing = [name for name, parameter in query.parameters.items() if parameter.required and name not in given]
    if unknown or missing:
        faults = [f"unknown parameter {name!r}" for name in unknown] + [
            f"parameter {name!r} is required" for name in missing
        ]
        raise ToolFailed(f"{query.name} was not run: {'; '.join(faults)}. {offered}")
    return query, given


def _query_of_an_order(business: BusinessQueries) -> NamedQuery | None:
    """The first query that an order's id alone satisfies."""
    queries = (business.get(name) for name in business.names)
    return next((query for query in queries if query and _order_parameter(query) is not None), None)


def _order_parameter(query: NamedQuery) -> str | None:
    required = [name for name, parameter in query.parameters.items() if parameter.required]
    return required[0] if len(required) == 1 and "order" in required[0].lower() else None


def _value(name: str, parameter: QueryParameter, value: Any, context: CallContext) -> Any:
    text = str(value).strip()
    try:
        if parameter.type == "integer":
            return int(text)
        if parameter.type == "number":
            return float(text)
        if parameter.type == "boolean":
            return {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)}[text.lower()]
    except (ValueError, KeyError) as error:
        raise ToolFailed(f"parameter {name!r} must be of type {parameter.type}, not {text[:60]!r}") from error
    if parameter.type == "time":
        return stamp(moment_of(text, context, name)).replace("T", " ").removesuffix("Z")
    return text


def _unavailable(deps: ToolDeps) -> str | None:
    if deps.business is None:
        return "no business database is configured; set business_url"
    return None if deps.business.names else "no business query is configured; add [queries.NAME] to the settings"


def _told(deps: ToolDeps) -> str:
    return f"Queries: {deps.business.catalogue()}" if deps.business else ""


def compiled(arguments: QueryOrderInput, _: CallContext) -> str:
    pairs = sorted((name, str(value).strip()) for name, value in arguments.parameters.items())
    return f"{(arguments.query or '').strip()} {pairs} {(arguments.order or '').strip()}"


TOOL = ToolSpec(
    name="query_order",
    description="Reads orders and other business rows by the named queries that the operator allows (read-only).",
    input_model=QueryOrderInput,
    run=run,
    evidence_level="direct",
    unavailable=_unavailable,
    compiled=compiled,
    told=_told,
)
