"""query_metrics against a real Prometheus: a shop becomes slow, a rule fires, and the tool is asked through the door."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from live_prometheus import LivePrometheus, live_prometheus, raise_latency
from tool_door import DoorOfRun

from tools.builtin.query_metrics import TOOL
from tools.clients.prometheus import PrometheusClient
from tools.contracts import EvidenceStatus, ToolDeps
from tools.invoke import Invocation
from tools.skills import SkillRegistry

SECONDS = 1 / 60


@pytest.fixture(scope="module")
def prometheus(
    require_binary: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LivePrometheus]:
    with live_prometheus(require_binary("prometheus"), tmp_path_factory.mktemp("prometheus")) as server:
        raise_latency(server)
        yield server


@pytest.fixture
def ask(run_door: DoorOfRun, prometheus: LivePrometheus) -> Callable[..., Any]:
    async def asks(**arguments: Any) -> Invocation:
        client = PrometheusClient(prometheus.url)
        try:
            now = replace(run_door.context, now=datetime.now(UTC))
            door = run_door.open([TOOL], ToolDeps(skills=SkillRegistry(), prometheus=client), now)
            return await run_door.call(door, "query_metrics", **arguments)
        finally:
            await client.close()

    return asks


async def test_the_alert_that_fires_is_quotable(ask: Callable[..., Any]) -> None:
    invocation = await ask(mode="alerts")
    (ref,) = invocation.refs
    assert ref.raw_path == "$.alerts[0]"
    assert ref.text.startswith("alertname=CheckoutSlow state=firing ")
    for part in ("service=checkout", "severity=critical", "value=4.2", "activeAt=20", 'summary="checkout takes 4.2 s"'):
        assert part in ref.text
    assert ref.scope["alertname"] == "CheckoutSlow"


async def test_an_alert_nobody_raised_is_not_found(ask: Callable[..., Any]) -> None:
    invocation = await ask(mode="alerts", match="payment")
    assert invocation.evidence_status is EvidenceStatus.NO_EVIDENCE
    assert invocation.refs[0].text == "No alert that mentions payment is pending or firing in Prometheus. 1 others are."


async def test_a_range_tells_when_the_level_changed(ask: Callable[..., Any], prometheus: LivePrometheus) -> None:
    invocation = await ask(query="checkout_latency_seconds", window_minutes=60 * SECONDS, baseline=False)
    (slow, calm) = invocation.refs
    assert slow.text.startswith('checkout_latency_seconds{instance="')
    assert 'service="checkout"' in slow.text
    assert "unit=s" in slow.text
    assert " first=0.25 last=4.2 min=0.25 max=4.2 " in slow.text
    assert slow.text.endswith("before=0.25 after=4.2 ratio=16.8")
    change = datetime.fromisoformat(slow.text.split("change_at=")[1].split()[0]).timestamp()
    assert abs(change - prometheus.shop.changed_at) <= 2.5
    assert 'service="payment"' in calm.text
    assert "change=none" in calm.text


async def test_words_find_their_series(ask: Callable[..., Any]) -> None:
    invocation = await ask(match="latency checkout", window_minutes=60 * SECONDS)
    assert invocation.payload["queries"] == ['checkout_latency_seconds{service="checkout"}']


async def test_a_counter_is_read_as_a_rate(ask: Callable[..., Any]) -> None:
    invocation = await ask(match="requests", window_minutes=60 * SECONDS)
    assert invocation.payload["queries"] == ["rate(checkout_requests_total[5m])"]
    assert invocation.refs[0].text.startswith('rate(checkout_requests_total[5m]) {instance="')


async def test_an_instant_gives_the_value_at_a_moment(ask: Callable[..., Any], prometheus: LivePrometheus) -> None:
    now = await ask(mode="instant", query='checkout_latency_seconds{service="checkout"}')
    assert " value=4.2 at=20" in now.refs[0].text
    before = str(prometheus.shop.changed_at - 1)[:10]
    earlier = await ask(mode="instant", query='checkout_latency_seconds{service="checkout"}', at=before)
    assert " value=0.25 at=20" in earlier.refs[0].text


async def test_a_scalar_is_a_value_too(ask: Callable[..., Any]) -> None:
    invocation = await ask(mode="instant", query="scalar(count(up)) * 2")
    assert invocation.refs[0].text.startswith("scalar(count(up)) * 2 value=2 at=")


async def test_metrics_and_labels_are_discovered(ask: Callable[..., Any]) -> None:
    metrics = await ask(mode="labels", match="checkout")
    names = [ref.text.split()[0] for ref in metrics.refs]
    assert names == ["metric=checkout_latency_seconds", "metric=checkout_requests_total"]
    assert metrics.refs[0].text.endswith(" job=shop service=checkout")
    values = await ask(mode="labels", label="service")
    assert values.refs[0].text == "service: checkout, payment"


async def test_a_label_nobody_has_names_those_there_are(ask: Callable[..., Any]) -> None:
    invocation = await ask(mode="labels", label="pod")
    assert "Labels: __name__, alertname, alertstate, instance, job, " in invocation.refs[0].text


async def test_prometheus_own_words_tell_what_is_wrong_with_a_query(ask: Callable[..., Any]) -> None:
    invocation = await ask(query="sum(checkout_latency_seconds")
    assert "cannot read the query:" in str(invocation.error)
    assert "parse error: unclosed left parenthesis" in str(invocation.error)
    doubled = await ask(query='{__name__=~"checkout.*"} * on() {__name__=~"checkout.*"}')
    assert "many-to-many matching not allowed" in str(doubled.error)


async def test_an_empty_answer_names_query_and_window(ask: Callable[..., Any]) -> None:
    invocation = await ask(query="no_such_metric", since="-60s")
    assert invocation.evidence_status is EvidenceStatus.NO_EVIDENCE
    assert invocation.refs[0].text.startswith("Query no_such_metric returned no series from 20")
