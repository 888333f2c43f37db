"""Prometheus: series with what changed in them, values at a moment, and which metrics there are; active alerts of
Alertmanager too."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from tools.active_alerts import active_alerts
from tools.alert_listing import alerts_answer
from tools.contracts import CallContext, Contract, ToolDeps, ToolResult, ToolSpec, nothing_found
from tools.errors import ToolFailed
from tools.metric_listing import instant_answer, label_answer, metrics_answer
from tools.metric_ranges import range_answer
from tools.metric_search import queries_for
from tools.window import Window, moment_of, stamp, window_of

DEFAULT_MINUTES = 60


class QueryMetricsInput(Contract):
    mode: Literal["range", "instant", "alerts", "labels"] = Field(
        "range",
        description="range: series over a window, each with a summary and its change point. instant: values at one moment. "
        "alerts: what is pending, firing or silenced now. labels: which metrics (or values of `label`) there are.",
    )
    query: str | None = Field(None, max_length=4_000, description="PromQL, for range and instant.")
    match: str | None = Field(
        None,
        max_length=400,
        description="Words instead of PromQL: parts of metric names and label values, like 'latency checkout-service'.",
    )
    label: str | None = Field(
        None, pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$", description="For labels: list this label's values."
    )
    since: str | None = Field(None, description="Start: 2026-11-30T08:00 (asker's zone), 08:00, -2h.")
    until: str | None = Field(None, description="End. Default: now.")
    window_minutes: float | None = Field(None, gt=0, le=60 * 24 * 31, description="Length. Default: 60.")
    at: str | None = Field(None, description="For instant: the moment. Default: now.")
    baseline: bool = Field(True, description="For range: compare with the equally long window before.")
    limit: int = Field(20, ge=1, le=50, description="At most this many series, alerts or metrics.")


async def run(arguments: QueryMetricsInput, deps: ToolDeps, context: CallContext) -> ToolResult:
    if arguments.mode == "alerts":
        return await _alerts(arguments, deps, context)
    client = deps.prometheus
    if client is None:
        raise ToolFailed("no Prometheus is configured, only Alertmanager: ask for mode=alerts")
    window = _window(arguments, context)
    if arguments.mode == "labels" and arguments.label:
        return await label_answer(client, arguments.label, arguments.match or "", window, limit=10 * arguments.limit)
    if arguments.mode == "labels":
        return await metrics_answer(client, arguments.match or "", window, limit=arguments.limit)
    asked = _promql(arguments)
    if arguments.mode == "instant":
        if asked is None:
            raise ToolFailed("query_metrics mode=instant needs query, in PromQL")
        return await instant_answer(client, asked, _moment(arguments, context), limit=arguments.limit)
    asked_queries = [asked] if asked else await queries_for(client, _words(arguments), window)
    if not asked_queries:
        scope = {"source": client.shown_url, **window.scope()}
        return nothing_found(f"Prometheus has no series for {arguments.match!r} from {window}.", scope=scope)
    return await range_answer(client, asked_queries, window, baseline=arguments.baseline, limit=arguments.limit)


async def _alerts(arguments: QueryMetricsInput, deps: ToolDeps, context: CallContext) -> ToolResult:
    found = await active_alerts(deps.prometheus, deps.alertmanager, context.now)
    sources = [client.shown_url for client in (deps.prometheus, deps.alertmanager) if client]
    return alerts_answer(found, (arguments.match or "").split(), sources, limit=arguments.limit)


def compiled(arguments: QueryMetricsInput, context: CallContext) -> str:
    """The mode with the query and window it will really use."""
    asked = " ".join((arguments.query or "").split()) or " ".join(sorted((arguments.match or "").lower().split()))
    if arguments.mode == "alerts":
        return f"alerts {asked}"
    if arguments.mode == "instant":
        return f"instant {asked} {stamp(_moment(arguments, context))}"
    window = _window(arguments, context)
    extra = f"{arguments.label} {arguments.match}" if arguments.mode == "labels" else str(arguments.baseline)
    return f"{arguments.mode} {asked} {extra} {stamp(window.start)[:16]} {stamp(window.end)[:16]} {arguments.limit}"


def _window(arguments: QueryMetricsInput, context: CallContext) -> Window:
    return window_of(arguments.since, arguments.until, arguments.window_minutes, context, DEFAULT_MINUTES)


def _moment(arguments: QueryMetricsInput, context: CallContext) -> datetime:
    return moment_of(arguments.at, context, "at") if arguments.at else context.now


def _promql(arguments: QueryMetricsInput) -> str | None:
    return (arguments.query or "").strip() or None


def _words(arguments: QueryMetricsInput) -> str:
    if not (arguments.match or "").strip():
        raise ToolFailed(
            "query_metrics mode=range needs query (PromQL) or match (words, like 'latency checkout-service')"
        )
    return arguments.match or ""


def _unavailable(deps: ToolDeps) -> str | None:
    return None if deps.prometheus or deps.alertmanager else "no Prometheus is configured; set prometheus_url"


TOOL = ToolSpec(
    name="query_metrics",
    description=(
        "Reads Prometheus. A range gives one line a series: first, last, min, max, mean, the time its level changed with the "
        "levels before and after, and the ratio to the window before. Also values at a moment, active alerts, and which "
        "metrics exist."
    ),
    input_model=QueryMetricsInput,
    run=run,
    evidence_level="direct",
    timeout_seconds=30.0,
    unavailable=_unavailable,
    compiled=compiled,
)
