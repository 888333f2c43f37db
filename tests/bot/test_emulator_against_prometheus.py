"""The loopback stand-in and a real Prometheus, fed the same samples, give the same answers.

No window begins at a sample or before the first one: there versions 2 and 3 of Prometheus differ, and the stand-in does as
version 3.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from live_prometheus import listening_prometheus

from bot.emulator.prometheus import PrometheusServer
from bot.emulator.series import MetricsFile, Series

START, STEP, COUNT = 1_790_000_000, 60, 60
END = START + STEP * (COUNT - 1)
Answer = dict[tuple[tuple[str, str], ...], list[tuple[float, float]]]

QUERIES = [
    "cpu",
    'cpu{service=~"a.*|b"}',
    'cpu{service!~"b"}',
    'cpu{service!="a",zone="x"}',
    "sum by (zone) (cpu)",
    "avg without (service) (cpu)",
    "max(cpu) - min(cpu)",
    "count(cpu > 0.5) by (zone)",
    "cpu > bool 0.5",
    "0.5 < cpu",
    "quantile(0.9, cpu)",
    "stddev(cpu)",
    "topk(2, cpu)",
    "bottomk(1, cpu)",
    "rate(requests_total[5m])",
    "rate(requests_total[90s])",
    "irate(requests_total[5m])",
    "increase(requests_total[10m])",
    "sum(rate(requests_total[5m])) by (zone) / on (zone) sum(rate(requests_total[10m])) by (zone)",
    "delta(cpu[10m])",
    "idelta(cpu[10m])",
    "deriv(cpu[10m])",
    "changes(cpu[10m])",
    "resets(requests_total[1h])",
    "avg_over_time(cpu[7m])",
    "max_over_time(cpu[7m])",
    "min_over_time(cpu[7m])",
    "sum_over_time(cpu[7m])",
    "count_over_time(cpu[7m])",
    "last_over_time(cpu[7m])",
    "stddev_over_time(cpu[7m])",
    "quantile_over_time(0.75, cpu[7m])",
    "histogram_quantile(0.95, latency_bucket)",
    "histogram_quantile(0.5, sum by (le) (rate(latency_bucket[10m])))",
    "cpu offset 10m",
    "rate(requests_total[5m] offset 10m)",
    "cpu / ignoring (zone) cpu",
    "abs(-cpu)",
    "round(cpu * 10) / 10",
    "clamp_max(cpu, 0.4)",
    "absent(nothing)",
    "vector(1) + 2 ^ 3 ^ 0 * -2",
    "scalar(sum(cpu)) % 0.3",
    "sparse",
]


def series() -> list[Series]:
    """Gauges, counters with a reset, a histogram, and a series with holes and an early end."""
    chance = random.Random(7)
    times = tuple(float(START + STEP * index) for index in range(COUNT))
    made: list[Series] = []
    for service, zone in (("a", "x"), ("ab", "x"), ("b", "y"), ("c", "y")):
        labels = {"service": service, "zone": zone}
        made.append(Series({"__name__": "cpu", **labels}, times, tuple(round(chance.random(), 3) for _ in times)))
        made.append(Series({"__name__": "requests_total", **labels}, times, _counter(chance)))
    steps = [chance.randint(0, 9) for _ in times]
    for bound, share in (("0.1", 0.2), ("0.5", 0.7), ("1", 0.9), ("+Inf", 1.0)):
        counts = tuple(float(int(sum(steps[: index + 1]) * share)) for index in range(COUNT))
        made.append(Series({"__name__": "latency_bucket", "le": bound}, times, counts))
    made.append(Series({"__name__": "sparse"}, times[::7][:-3], tuple(float(index) for index in range(len(times[::7]) - 3))))
    return made


def _counter(chance: random.Random) -> tuple[float, ...]:
    value, values = 0.0, []
    for index in range(COUNT):
        value = 0.0 if index == 40 else value + chance.randint(0, 50)
        values.append(value)
    return tuple(values)


@pytest.fixture(scope="module")
def both(require_binary: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    made = series()
    prometheus, promtool = require_binary("prometheus"), require_binary("promtool")
    with (
        PrometheusServer(MetricsFile.of(made, []), END) as stand_in,
        real_prometheus(prometheus, promtool, made, tmp_path_factory.mktemp("tsdb")) as real,
    ):
        yield stand_in.url, real


@contextmanager
def real_prometheus(prometheus: str, promtool: str, made: list[Series], folder: Path) -> Iterator[str]:
    (folder / "samples.txt").write_text(openmetrics(made))
    (folder / "prometheus.yml").write_text("")
    data = folder / "data"
    backfill = [promtool, "tsdb", "create-blocks-from", "openmetrics", str(folder / "samples.txt"), str(data)]
    subprocess.run(backfill, check=True, capture_output=True)
    with listening_prometheus(prometheus, folder, data, "--storage.tsdb.retention.time=100y") as url:
        yield url


def openmetrics(made: list[Series]) -> str:
    rows: list[str] = []
    for one in sorted(made, key=lambda item: item.labels["__name__"]):
        labels = ",".join(f'{name}="{value}"' for name, value in one.labels.items() if name != "__name__")
        pairs = zip(one.times, one.values, strict=True)
        rows += [f"{one.labels['__name__']}{{{labels}}} {value} {at:.0f}" for at, value in pairs]
    return "\n".join([*rows, "# EOF\n"])


def answer(url: str, path: str, **query: Any) -> Answer:
    with urlopen(f"{url}/api/v1/{path}?{urlencode(query)}") as reply:
        data = json.load(reply)["data"]
    if data["resultType"] == "scalar":
        return {(): [(float(data["result"][0]), float(data["result"][1]))]}
    return {
        tuple(sorted(item["metric"].items())): [(float(at), float(value)) for at, value in item.get("values") or [item["value"]]]
        for item in data["result"]
    }


def same(ours: Answer, theirs: Answer) -> None:
    assert ours.keys() == theirs.keys()
    for labels, points in theirs.items():
        assert [at for at, _ in ours[labels]] == [at for at, _ in points]
        assert [value for _, value in ours[labels]] == pytest.approx([value for _, value in points], rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("query", QUERIES)
def test_both_give_the_same_instant_and_range_answers(both: tuple[str, str], query: str) -> None:
    ours, theirs = both
    for at in (END + 1, START + 25 * STEP + 17, END + 203):
        same(answer(ours, "query", query=query, time=at), answer(theirs, "query", query=query, time=at))
    window = {"query": query, "start": START + 1211, "end": END, "step": 120}
    same(answer(ours, "query_range", **window), answer(theirs, "query_range", **window))
