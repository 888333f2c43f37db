"""What a report's chart shows: the run's own look-up of the metric that fired, else what the alert's rule measures."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from binaries import require_binary
from live_prometheus import live_prometheus, raise_latency

from agents.contracts import Alert
from bot.blocks.report_samples import sample_alert
from bot.blocks.sample_run import sample_call
from bot.charts.data import ChartSource, NoChart, chart_data
from bot.charts.drawing import ChartData, Mark
from storage.trace import StoredInvocation
from tools.clients.prometheus import PrometheusClient

NOW = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
START = datetime(2026, 11, 30, 2, 57, tzinfo=UTC)
RULE = "histogram_quantile(0.99, rate(http_request_duration_seconds_bucket[5m]))"
LABELS = {"service": "checkout-service"}


def looked_up(query: str, labels: dict[str, str], *values: float, number: int = 2) -> StoredInvocation:
    """A range look-up that gave one series, a point a minute."""
    points = [[NOW.timestamp() - 60 * (len(values) - index), str(value)] for index, value in enumerate(values)]
    payload = {"series": [{"query": query, "labels": labels, "points": points, "change_at": None}], "queries": [query]}
    return replace(sample_call(), id=number, tool_name="query_metrics", payload=payload)


def changes(*rows: dict[str, str], number: int = 3) -> StoredInvocation:
    return replace(sample_call(), id=number, tool_name="query_changes", payload={"changes": list(rows)})


def source(*calls: StoredInvocation, alert: Alert | None = None, quoted: tuple[tuple[str, str], ...] = ()) -> ChartSource:
    return ChartSource(alert or sample_alert(), calls, frozenset(quoted), NOW, ZoneInfo("Asia/Shanghai"))


def rule(query: str, **more: Any) -> dict[str, Any]:
    return {"type": "alerting", "name": "CheckoutLatencyHigh", "query": query, "labels": {}, "alerts": [], **more}


@contextmanager
def prometheus(*rules: dict[str, Any], series: dict[str, list[tuple[dict[str, str], float]]] | None = None) -> Iterator[str]:
    """Serves these rules, and a flat series a query with its value; what is not known gives no series."""

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = parse_qs(urlsplit(self.path).query)
            data: Any = {"groups": [{"rules": list(rules)}]}
            if "query" in asked:
                start, end, step = (float(asked[name][0]) for name in ("start", "end", "step"))
                moments = [start + step * index for index in range(int((end - start) / step) + 1)]
                found = (series or {}).get(asked["query"][0], [])
                rows = [{"metric": labels, "values": [[at, str(value)] for at in moments]} for labels, value in found]
                data = {"resultType": "matrix", "result": rows}
            body = json.dumps({"status": "success", "data": data}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def chart(asked: ChartSource, url: str) -> ChartData:
    client = PrometheusClient(url)
    try:
        return await chart_data(asked, client)
    finally:
        await client.close()


# ---------------------------------------------------------------- with a rule


async def test_the_runs_own_look_up_of_the_rules_expression_is_drawn_with_the_rules_threshold() -> None:
    own = looked_up(RULE.replace(", ", ",  "), LABELS, 0.2, 0.2, 4.8)
    with prometheus(rule(f"{RULE} > 1")) as url:
        found = await chart(source(own), url)
    assert [value for _, value in found.points] == [0.2, 0.2, 4.8]
    assert (found.threshold, found.unit, found.fires_below) == (1.0, "s", False)
    assert found.started_at == START.timestamp()
    assert found.title.split("\n")[0] == "CheckoutLatencyHigh · checkout-service"
    assert found.zone == "Asia/Shanghai"


async def test_a_look_up_of_something_else_is_not_measured_by_the_rules_threshold() -> None:
    raw = looked_up("http_request_duration_seconds_bucket", {"__name__": "http_request_duration_seconds_bucket", **LABELS}, 10, 900)
    asked = {RULE: [(LABELS, 4.8), ({"service": "payment-service"}, 9.0)]}
    with prometheus(rule(f"{RULE} > 1"), series=asked) as url:
        found = await chart(source(raw), url)
    assert {value for _, value in found.points} == {4.8}, "the rule's expression, and the alert's own service"
    assert found.points[0][0] == (NOW - timedelta(hours=1)).timestamp()
    with prometheus(rule(f"{RULE} > 1")) as url:
        near = await chart(source(raw), url)
    assert [value for _, value in near.points] == [10.0, 900.0]
    assert near.threshold is None


async def test_of_rules_of_one_name_the_one_with_the_alerts_labels_is_meant() -> None:
    warning, critical = rule("a_seconds > 1", labels={"severity": "warning"}), rule("a_seconds > 5", labels={"severity": "critical"})
    with prometheus(warning, critical, series={"a_seconds": [({}, 6.0)]}) as url:
        assert (await chart(source(), url)).threshold == 5.0


async def test_a_start_that_the_post_does_not_say_comes_from_prometheus() -> None:
    active = {"labels": LABELS, "activeAt": "2026-11-30T02:50:00.5Z", "state": "firing", "value": "6"}
    other = {"labels": {"service": "other"}, "activeAt": "2026-11-01T00:00:00Z", "state": "firing", "value": "6"}
    with prometheus(rule("a_seconds > 5", alerts=[other, active]), series={"a_seconds": [(LABELS, 6.0)]}) as url:
        found = await chart(source(alert=sample_alert(starts_at=None)), url)
    assert found.started_at == datetime(2026, 11, 30, 2, 50, 0, 500_000, tzinfo=UTC).timestamp()


async def test_an_alert_that_has_fired_for_long_is_shown_from_before_its_start() -> None:
    with prometheus(rule("a_seconds > 5"), series={"a_seconds": [(LABELS, 6.0)]}) as url:
        found = await chart(source(alert=sample_alert(starts_at="2026-11-29T15:12:00Z")), url)
    assert found.points[0][0] == (NOW - timedelta(hours=24)).timestamp()


@pytest.mark.parametrize(
    ("rules", "key"),
    [([], "chart_no_rule"), ([rule("a_seconds > 5", name="Another")], "chart_no_rule"), ([rule("a_seconds > 5")], "chart_no_series")],
)
async def test_where_there_is_nothing_to_draw_the_reason_is_named(rules: list[dict[str, Any]], key: str) -> None:
    with prometheus(*rules) as url, pytest.raises(NoChart) as told:
        await chart(source(), url)
    assert told.value.key == key


async def test_a_prometheus_that_is_away_is_the_reason() -> None:
    with prometheus() as url:
        pass
    with pytest.raises(NoChart) as told:
        await chart(source(), url)
    assert (told.value.key, "is away" in told.value.values["error"]) == ("chart_failed", True)


# ---------------------------------------------------------------- without one


async def test_without_a_rule_a_quoted_series_of_the_alerts_service_is_drawn() -> None:
    ours = looked_up("checkout_latency_seconds", {"__name__": "checkout_latency_seconds", **LABELS}, 0.2, 4.8)
    theirs = looked_up("checkout_latency_seconds", {"__name__": "checkout_latency_seconds", "service": "payment"}, 9, 9, number=4)
    found = await chart_data(source(theirs, ours, quoted=(("2", "$.series[0]"),)), None)
    assert [value for _, value in found.points] == [0.2, 4.8]
    assert (found.unit, found.threshold) == ("s", 1.0), "the alert says: above 1 s"


async def test_a_series_that_nothing_connects_with_the_alert_is_not_drawn() -> None:
    other = looked_up("node_load1", {"__name__": "node_load1", "instance": "db-1"}, 1, 2)
    with pytest.raises(NoChart):
        await chart_data(source(other), None)


async def test_a_threshold_in_words_that_the_series_never_crosses_is_of_another_unit() -> None:
    ours = looked_up("checkout_latency_seconds", {"__name__": "checkout_latency_seconds", **LABELS}, 0.2, 4.8)
    alert = sample_alert(annotations={"summary": "p99 > 500"})
    found = await chart_data(source(ours, alert=alert, quoted=(("2", "$.series[0]"),)), None)
    assert found.threshold is None


# ---------------------------------------------------------------- changes

DEPLOY = {"time": "2026-11-30T02:51:00Z", "service": "order-service", "kind": "config", "summary": "pool 30 -> 5"}
OWN = {"time": "2026-11-30T02:40:00Z", "service": "checkout-service", "kind": "deploy", "version": "v2"}
SERIES = looked_up("checkout_latency_seconds", {"__name__": "checkout_latency_seconds", **LABELS}, 0.2, 4.8)


async def test_the_changes_that_the_report_speaks_of_are_marked() -> None:
    quoted = (("2", "$.series[0]"), ("3", "$.changes[0]"))
    found = await chart_data(source(SERIES, changes(DEPLOY, OWN), quoted=quoted), None)
    at = datetime(2026, 11, 30, 2, 51, tzinfo=UTC).timestamp()
    assert found.changes == (Mark(at, "order-service config pool 30 -> 5"),)


async def test_where_it_speaks_of_none_those_of_the_alerts_service_are() -> None:
    found = await chart_data(source(SERIES, changes(DEPLOY, OWN), quoted=(("2", "$.series[0]"),)), None)
    assert [mark.text for mark in found.changes] == ["checkout-service deploy v2"]


# ---------------------------------------------------------------- the real one


async def test_a_real_prometheus_gives_the_rules_metric_its_threshold_and_start(tmp_path: Path) -> None:
    with live_prometheus(require_binary("prometheus"), tmp_path) as live:
        raise_latency(live)
        alert = sample_alert(alert_name="CheckoutSlow", labels={"service": "checkout"}, starts_at=None)
        client = PrometheusClient(live.url)
        found = await chart_data(replace(source(alert=alert), now=datetime.now(UTC)), client)
        await client.close()
    assert (found.threshold, found.unit) == (2.0, "s")
    assert max(value for _, value in found.points) == 4.2
    assert found.started_at is not None
    assert found.title.startswith("CheckoutSlow · checkout\ncheckout_latency_seconds{")
