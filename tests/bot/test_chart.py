"""The picture under a report: drawn from plain values, in a process of its own."""

from __future__ import annotations

import asyncio
import io
import math
from zoneinfo import ZoneInfo

import pytest
from PIL import Image

from bot.charts.drawing import MAX_BYTES, ChartData, ChartWords, Mark, draw
from bot.charts.finding import Charts
from bot.charts.process import answered, asked
from bot.charts.values import time_ticks, value_text
from storage.engine import Database

START = 1_764_471_600.0
RISE = tuple((START + 60 * index, 0.2 if index < 35 else 4.8) for index in range(70))
CHART = ChartData(
    "CheckoutLatencyHigh · checkout-service\nhistogram_quantile(0.99, http_request_duration_seconds_bucket)",
    "s",
    RISE,
    threshold=1.0,
    started_at=START + 60 * 38,
    changes=(Mark(START + 60 * 32, "order-service config: maximum-pool-size 30 → 5"),),
    zone="Asia/Shanghai",
)
RED, AMBER, BLUE = (255, 129, 120), (255, 195, 92), (108, 178, 255)


def pixels(png: bytes, colour: tuple[int, int, int]) -> int:
    """How many pixels are about this colour."""
    counted = Image.open(io.BytesIO(png)).convert("RGB").getcolors() or []
    return sum(
        count for count, pixel in counted if all(abs(have - want) < 24 for have, want in zip(pixel, colour, strict=True))
    )


def test_the_picture_is_small_and_shows_series_threshold_start_and_change() -> None:
    png = draw(CHART)
    assert len(png) <= MAX_BYTES
    assert Image.open(io.BytesIO(png)).size == (800, 600)
    bare = draw(ChartData(CHART.title, "s", RISE))
    assert pixels(png, BLUE) > 500
    assert pixels(png, RED) > 1_000 > pixels(bare, RED)
    assert pixels(png, AMBER) > 500 > pixels(bare, AMBER)


@pytest.mark.parametrize(
    "data",
    [
        ChartData("$\\frac{1}{0$ <!channel> _^{}\n\N{RIGHT-TO-LEFT OVERRIDE}gnp 👩\u200d💻\x00" * 40, "s", RISE),
        ChartData("", "", ((START, 1.0),), threshold=5.0, started_at=START),
        ChartData("holes", "B", ((START, math.nan), (START + 60, 1e12), (START + 120, math.inf), (START + 180, -1e12))),
        ChartData("flat", "ratio", tuple((START + index, 0.0) for index in range(50)), threshold=0.0),
        ChartData("a month", "", tuple((START + 3600 * index, index % 24) for index in range(720)), started_at=0.0),
        ChartData("many changes", "ms", RISE, changes=tuple(Mark(START + 60 * n, "x" * 500) for n in range(60))),
        ChartData("out of order", "s", RISE[::-1], threshold=1.0),
        ChartData("tiny", "s", tuple((START + index, 1e-9 * index) for index in range(9))),
    ],
    ids=lambda data: data.title[:12],
)
def test_odd_values_are_drawn_all_the_same(data: ChartData) -> None:
    assert draw(data).startswith(b"\x89PNG")


def test_without_a_number_there_is_nothing_to_draw() -> None:
    with pytest.raises(ValueError, match="needs a point"):
        draw(ChartData("nothing", "s", ((START, math.nan),)))


def test_noise_at_every_point_still_fits() -> None:
    noise = tuple((START + index, math.sin(index * 12.9898) * 43758.5453 % 1) for index in range(3_000))
    assert len(draw(ChartData("noise", "", noise, threshold=0.5))) <= MAX_BYTES


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4.8, "s", "4.8 s"),
        (0.25, "s", "250 ms"),
        (7_200, "s", "2 h"),
        (300, "s", "5 min"),
        (350, "ms", "350 ms"),
        (1.5e9, "B", "1.5 GB"),
        (0.05, "ratio", "5 %"),
        (12_000, "", "12 k"),
        (120, "/s", "120 /s"),
        (0, "B", "0"),
        (-3, "C", "-3 C"),
    ],
)
def test_values_are_short(value: float, unit: str, text: str) -> None:
    assert value_text(value, unit) == text


def test_ticks_are_round_times_of_the_readers_clock() -> None:
    ticks = time_ticks(START + 100, START + 4_300, ZoneInfo("Asia/Kolkata"))
    assert [text for _, text in ticks] == ["08:45", "09:00", "09:15", "09:30"]
    assert all(START + 100 <= at <= START + 4_300 for at, _ in ticks)


# ---------------------------------------------------------------- the process


async def test_a_process_beside_ours_draws_one_after_another_and_ends_when_idle(sqlite_database: Database) -> None:
    charts = Charts(sqlite_database, idle_seconds=0.01)
    first, second = await asyncio.gather(charts.draw(CHART), charts.draw(CHART))
    assert first is not None
    assert first == second == draw(CHART)
    async with asyncio.timeout(20):  # an idle process keeps no memory
        while charts.pid is not None:
            await asyncio.sleep(0)
    assert await charts.draw(CHART) == first
    await charts.close()


async def test_what_cannot_be_drawn_gives_none_and_the_next_is_drawn(sqlite_database: Database) -> None:
    charts = Charts(sqlite_database)
    assert await charts.draw(ChartData("nothing", "s", ())) is None
    assert await charts.draw(CHART) is not None
    await charts.close()


async def test_a_drawing_that_is_given_up_leaves_nothing_for_the_next_one(sqlite_database: Database) -> None:
    charts = Charts(sqlite_database, draw_seconds=0.001)
    assert await charts.draw(CHART) is None
    charts.draw_seconds = 60.0
    other = ChartData("other", "B", RISE, words=ChartWords(("阈值", "threshold"), ("告警", "alert")))
    assert await charts.draw(other) == draw(other)
    await charts.close()


def test_a_chart_goes_over_the_pipe_as_one_line() -> None:
    assert asked(CHART).count(b"\n") == 1
    with pytest.raises(ValueError, match="no font"):
        answered(b'{"error": "no font"}')
