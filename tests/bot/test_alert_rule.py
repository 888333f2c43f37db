"""A rule's expression read as far as a chart needs it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.charts.rule import condition_of, worded_threshold

QUANTILE = 'histogram_quantile(0.99, sum by (le) (rate(http_request_duration_seconds_bucket{path=~"/a>1"}[5m])))'


@pytest.mark.parametrize(
    ("expression", "measured", "threshold", "below"),
    [
        ("checkout_latency_seconds > 2", "checkout_latency_seconds", 2.0, False),
        (f"{QUANTILE} > 0.5", QUANTILE, 0.5, False),
        ("2 < checkout_latency_seconds", "checkout_latency_seconds", 2.0, False),
        ("disk_free_bytes < 1e9", "disk_free_bytes", 1e9, True),
        ("(a_bytes / b_bytes) * 100 < 10 and on(instance) x > 3", "(a_bytes / b_bytes) * 100", 10.0, True),
        ("(up == 0)", "up", 0.0, True),
        ("time() - last_seconds > 5 * 60", "time() - last_seconds", 300.0, False),
        ("sum(x) > bool 3", "sum(x)", 3.0, False),
        ("-x > -5", "-x", -5.0, False),
        ("a_total > b_total", "a_total", None, False),
        ('absent(up{job="a"})', 'up{job="a"}', None, False),
        ("vector(1)", "vector(1)", None, False),
        ("x > 1 / 0", "x", None, False),
    ],
)
def test_a_rule_is_what_is_measured_and_its_threshold(
    expression: str, measured: str, threshold: float | None, below: bool
) -> None:
    found = condition_of(expression)
    assert (found.expression, found.threshold, found.fires_below) == (measured, threshold, below)


@pytest.mark.parametrize(
    ("expression", "unit"),
    [
        (f"{QUANTILE} > 0.5", "s"),
        ("node_filesystem_avail_bytes < 5", "B"),
        ("rate(node_network_receive_bytes_total[5m]) > 1e9", "B/s"),
        ("sum(rate(http_requests_total[5m])) > 5", "/s"),
        ("a_seconds / b_seconds > 0.5", ""),
        ("sum(increase(restarts_total[1h])) by (pod) > 5", ""),
    ],
)
def test_the_unit_follows_from_names_and_functions(expression: str, unit: str) -> None:
    assert condition_of(expression).unit == unit


@given(st.text(alphabet="ab_>(<=){}[]\"'` 1.e+-*/\\#andor", max_size=60))
def test_no_expression_breaks_the_reading(expression: str) -> None:
    found = condition_of(expression)
    assert found.threshold is None or isinstance(found.threshold, float)
    assert isinstance(found.unit, str)
    assert isinstance(found.metrics, frozenset)
    worded_threshold(expression)


@pytest.mark.parametrize(
    ("text", "threshold", "below"),
    [
        ("CPU is > 80% for 5m", 80.0, False),
        ("the value was greater than the threshold (80.0)", 80.0, False),
        ("free space < 10 %", 10.0, True),
        ("fell below the threshold of 1.5", 1.5, True),
    ],
)
def test_words_may_say_a_threshold(text: str, threshold: float, below: bool) -> None:
    found = worded_threshold(text)
    assert found is not None
    assert (found.threshold, found.fires_below) == (threshold, below)


@pytest.mark.parametrize("text", ["p99 is 4.8 s", "> 3 and < 5", "", "host-> 10.0.0.1", "> 1e999"])
def test_words_that_say_none_or_several_say_nothing(text: str) -> None:
    assert worded_threshold(text) is None
