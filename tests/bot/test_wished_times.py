"""How long `/proofthread mute` lasts, as people write it."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.hearing.wished_times import NoTime, until_of

NOW = datetime(2026, 11, 30, 21, 30, tzinfo=UTC)
BERLIN, SHANGHAI = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Shanghai")


@pytest.mark.parametrize(
    ("said", "end"),
    [
        ("", "2026-11-30T22:30"),
        ("30m", "2026-11-30T22:00"),
        ("2h", "2026-11-30T23:30"),
        ("1h30m", "2026-11-30T23:00"),
        ("1.5h", "2026-11-30T23:00"),
        ("for 90 minutes", "2026-11-30T23:00"),
        ("1 day and 2 hours", "2026-12-01T23:30"),
        ("1D", "2026-12-01T21:30"),
        ("2小时", "2026-11-30T23:30"),
        ("30 分钟", "2026-11-30T22:00"),
        ("半小时", "2026-11-30T22:00"),
        ("1天", "2026-12-01T21:30"),
    ],
)
def test_a_length_counts_from_now(said: str, end: str) -> None:
    assert until_of(said, NOW, BERLIN) == datetime.fromisoformat(f"{end}+00:00")


@pytest.mark.parametrize(
    ("said", "zone", "end"),
    [
        ("until 23:00", BERLIN, "2026-11-30T22:00"),
        ("until 08:00", BERLIN, "2026-12-01T07:00"),
        ("08:00", BERLIN, "2026-12-01T07:00"),
        ("until 8", BERLIN, "2026-12-01T07:00"),
        ("till 8am", BERLIN, "2026-12-01T07:00"),
        ("until tomorrow 23:00", BERLIN, "2026-12-01T22:00"),
        ("直到 08:00", SHANGHAI, "2026-12-01T00:00"),
        ("到明天 08:00", SHANGHAI, "2026-12-02T00:00"),
        ("到8点", SHANGHAI, "2026-12-01T00:00"),
        ("直到08：30", SHANGHAI, "2026-12-01T00:30"),
    ],
)
def test_a_clock_time_is_the_readers_next(said: str, zone: ZoneInfo, end: str) -> None:
    assert until_of(said, NOW, zone) == datetime.fromisoformat(f"{end}+00:00")


@pytest.mark.parametrize(
    "said", ["forever", "8", "2 parsecs", "25:00", "until 08:61", "0m", "31d", "-2h", "9999w", "2h please", "until", "ten"]
)
def test_what_is_no_time_or_too_far_away_is_refused(said: str) -> None:
    with pytest.raises(NoTime):
        until_of(said, NOW, BERLIN)
