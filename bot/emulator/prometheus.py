"""A loopback Prometheus: the real HTTP API over the series of a metrics file, so that the product's client is used."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bot.emulator.durations import instant_of, seconds_of
from bot.emulator.promql import BadQuery, Matcher, NotServed, Selector, matchers_of, parse
from bot.emulator.promql_eval import Sample, Value, evaluate, selected
from bot.emulator.series import MetricsFile, Series, read_metrics

MAX_POINTS = 11_000
Query = dict[str, list[str]]


class PrometheusServer:
    """Serves one metrics file on a free loopback port while the `with` block lasts; `url` is its address.

    `now` (seconds since 1970) answers queries that name no time: a sample's clock stands still.
    """

    def __init__(self, metrics: MetricsFile, now: float) -> None:
        api = _Api(metrics, now)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _listener(api))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @classmethod
    def of_file(cls, path: Path, now: float) -> PrometheusServer:
        return cls(read_metrics(path), now)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> PrometheusServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _listener(api: _Api) -> type[BaseHTTPRequestHandler]:
    class Listener(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self._answer(parts.path, parse_qs(parts.query))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            parts = urlsplit(self.path)
            self._answer(parts.path, parse_qs(parts.query) | parse_qs(body))

        def _answer(self, path: str, query: Query) -> None:
            status, document = api.answer(path, query)
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet: stderr belongs to the terminal."""

    return Listener


@dataclass(frozen=True)
class _Api:
    metrics: MetricsFile
    now: float

    def answer(self, path: str, query: Query) -> tuple[int, dict[str, Any]]:
        route = self._route(path)
        if route is None:
            return 404, _failed("not_found", f"{path} is not served")
        try:
            return 200, {"status": "success", "data": route(query)}
        except BadQuery as error:
            return 400, _failed("bad_data", str(error))
        except NotServed as error:
            return 422, _failed("execution", str(error))

    def _route(self, path: str) -> Callable[[Query], Any] | None:
        name = path.removeprefix("/api/v1/")
        if name.startswith("label/") and name.endswith("/values"):
            return lambda asked: self._label_values(name.split("/")[1], asked)
        routes: dict[str, Callable[[Query], Any]] = {
            "query": self._instant,
            "query_range": self._range,
            "series": lambda asked: [series.labels for series in self._matched(asked)],
            "labels": lambda asked: sorted({label for series in self._matched(asked) for label in series.labels}),
            "alerts": lambda _: {"alerts": list(self.metrics.alerts)},
            "rules": self._rules,
            "metadata": lambda _: {},
            "status/buildinfo": lambda _: {"version": "3.5.0", "revision": "proofthread-emulator"},
        }
        return routes.get(name)

    def _rules(self, query: Query) -> dict[str, Any]:
        """One group of alerting rules, each with its active alerts."""
        named = query.get("rule_name[]", [])
        wanted = [rule for rule in self.metrics.rules if not named or rule["name"] in named]
        if not wanted or query.get("type", ["alert"])[0] != "alert":
            return {"groups": []}
        return {"groups": [{"name": "rules", "file": "rules.yml", "interval": 60, "rules": [self._rule(rule) for rule in wanted]}]}

    def _rule(self, rule: dict[str, Any]) -> dict[str, Any]:
        active = [alert for alert in self.metrics.alerts if alert["labels"].get("alertname") == rule["name"]]
        states = [alert["state"] for alert in active]
        state = "firing" if "firing" in states else "pending" if states else "inactive"
        return {"state": state, "health": "ok", "type": "alerting", "alerts": active, **rule}

    def _instant(self, query: Query) -> dict[str, Any]:
        at = _instant_parameter(query, "time", self.now)
        node = parse(_required(query, "query"))
        if isinstance(node, Selector) and node.window is not None:
            return {"resultType": "matrix", "result": self._raw(node, at)}
        value = evaluate(node, self.metrics, at)
        if isinstance(value, float):
            return {"resultType": "scalar", "result": [at, _text(value)]}
        result = [{"metric": sample.labels, "value": [at, _text(sample.value)]} for sample in value]
        return {"resultType": "vector", "result": result}

    def _raw(self, node: Selector, at: float) -> list[dict[str, Any]]:
        end = at - node.offset
        start = end - (node.window or 0)
        rows = [(series, _between(series, start, end)) for series in selected(self.metrics, node.matchers)]
        return [{"metric": series.labels, "values": values} for series, values in rows if values]

    def _range(self, query: Query) -> dict[str, Any]:
        start, end = _instant_parameter(query, "start", None), _instant_parameter(query, "end", None)
        step = seconds_of(_required(query, "step"))
        if not step or step <= 0:
            raise BadQuery('invalid parameter "step": zero or negative query resolution step widths are not accepted')
        if end < start:
            raise BadQuery('invalid parameter "end": end timestamp must not be before start time')
        if (end - start) / step > MAX_POINTS:
            raise BadQuery("exceeded maximum resolution of 11,000 points per timeseries. Try increasing the step")
        node = parse(_required(query, "query"))
        moments = [start + index * step for index in range(int((end - start) / step) + 1)]
        return {"resultType": "matrix", "result": _matrix((at, evaluate(node, self.metrics, at)) for at in moments)}

    def _matched(self, query: Query) -> list[Series]:
        """All series without match[]; those with no sample in [start, end] are left out."""
        selectors = [matchers_of(text) for text in query.get("match[]", [])]
        start = _instant_parameter(query, "start", -math.inf)
        end = _instant_parameter(query, "end", math.inf)
        chosen = self.metrics.series if not selectors else self._any(selectors)
        return [series for series in chosen if _between(series, start, end)]

    def _any(self, selectors: list[tuple[Matcher, ...]]) -> list[Series]:
        found = [series for matchers in selectors for series in selected(self.metrics, matchers)]
        return list({id(series): series for series in found}.values())

    def _label_values(self, label: str, query: Query) -> list[str]:
        return sorted({series.labels[label] for series in self._matched(query) if label in series.labels})


def _matrix(rows: Any) -> list[dict[str, Any]]:
    series: dict[tuple[tuple[str, str], ...], list[list[Any]]] = {}
    for at, value in rows:
        for sample in _samples(value):
            series.setdefault(tuple(sorted(sample.labels.items())), []).append([at, _text(sample.value)])
    return [{"metric": dict(labels), "values": values} for labels, values in series.items()]


def _samples(value: Value) -> list[Sample]:
    return [Sample({}, value)] if isinstance(value, float) else value


def _between(series: Series, start: float, end: float) -> list[list[Any]]:
    pairs = zip(series.times, series.values, strict=True)
    return [[at, _text(value)] for at, value in pairs if start <= at <= end]


def _text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _required(query: Query, name: str) -> str:
    if not query.get(name, [""])[0]:
        raise BadQuery(f'invalid parameter "{name}": it is missing')
    return query[name][0]


def _instant_parameter(query: Query, name: str, default: float | None) -> float:
    text = query.get(name, [""])[0]
    if not text and default is not None:
        return default
    moment = instant_of(text)
    if moment is None:
        raise BadQuery(f'invalid parameter "{name}": cannot parse {text!r} to a valid timestamp')
    return moment


def _failed(kind: str, message: str) -> dict[str, Any]:
    return {"status": "error", "errorType": kind, "error": message}
