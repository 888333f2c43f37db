"""A real Prometheus on a port of its own choice, scraping an exporter that the test drives."""

import json
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from listening_process import listening, until
from loopback_http import Query, served

CONFIG = """
global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}
rule_files: [rules.yml]
scrape_configs:
  - job_name: shop
    static_configs: [{targets: ["TARGET"]}]
"""
ALERTING = """
alerting:
  alertmanagers:
    - static_configs: [{targets: ["TARGET"]}]
"""
RULES = """
groups:
  - name: shop
    rules:
      - alert: CheckoutSlow
        expr: checkout_latency_seconds > 2
        labels: {severity: critical}
        annotations: {summary: "{{ $labels.service }} takes {{ $value }} s"}
      - alert: NeverFires
        expr: checkout_latency_seconds > 1000
"""


@dataclass
class Shop:
    """The exporter's numbers; `changed_at` is when the level rose."""

    latency: float = 0.25
    requests: int = 0
    changed_at: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def metrics(self) -> str:
        with self.lock:
            self.requests += 10
            return (
                "# TYPE checkout_latency_seconds gauge\n"
                f'checkout_latency_seconds{{service="checkout"}} {self.latency}\n'
                'checkout_latency_seconds{service="payment"} 0.1\n'
                "# TYPE checkout_requests_total counter\n"
                f'checkout_requests_total{{service="checkout"}} {self.requests}\n'
            )


@dataclass(frozen=True)
class LivePrometheus:
    url: str
    shop: Shop

    def value(self, query: str) -> float:
        """The first value of an instant query, 0 where there is none."""
        rows = self._get(f"query?{urllib.parse.urlencode({'query': query})}")["result"]
        return float(rows[0]["value"][1]) if rows else 0.0

    def firing(self) -> list[str]:
        alerts = self._get("alerts")["alerts"]
        return [alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"]

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}", timeout=5) as response:
            return json.load(response)["data"]


@contextmanager
def live_prometheus(binary: str, folder: Path, alertmanager: str = "") -> Iterator[LivePrometheus]:
    """Up, with four seconds of a calm shop behind it. `alertmanager` ("host:port") hears of its alerts."""
    shop = Shop()
    alerting = ALERTING.replace("TARGET", alertmanager) if alertmanager else ""
    with _exporter(shop) as target, _server(binary, folder, CONFIG.replace("TARGET", target) + alerting) as url:
        prometheus = LivePrometheus(url, shop)
        until("20 samples", lambda: prometheus.value("min(count_over_time(checkout_latency_seconds[1m]))") >= 20)
        yield prometheus


def raise_latency(prometheus: LivePrometheus) -> None:
    """The shop becomes slow; returns once the rule fires and four seconds of it are on record."""
    prometheus.shop.changed_at = time.time()
    prometheus.shop.latency = 4.2
    until("the alert", lambda: "CheckoutSlow" in prometheus.firing())
    slow = "count_over_time((checkout_latency_seconds > 2)[1m:200ms])"
    until("20 slow samples", lambda: prometheus.value(slow) >= 20)


@contextmanager
def _exporter(shop: Shop) -> Iterator[str]:
    def metrics(_: str, __: Query) -> tuple[int, bytes]:
        return 200, shop.metrics().encode()

    with served(metrics, content_type="text/plain; version=0.0.4") as url:
        yield url.removeprefix("http://")


@contextmanager
def _server(binary: str, folder: Path, config: str) -> Iterator[str]:
    (folder / "prometheus.yml").write_text(config)
    (folder / "rules.yml").write_text(RULES)
    with listening_prometheus(binary, folder, folder / "data") as url:
        yield url


@contextmanager
def listening_prometheus(binary: str, folder: Path, data: Path, *options: str) -> Iterator[str]:
    """Its address. `folder` holds its prometheus.yml."""
    command = [
        binary,
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={data}",
        "--web.listen-address=127.0.0.1:0",
        *options,
    ]
    found = r'msg="Listening on" address=(\S+)'
    with listening(command, folder, ready=b"ready to receive", address=found) as address:
        yield f"http://{address}"
