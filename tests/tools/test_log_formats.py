"""Each format of log lines, on lines as real programs write them."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tools.logs.formats import choose_reader
from tools.logs.levels import level_in
from tools.logs.timestamps import Clock

WRITTEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
CLOCK = Clock(UTC, WRITTEN)

FORMATS = {
    "JSON with a nested service": (
        b'{"@timestamp":"2026-11-30T08:43:12.250Z","log.level":"error","message":"pool exhausted",'
        b'"service":{"name":"orders"}}',
        ("2026-11-30T08:43:12.250+00:00", "orders", "ERROR", "pool exhausted"),
    ),
    "JSON with epoch milliseconds and pino levels": (
        b'{"level":50,"time":1796028192250,"pid":7,"hostname":"web-1","app":"cart","msg":"request failed"}',
        ("2026-11-30T08:43:12.250+00:00", "cart", "ERROR", "request failed"),
    ),
    "Docker's json-file around JSON": (
        b'{"log":"{\\"level\\":\\"warn\\",\\"msg\\":\\"slow\\",\\"service\\":\\"cart\\"}\\n","stream":"stdout",'
        b'"time":"2026-11-30T08:43:12.25Z"}',
        ("2026-11-30T08:43:12.250+00:00", "cart", "WARN", "slow"),
    ),
    "logfmt": (
        b'ts=2026-11-30T08:43:12.25Z level=error service=payment msg="charge failed" code=E1042',
        ("2026-11-30T08:43:12.250+00:00", "payment", "ERROR", "charge failed"),
    ),
    "Python logging": (
        b"2026-11-30 08:43:12,250 - shop.orders - ERROR - stock check failed",
        ("2026-11-30T08:43:12.250+00:00", None, "ERROR", "stock check failed"),
    ),
    "logback": (
        b"2026-11-30 08:43:12.250  WARN 1 --- [nio-8080-exec-3] c.s.OrderController : slow query",
        ("2026-11-30T08:43:12.250+00:00", None, "WARN", "slow query"),
    ),
    "ISO with an offset": (
        b"2026-11-30T16:43:12.250+08:00 [main] INFO started",
        ("2026-11-30T08:43:12.250+00:00", None, "INFO", "started"),
    ),
    "level before the stamp": (
        b"ERROR [2026-11-30 08:43:12,250] org.acme.Pool: exhausted",
        ("2026-11-30T08:43:12.250+00:00", None, "ERROR", "exhausted"),
    ),
    "PostgreSQL": (
        b"2026-11-30 08:43:12.250 UTC [4711] FATAL:  sorry, too many clients already",
        ("2026-11-30T08:43:12.250+00:00", None, "FATAL", "too many clients"),
    ),
    "nginx error": (
        b"2026/11/30 08:43:12 [error] 31#31: *7 upstream timed out (110: Connection timed out)",
        ("2026-11-30T08:43:12+00:00", None, "ERROR", "upstream timed out"),
    ),
    "access log with a 5xx": (
        b'10.0.0.7 - - [30/Nov/2026:16:43:12 +0800] "GET /api/orders/77 HTTP/1.1" 503 1234 "-" "curl/8.5"',
        ("2026-11-30T08:43:12+00:00", None, "ERROR", "/api/orders/77"),
    ),
    "Apache error": (
        b"[Mon Nov 30 08:43:12.250000 2026] [core:error] [pid 9:tid 1] AH00124: request exceeded the limit",
        ("2026-11-30T08:43:12.250+00:00", None, "ERROR", "AH00124"),
    ),
    "syslog without a year": (
        b"Nov 30 08:43:12 web-1 sshd[4242]: Failed password for root from 10.0.0.9 port 22",
        ("2026-11-30T08:43:12+00:00", "sshd", None, "Failed password"),
    ),
    "klog": (
        b'E1130 08:43:12.250000       1 reflector.go:178] failed to list *v1.Pod: timeout',
        ("2026-11-30T08:43:12.250+00:00", None, "ERROR", "failed to list"),
    ),
    "container runtime": (
        b"2026-11-30T08:43:12.250000000Z stderr F ERROR cannot bind port",
        ("2026-11-30T08:43:12.250+00:00", None, "ERROR", "cannot bind port"),
    ),
    "container runtime around JSON": (
        b'2026-11-30T08:43:12.250000000Z stdout F {"severity":"ERROR","message":"boom","app":"cart"}',
        ("2026-11-30T08:43:12.250+00:00", "cart", "ERROR", "boom"),
    ),
    "epoch seconds": (b"1796028192.250 ERROR disk full", ("2026-11-30T08:43:12.250+00:00", None, "ERROR", "disk full")),
    "epoch milliseconds": (b"1796028192250 WARN slow", ("2026-11-30T08:43:12.250+00:00", None, "WARN", "slow")),
    "time only": (b"08:43:12.250 INFO  t.c.Travel2Controller#115 ok", ("2026-11-30T08:43:12.250+00:00", None, "INFO", "ok")),
    "Redis": (b"1:M 30 Nov 2026 08:43:12.250 * Background saving", ("2026-11-30T08:43:12.250+00:00", None, None, "saving")),
    "Tomcat": (
        b"30-Nov-2026 08:43:12.250 SEVERE [main] org.apache.catalina.core.StandardContext listener failed",
        ("2026-11-30T08:43:12.250+00:00", None, "ERROR", "listener failed"),
    ),
    "colours": (
        b"\x1b[90m2026-11-30T08:43:12.250Z\x1b[0m \x1b[31mERROR\x1b[0m pool exhausted",
        ("2026-11-30T08:43:12.250+00:00", None, "ERROR", "pool exhausted"),
    ),
}


@pytest.mark.parametrize(("line", "expected"), FORMATS.values(), ids=FORMATS.keys())
def test_a_line_gives_time_service_level_and_text(line: bytes, expected: tuple[str, str | None, str | None, str]) -> None:
    reader = choose_reader([line, line], CLOCK)
    assert reader is not None
    parsed = reader.parse(line)
    assert parsed is not None
    moment, service, level, text = parsed
    time, wanted_service, wanted_level, words = expected
    assert moment == pytest.approx(datetime.fromisoformat(time).timestamp(), abs=0.0005)
    assert service == wanted_service
    assert (level or level_in(text)) == wanted_level
    assert words in text


def test_a_file_without_any_time_has_no_reader() -> None:
    assert choose_reader([b"hello", b"world", b'{"a": 1}'], CLOCK) is None


def test_an_impossible_date_is_no_stamp() -> None:
    reader = choose_reader([b"2026-11-30 08:43:12 ok"], CLOCK)
    assert reader is not None
    assert reader.parse(b"2026-13-45 08:43:12 no") is None


def test_a_zone_less_stamp_is_read_in_the_zone_of_the_settings() -> None:
    reader = choose_reader([b"2026-11-30 16:43:12 ok"], Clock(ZoneInfo("Asia/Shanghai"), WRITTEN))
    assert reader is not None
    parsed = reader.parse(b"2026-11-30 16:43:12 ok")
    assert parsed is not None
    assert parsed[0] == datetime(2026, 11, 30, 8, 43, 12, tzinfo=UTC).timestamp()
    assert reader.stamps.zoneless


def test_december_in_a_file_written_in_january_is_last_year() -> None:
    reader = choose_reader([b"Dec 31 23:59:58 web-1 cron[1]: tick"], Clock(UTC, datetime(2027, 1, 1, 0, 5, tzinfo=UTC)))
    assert reader is not None
    parsed = reader.parse(b"Dec 31 23:59:58 web-1 cron[1]: tick")
    assert parsed is not None
    assert datetime.fromtimestamp(parsed[0], UTC).year == 2026
    assert reader.stamps.lacks == {"year"}


def test_a_bare_time_later_than_the_last_write_is_of_the_day_before() -> None:
    reader = choose_reader([b"23:59:58.1 INFO tick"], Clock(UTC, datetime(2026, 11, 30, 0, 5, tzinfo=UTC)))
    assert reader is not None
    parsed = reader.parse(b"23:59:58.1 INFO tick")
    assert parsed is not None
    assert datetime.fromtimestamp(parsed[0], UTC).day == 29


def test_an_indented_line_of_a_container_belongs_to_the_line_before() -> None:
    first = b"2026-11-30T08:43:12.250Z stderr F java.lang.IllegalStateException: boom"
    second = b"2026-11-30T08:43:12.251Z stderr F \tat org.acme.Pool.take(Pool.java:77)"
    reader = choose_reader([first, second], CLOCK)
    assert reader is not None
    assert reader.parse(first) is not None
    assert reader.parse(second) is None
