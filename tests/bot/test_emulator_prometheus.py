"""The loopback Prometheus answers as the real one does, on the subset it knows, and refuses the rest aloud."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from bot.emulator.prometheus import PrometheusServer
from bot.emulator.series import metric_name, read_metrics

NOW = 1_000_600.0


def _samples(*values: float) -> list[list[Any]]:
    """One a minute, the last at NOW."""
    return [[NOW - 60 * (len(values) - 1 - index), str(value)] for index, value in enumerate(values)]


SERIES = [
    {"metric": {"__name__": "up", "job": "api", "instance": "a"}, "values": _samples(1, 1, 1)},
    {"metric": {"__name__": "up", "job": "api", "instance": "b"}, "values": _samples(1, 1, 0)},
    {"metric": {"__name__": "up", "job": "db", "instance": "c"}, "values": _samples(1, 1, 1)},
    {"metric": {"__name__": "requests_total", "job": "api"}, "values": _samples(0, 60, 120, 180, 240, 300)},
    {"metric": {"__name__": "errors_total", "job": "api"}, "values": _samples(0, 6, 12, 18, 24, 30)},
    {"metric": {"__name__": "restarted_total", "job": "api"}, "values": _samples(100, 160, 0, 60, 120, 180)},
    {"metric": {"__name__": "old", "job": "api"}, "values": [[NOW - 3600, "1"]]},
    *(
        {"metric": {"__name__": "latency_bucket", "le": le}, "values": _samples(count)}
        for le, count in [("0.1", 50), ("0.5", 90), ("1", 100), ("+Inf", 100)]
    ),
]
ALERT = {"labels": {"alertname": "High"}, "annotations": {}, "state": "firing", "activeAt": "x", "value": "1"}
RULES: list[dict[str, Any]] = [{"name": name, "query": "up == 0", "duration": 60, "labels": {}, "annotations": {}} for name in ("High", "Low")]


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps({"series": SERIES, "alerts": [ALERT], "rules": RULES}))
    with PrometheusServer.of_file(path, NOW) as server:
        yield server.url


def get(url: str, path: str, **query: Any) -> Any:
    with urlopen(f"{url}/api/v1/{path}?{urlencode(query, doseq=True)}") as reply:
        document = json.load(reply)
    assert document["status"] == "success"
    return document["data"]


def values(url: str, query: str) -> dict[tuple[str, ...], float]:
    """Label values (name left out) → number."""
    data = get(url, "query", query=query, time=NOW)
    if data["resultType"] == "scalar":
        return {(): float(data["result"][1])}
    assert data["resultType"] == "vector"
    return {
        tuple(value for name, value in sorted(item["metric"].items()) if name != "__name__"): float(item["value"][1])
        for item in data["result"]
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("up{job='api'}", {("a", "api"): 1, ("b", "api"): 0}),
        ('up{job!="api"}', {("c", "db"): 1}),
        ('up{instance=~"a|c"}', {("a", "api"): 1, ("c", "db"): 1}),
        ('up{instance!~"a|c"}', {("b", "api"): 0}),
        ("up == 0", {("b", "api"): 0}),
        ("sum(up)", {(): 2}),
        ("sum by (job) (up)", {("api",): 1, ("db",): 1}),
        ("count(up) by (job)", {("api",): 2, ("db",): 1}),
        ("avg without (instance) (up)", {("api",): 0.5, ("db",): 1}),
        ("topk(1, requests_total)", {("api",): 300}),
        ("rate(requests_total[5m])", {("api",): 1.0}),
        ("increase(requests_total[4m])", {("api",): 240}),
        ("irate(requests_total[5m])", {("api",): 1.0}),
        ("rate(restarted_total[5m]) > 0", {("api",): 0.75}),
        ("delta(requests_total[4m])", {("api",): 240}),
        ("max_over_time(errors_total[2m])", {("api",): 30}),
        ("avg_over_time(errors_total[2m])", {("api",): 27}),
        ("errors_total / requests_total", {("api",): 0.1}),
        ("100 * errors_total / requests_total", {("api",): 10}),
        ("sum(rate(errors_total[5m])) / sum(rate(requests_total[5m]))", {(): 0.1}),
        ("histogram_quantile(0.9, latency_bucket)", {(): 0.5}),
        ("histogram_quantile(0.5, latency_bucket)", {(): 0.1}),
        ("old", {}),
        ("old offset 1h", {("api",): 1}),
        ("1 + 2 * 3", {(): 7}),
        ("-(2 ^ 3 ^ 0)", {(): -2}),
        ("up > bool 0", {("a", "api"): 1, ("b", "api"): 0, ("c", "db"): 1}),
        ("absent(nothing)", {(): 1}),
    ],
)
def test_a_query_of_the_subset_is_answered(url: str, query: str, expected: dict[tuple[str, ...], float]) -> None:
    assert values(url, query) == pytest.approx(expected)


def test_a_range_has_one_point_a_step(url: str) -> None:
    data = get(url, "query_range", query="requests_total", start=NOW - 120, end=NOW, step="60s")
    assert data["resultType"] == "matrix"
    assert data["result"][0]["values"] == [[NOW - 120, "180"], [NOW - 60, "240"], [NOW, "300"]]


def test_a_raw_range_selector_gives_the_stored_samples(url: str) -> None:
    data = get(url, "query", query="up{instance='b'}[1m]", time=NOW)
    assert data["resultType"] == "matrix"
    assert [value for _, value in data["result"][0]["values"]] == ["1", "0"]


def test_discovery_lists_series_labels_values_and_alerts(url: str) -> None:
    assert len(get(url, "series", **{"match[]": "up"})) == 3
    assert get(url, "labels", **{"match[]": "up"}) == ["__name__", "instance", "job"]
    assert get(url, "label/job/values") == ["api", "db"]
    assert get(url, "label/__name__/values", **{"match[]": '{job="db"}'}) == ["up"]
    assert get(url, "alerts") == {"alerts": [ALERT]}
    assert get(url, "status/buildinfo")["version"]


def test_rules_come_with_their_state_and_their_alerts(url: str) -> None:
    (group,) = get(url, "rules", type="alert")["groups"]
    assert [(rule["name"], rule["state"], rule["alerts"]) for rule in group["rules"]] == [
        ("High", "firing", [ALERT]),
        ("Low", "inactive", []),
    ]
    (named,) = get(url, "rules", **{"rule_name[]": "Low"})["groups"]
    assert [rule["query"] for rule in named["rules"]] == ["up == 0"]
    assert get(url, "rules", type="record") == {"groups": []}


@pytest.mark.parametrize(
    ("path", "query", "status", "kind"),
    [
        ("query", {"query": "up{"}, 400, "bad_data"),
        ("query", {"query": "rate(up)"}, 400, "bad_data"),
        ("query", {"query": "up[5m] + 1"}, 400, "bad_data"),
        ("query", {"query": "up{a=~'('}"}, 400, "bad_data"),
        ("query", {}, 400, "bad_data"),
        ("query", {"query": "up and up"}, 422, "execution"),
        ("query", {"query": "label_replace(up, 'a', 'b', 'c', 'd')"}, 422, "execution"),
        ("query", {"query": "rate(up[5m:1m])"}, 422, "execution"),
        ("query", {"query": "requests_total / on() up"}, 422, "execution"),
        ("query_range", {"query": "up", "start": 0, "end": NOW, "step": 1}, 400, "bad_data"),
        ("query_range", {"query": "up", "start": 0, "end": 1, "step": 0}, 400, "bad_data"),
        ("nothing", {}, 404, "not_found"),
    ],
)
def test_what_is_not_served_is_refused_as_prometheus_does(
    url: str, path: str, query: dict[str, Any], status: int, kind: str
) -> None:
    with pytest.raises(HTTPError) as caught:
        get(url, path, **query)
    with caught.value as reply:
        document = json.load(reply)
    assert (reply.code, document["status"], document["errorType"]) == (status, "error", kind)
    assert document["error"]


def test_a_csv_of_one_column_a_metric_is_served_too(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("timestamp,service,Cpu(%),Latency(s)\n1000540,pay,1.5,\n1000600,pay,2.5,0.25\n")
    with PrometheusServer.of_file(path, NOW) as server:
        assert values(server.url, "Cpu_percent{service='pay'}") == {("pay",): 2.5}
        assert values(server.url, "count_over_time(Latency_seconds[5m])") == {("pay",): 1}
    assert metric_name("NetworkReceiveBytes") == "NetworkReceiveBytes"
    assert len(read_metrics(path).series) == 2
