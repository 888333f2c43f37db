"""Write the data files of the sample incident `checkout-slow`. Same seed, same bytes: run it again after an edit.

    python benchmarks/make_checkout_slow.py

What happens in it: at 08:41 a config change shrinks the database pool of order-service; from 08:43 on, orders wait for a
connection and checkout times out. A deploy of recommendation-service at 08:30 makes noise and has nothing to do with it.
"""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "bot" / "emulator" / "scenarios" / "checkout-slow"
START = datetime(2026, 11, 30, 7, 5, tzinfo=UTC)
NOW = datetime(2026, 11, 30, 9, 10, tzinfo=UTC)
DEPLOY = datetime(2026, 11, 30, 8, 30, 5, tzinfo=UTC)
CONFIG = datetime(2026, 11, 30, 8, 41, 7, tzinfo=UTC)
BROKEN = datetime(2026, 11, 30, 8, 42, 40, tzinfo=UTC)
CHECKOUTS_A_MINUTE = 3.2

Line = tuple[datetime, str]
STACK = (
    "java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, "
    "request timed out after 30000ms (total=8, active=8, idle=0, waiting={waiting})\n"
    "\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:686)\n"
    "\tat com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:179)\n"
    "\tat com.shop.order.store.OrderStore.insert(OrderStore.java:71)\n"
    "\tat com.shop.order.web.OrderController.create(OrderController.java:48)"
)


class Shop:
    """Lines per service, filled request by request."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.lines: dict[str, list[Line]] = {}
        self.orders: list[dict[str, str]] = []

    def say(self, service: str, at: datetime, text: str) -> None:
        self.lines.setdefault(service, []).append((at, text))

    def say_json(self, service: str, at: datetime, level: str, logger: str, message: str, **fields: object) -> None:
        record = {"timestamp": stamp(at), "level": level, "service": service, "logger": logger, "message": message}
        self.say(service, at, json.dumps(record | fields))

    def say_spring(self, at: datetime, level: str, thread: str, logger: str, message: str) -> None:
        head = f"{stamp(at)} {level:>5} 1 --- [order-service] [{thread[-15:]:>15}] {logger:<40.40} : "
        self.say("order-service", at, head + message)

    def say_access(self, at: datetime, request: str, status: int, seconds: float, upstream: str) -> None:
        clock = at.strftime("%d/%b/%Y:%H:%M:%S +0000")
        address = f"203.0.113.{self.dice.randint(2, 250)}"
        size = self.dice.randint(180, 2400) if status < 500 else 167
        tail = f'rt={seconds:.3f} upstream="{upstream}"'
        self.say("gateway", at, f'{address} - - [{clock}] "{request} HTTP/1.1" {status} {size} "-" "shop-app/8.1" {tail}')


def stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def arrivals(dice: random.Random, a_minute: float, start: datetime = START, end: datetime = NOW) -> Iterator[datetime]:
    at = start
    while True:
        at += timedelta(seconds=dice.expovariate(a_minute / 60))
        if at >= end:
            return
        yield at


def checkout(shop: Shop, at: datetime, number: int) -> None:
    """One checkout through inventory, order and payment; it fails where order-service gets no connection."""
    dice = shop.dice
    order, trace = f"SO-20261130-{number:04d}", f"{dice.getrandbits(64):016x}"
    shop.say_json("checkout-service", at, "INFO", "checkout.flow", f"checkout started for order {order}", traceId=trace)
    held = at + timedelta(milliseconds=dice.randint(20, 60))
    units, ms = dice.randint(1, 4), dice.randint(4, 18)
    shop.say("inventory-service", held,
             f"ts={stamp(held)} level=info service=inventory-service msg=\"stock reserved\" order={order} "
             f"units={units} took={ms}ms trace={trace}")  # fmt: skip
    asked = held + timedelta(milliseconds=dice.randint(5, 20))
    wait, failed = connection_wait(dice, asked)
    thread = f"nio-8080-exec-{dice.randint(1, 200)}"
    if failed:
        fail(shop, at, asked, order, trace, thread)
    else:
        succeed(shop, at, asked + wait, order, trace, thread)


def connection_wait(dice: random.Random, asked: datetime) -> tuple[timedelta, bool]:
    """How long order-service waits for a connection, and whether it gives up after 30 s."""
    if asked < BROKEN:
        return timedelta(milliseconds=dice.randint(1, 9)), False
    if dice.random() < 0.58:
        return timedelta(seconds=30), True
    return timedelta(seconds=dice.uniform(4, 26)), False


def fail(shop: Shop, at: datetime, asked: datetime, order: str, trace: str, thread: str) -> None:
    dice = shop.dice
    given_up = asked + timedelta(seconds=30, milliseconds=dice.randint(1, 40))
    waiting = min(64, 6 + int((given_up - BROKEN).total_seconds() / 40) + dice.randint(0, 9))
    shop.say_spring(given_up, "ERROR", thread, "c.shop.order.web.ApiErrors",
                    f"ORD-5031 order {order} was not stored: no database connection\n"
                    + STACK.format(waiting=waiting))  # fmt: skip
    answered = given_up + timedelta(milliseconds=dice.randint(2, 8))
    shop.say_json("checkout-service", answered, "ERROR", "checkout.orders",
                  "CHK-5042 call to order-service failed: HTTP 503 ORD-5031 after 30.0 s",
                  traceId=trace, order=order)  # fmt: skip
    seconds = (answered - at).total_seconds()
    shop.say_access(answered, "POST /api/checkout", 504, seconds, "checkout-service:8080")
    row(shop, order, at, "FAILED", "ORD-5031", answered)


def succeed(shop: Shop, at: datetime, got: datetime, order: str, trace: str, thread: str) -> None:
    dice = shop.dice
    stored = got + timedelta(milliseconds=dice.randint(12, 45))
    shop.say_spring(stored, "INFO", thread, "c.shop.order.store.OrderStore", f"order {order} stored")
    paid = stored + timedelta(milliseconds=dice.randint(60, 180))
    declined = dice.random() < 0.03
    level, word = ("WARN", "card declined by issuer: PAY-2007") if declined else ("INFO", "payment authorised")
    shop.say_json("payment-service", paid, level, "payment.cards", f"{word} for order {order}", traceId=trace)
    done = paid + timedelta(milliseconds=dice.randint(3, 12))
    seconds = (done - at).total_seconds()
    shop.say_json("checkout-service", done, "INFO", "checkout.flow",
                  f"checkout finished for order {order} in {seconds * 1000:.0f} ms", traceId=trace)  # fmt: skip
    shop.say_access(done, "POST /api/checkout", 402 if declined else 200, seconds, "checkout-service:8080")
    row(shop, order, at, "DECLINED" if declined else "PAID", "PAY-2007" if declined else "", done)


def row(shop: Shop, order: str, at: datetime, status: str, code: str, updated: datetime) -> None:
    shop.orders.append({
        "order_id": order, "created_at": stamp(at), "status": status, "failure_code": code,
        "amount_cents": str(shop.dice.randint(900, 42000)), "currency": "EUR",
        "customer_id": f"C{shop.dice.randint(10000, 99999)}", "updated_at": stamp(updated),
    })  # fmt: skip


def browsing(shop: Shop) -> None:
    for at in arrivals(shop.dice, 3):
        path = shop.dice.choice(["GET /", "GET /api/products?page=1", "GET /api/products/8841", "GET /api/cart"])
        shop.say_access(at, path, 200, shop.dice.uniform(0.01, 0.12), "catalog-service:8080")


def recommendations(shop: Shop) -> None:
    """The red herring: noisy and hot since its deploy, on a path that checkout does not take."""
    for at in arrivals(shop.dice, 3):
        ms = shop.dice.randint(20, 60) if at < DEPLOY else shop.dice.randint(60, 180)
        shop.say_json("recommendation-service", at, "INFO", "reco.rank", f"ranked 24 products in {ms} ms")
        after = at + timedelta(milliseconds=ms)
        shop.say_access(after, "GET /api/recommendations", 200, ms / 1000, "recommendation-service:8080")
    started = DEPLOY + timedelta(seconds=31)
    shop.say_json("recommendation-service", started, "INFO", "reco.boot", "recommendation-service 2.14.0 started")
    for at in arrivals(shop.dice, 14, started + timedelta(seconds=9)):
        segment = shop.dice.randint(100, 999)
        shop.say_json("recommendation-service", at, "WARN", "reco.features",
                      f"feature cache miss for segment {segment}, computing it now")  # fmt: skip


def restart(shop: Shop) -> None:
    """order-service comes up with the small pool."""
    at = CONFIG + timedelta(seconds=22)
    for seconds, logger, message in [
        (0, "c.shop.order.OrderApplication", "Starting OrderApplication 5.8.2 using Java 21.0.4"),
        (3, "com.zaxxer.hikari.HikariConfig", "HikariPool-1 - configuration: maximumPoolSize.................8"),
        (3, "com.zaxxer.hikari.HikariDataSource", "HikariPool-1 - Start completed."),
        (5, "c.shop.order.OrderApplication", "Started OrderApplication in 5.214 seconds"),
    ]:
        shop.say_spring(at + timedelta(seconds=seconds), "INFO", "main", logger, message)


def housekeeping(shop: Shop) -> None:
    for at in arrivals(shop.dice, 0.5):
        shop.say("inventory-service", at,
                 f'ts={stamp(at)} level=warn service=inventory-service msg="stock below reorder point" '
                 f"sku=SKU-{shop.dice.randint(1000, 9999)} left={shop.dice.randint(1, 9)}")  # fmt: skip
    for at in arrivals(shop.dice, 0.4):
        shop.say_spring(at, "INFO", "scheduling-1", "c.shop.order.jobs.OutboxPublisher",
                        f"published {shop.dice.randint(1, 9)} order events")  # fmt: skip


def series(dice: random.Random) -> list[dict[str, object]]:
    """One value a minute. Gauges, so that a look needs no rate()."""
    found: list[dict[str, object]] = []

    def add(name: str, labels: dict[str, str], shape: tuple[float, float, float], at: datetime, *, whole: bool) -> None:
        before, after, noise = shape
        values = []
        for minute in range(int((NOW - START).total_seconds() // 60) + 1):
            when = START + timedelta(minutes=minute)
            base = before if when < at else before + (after - before) * ramp(when, at)
            value = max(0.0, base * (1 + dice.uniform(-noise, noise)))
            values.append([int(when.timestamp()), str(round(value)) if whole else f"{value:.4g}"])
        found.append({"metric": {"__name__": name, **labels}, "values": values})

    for service, before, after, at in [
        ("gateway", 0.31, 0.31, BROKEN), ("checkout-service", 0.38, 30.2, BROKEN), ("order-service", 0.06, 30.1, BROKEN),
        ("payment-service", 0.19, 0.19, BROKEN), ("inventory-service", 0.021, 0.021, BROKEN),
        ("recommendation-service", 0.062, 0.19, DEPLOY),
    ]:  # fmt: skip
        add("http_server_p99_seconds", {"service": service}, (before, after, 0.06), at, whole=False)
    for service, before, after in [
        ("checkout-service", 0.001, 0.57), ("order-service", 0.0005, 0.58), ("payment-service", 0.002, 0.002),
        ("inventory-service", 0.0, 0.0), ("recommendation-service", 0.001, 0.001),
    ]:  # fmt: skip
        add("http_server_error_ratio", {"service": service}, (before, after, 0.08), BROKEN, whole=False)
    for service, before, after, at in [
        ("gateway", 0.11, 0.11, BROKEN), ("checkout-service", 0.22, 0.2, BROKEN), ("order-service", 0.27, 0.16, BROKEN),
        ("payment-service", 0.18, 0.17, BROKEN), ("inventory-service", 0.09, 0.09, BROKEN),
        ("recommendation-service", 0.24, 0.91, DEPLOY),
    ]:  # fmt: skip
        add("process_cpu_usage", {"service": service}, (before, after, 0.05), at, whole=False)
    pool = {"service": "order-service", "pool": "HikariPool-1"}
    add("hikaricp_connections_max", pool, (30, 8, 0), CONFIG, whole=True)
    add("hikaricp_connections_active", pool, (14, 8, 0.04), CONFIG, whole=True)
    add("hikaricp_connections_pending", pool, (0, 46, 0.1), BROKEN, whole=True)
    return found


def ramp(when: datetime, at: datetime) -> float:
    """0 to 1 within about three minutes, except that a config change is a step."""
    minutes = (when - at).total_seconds() / 60
    return 1.0 if at in (CONFIG, DEPLOY) else 1 - math.exp(-(minutes + 0.4) / 0.9)


def alert(name: str, service: str, severity: str, at: datetime, value: str, summary: str) -> dict[str, object]:
    return {
        "labels": {"alertname": name, "service": service, "severity": severity},
        "annotations": {"summary": summary},
        "state": "firing",
        "activeAt": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "value": value,
    }


# `activeAt` is when the expression became true, not when the rule's `for` was over.
ALERTS = [
    alert("CheckoutLatencyHigh", "checkout-service", "critical", BROKEN + timedelta(minutes=1), "3.02e+01",
          "p99 of checkout-service is above 5 s"),
    alert("CpuHigh", "recommendation-service", "warning", DEPLOY + timedelta(minutes=1), "9.1e-01",
          "CPU of recommendation-service is above 85 %"),
]  # fmt: skip

RULES = [
    {"name": "CheckoutLatencyHigh", "query": 'http_server_p99_seconds{service="checkout-service"} > 5', "duration": 180,
     "labels": {"severity": "critical"}, "annotations": {"summary": "p99 of {{ $labels.service }} is above 5 s"}},
    {"name": "CpuHigh", "query": "process_cpu_usage > 0.85", "duration": 600,
     "labels": {"severity": "warning"}, "annotations": {"summary": "CPU of {{ $labels.service }} is above 85 %"}},
]  # fmt: skip

CHANGES = [
    {"time": "2026-11-29T15:20:44Z", "kind": "deploy", "service": "payment-service", "version": "3.31.0",
     "summary": "deploy payment-service 3.31.0: new card issuer table", "author": "m.keller"},
    {"time": "2026-11-30T07:12:30Z", "kind": "config", "service": "gateway", "version": "r881",
     "summary": "gateway: keep-alive timeout 60 s -> 75 s", "author": "t.okafor"},
    {"time": "2026-11-30T08:30:05Z", "kind": "deploy", "service": "recommendation-service", "version": "2.14.0",
     "summary": "deploy recommendation-service 2.14.0: per-segment features", "author": "li.wen"},
    {"time": "2026-11-30T08:41:07Z", "kind": "config", "service": "order-service", "version": "r882",
     "summary": "order-service: spring.datasource.hikari.maximum-pool-size 30 -> 8", "author": "a.brandt"},
]  # fmt: skip


def write(shop: Shop) -> None:
    for service, lines in shop.lines.items():
        text = "\n".join(line for at, line in sorted(lines) if at < NOW)
        (FOLDER / "logs" / f"{service}.log").write_text(text + "\n", encoding="utf-8")
    metrics = {"series": series(shop.dice), "alerts": ALERTS, "rules": RULES}
    text = json.dumps(metrics, separators=(",", ":")).replace('{"metric"', '\n{"metric"')
    text = text.replace('"alerts"', '\n"alerts"').replace('"rules"', '\n"rules"')
    (FOLDER / "metrics.json").write_text(text + "\n", encoding="utf-8")
    (FOLDER / "changes.jsonl").write_text("".join(json.dumps(change) + "\n" for change in CHANGES), encoding="utf-8")
    with (FOLDER / "orders.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(shop.orders[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(row for row in shop.orders if row["updated_at"] < stamp(NOW))


def main() -> None:
    shop = Shop(seed=20261130)
    for number, at in enumerate(arrivals(shop.dice, CHECKOUTS_A_MINUTE), start=4100):
        checkout(shop, at, number)
    browsing(shop)
    recommendations(shop)
    restart(shop)
    housekeeping(shop)
    write(shop)


if __name__ == "__main__":
    main()
