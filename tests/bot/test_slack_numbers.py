"""Short forms of benchmarks/slack_*.py: the same measurements with a small load. Times are generous, counts are exact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from slack_load import share
from slack_measures import cost_of_events, exactly_once, growth, loaded, reconnected, started, with_lost_replies


async def test_an_event_costs_at_most_twice_what_bolt_and_one_insert_cost(tmp_path: Path) -> None:
    cost = await cost_of_events(tmp_path, 300, 150.0)
    assert cost.messages / cost.bare <= 2
    assert cost.mentions / cost.bare <= 2
    assert cost.whole_bot / cost.bare <= 2


async def test_acknowledgements_are_quick_while_diagnoses_run(tmp_path: Path) -> None:
    """Slack waits three seconds. The targets of 100 ms and 1 s are those of a machine of its own."""
    report = await loaded(tmp_path, 3.0, 50.0, diagnoses=10, latency=2.0)
    assert (report.given_up, report.again) == (0, 0)
    assert share(report.acks, 0.99) <= 3.0
    assert share(report.life, 0.95) <= 3.0


@pytest.mark.parametrize("mode", ["http", "socket"])
async def test_of_many_deliveries_in_any_order_nothing_is_lost_and_nothing_doubled(
    tmp_path: Path, database_url: str, mode: str
) -> None:
    once = await exactly_once(tmp_path, database_url, events=120, questions=12, a_second=100.0, mode=mode)
    assert (once.questions, once.runs, once.lost, once.doubled, once.given_up) == (12, 12, 0, 0, 0)
    assert once.deliveries > 180


async def test_lost_replies_make_no_second_post(tmp_path: Path) -> None:
    once = await with_lost_replies(tmp_path, 20)
    assert (once.runs, once.lost, once.doubled, once.given_up) == (20, 0, 0, 0)


@pytest.mark.parametrize(("how", "most"), [("warning", 5.0), ("close", 10.0)])
async def test_a_lost_connection_is_soon_replaced(tmp_path: Path, how: Any, most: float) -> None:
    assert await reconnected(tmp_path, how) <= most


async def test_the_start_is_cheap(tmp_path: Path) -> None:
    start = await started(tmp_path)
    assert start.cpu <= 2.5
    assert start.megabytes <= 200


async def test_runs_leave_nothing_behind(tmp_path: Path) -> None:
    warm, after, last = await growth(tmp_path, [40, 40, 40], 20.0)
    assert last - after <= 6
    assert last - warm <= 10
