"""The numbers that are read off a series."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.series import change_point, number, summarise, summary_text, unit_of

START = 1796026200.0  # 2026-11-30T08:10:00Z


def points(*values: float) -> list[tuple[float, float]]:
    return [(START + 60 * index, value) for index, value in enumerate(values)]


def test_a_step_is_told_with_its_time_its_levels_and_their_ratio() -> None:
    summary = summarise(points(*[0.2, 0.22, 0.21, 0.22, 0.23, 0.21], *[4.1, 4.3, 4.2, 4.27, 4.2, 4.25]))
    assert summary is not None
    assert summary_text('http_latency_seconds{service="checkout"}', summary) == (
        'http_latency_seconds{service="checkout"} unit=s from=2026-11-30T08:10:00Z to=2026-11-30T08:21:00Z first=0.2 '
        "last=4.25 min=0.2 max=4.3 max_at=2026-11-30T08:17:00Z mean=2.217 change_at=2026-11-30T08:16:00Z before=0.215 "
        "after=4.225 ratio=19.7"
    )


def test_a_level_that_climbs_over_some_points_begins_at_the_first() -> None:
    change = change_point(points(*[0.2, 0.21] * 10, 16.5, 26.2, *[30.1, 29.9] * 10))
    assert change is not None
    assert (change.at, change.before) == (START + 20 * 60, pytest.approx(0.205))
    assert change.after == pytest.approx(30, abs=0.2)


def test_a_fall_to_zero_is_a_change() -> None:
    change = change_point(points(*[50, 52, 51, 50, 49, 51], *[0] * 6))
    assert change is not None
    assert (change.at, change.before, change.after) == (START + 6 * 60, 50.5, 0)


@pytest.mark.parametrize(
    "values",
    [
        [5.0] * 30,
        [1, 2] * 15,
        [100 + n % 7 for n in range(40)],
        [100.0] * 20 + [110.0] * 20,  # a tenth is not a new level
        [1.0, 2.0, 9.0],
    ],
)
def test_noise_and_small_steps_are_no_change(values: list[float]) -> None:
    assert change_point(points(*values)) is None


def test_noise_is_seldom_taken_for_a_change() -> None:
    chance = random.Random(7)
    noise = [[chance.gauss(10, 3) for _ in range(120)] for _ in range(200)]
    assert sum(change_point(points(*values)) is not None for values in noise) <= 2


def test_a_baseline_is_told_beside_the_window() -> None:
    now, before = summarise(points(4, 4, 4)), summarise(points(2, 2, 1))
    assert now is not None
    assert summary_text("x", now, before).endswith("change=none baseline_mean=1.667 baseline_max=2 to_baseline=2.4")


def test_a_baseline_of_nothing_gives_no_ratio() -> None:
    now, before = summarise(points(4, 4, 4)), summarise(points(0, 0, 0))
    assert now is not None
    assert summary_text("x", now, before).endswith("baseline_mean=0 baseline_max=0 to_baseline=none")


def test_points_that_are_no_numbers_are_counted_and_left_out() -> None:
    summary = summarise(points(1, math.nan, 3, math.inf))
    assert summary is not None
    assert (summary.mean, summary.points, summary.strange) == (2, 2, 2)
    assert summary_text("x", summary).endswith("not_a_number=2")
    assert summarise(points(math.nan, -math.inf)) is None
    assert summarise([]) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4.27123, "4.271"),
        (0.0597512, "0.05975"),
        (30.0, "30"),
        (1234.56, "1234.6"),
        (1796028180.0, "1796028180"),
        (0.000012344, "0.00001234"),
        (-0.5, "-0.5"),
        (0.0, "0"),
        (math.nan, "nan"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_written_without_exponents(value: float, text: str) -> None:
    assert number(value) == text


@given(st.floats(min_value=-1e12, max_value=1e12))
def test_a_written_number_is_close_to_the_value(value: float) -> None:
    assert float(number(value)) == pytest.approx(value, rel=1e-3, abs=1e-11)
    assert "e" not in number(value)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ('http_request_duration_seconds{service="a"}', "s"),
        ("process_resident_memory_bytes", "B"),
        ('rate(node_network_receive_bytes_total{job="x"}[5m])', "B"),
        ("http_error_ratio", "ratio"),
        ("hikaricp_connections_active", ""),
    ],
)
def test_the_unit_is_read_from_the_metrics_name(name: str, unit: str) -> None:
    assert unit_of(name) == unit
