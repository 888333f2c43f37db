"""Times as models and people write them."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tools.contracts import CallContext
from tools.errors import ToolFailed
from tools.window import moment_of, stamp, window_of

# The context's now is 2026-11-30T09:10:00Z, 10:10 in Berlin.


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-11-30T08:40:00Z", "2026-11-30T08:40:00Z"),
        ("2026-11-30T08:40", "2026-11-30T07:40:00Z"),
        ("2026-11-30 08:40:12.5", "2026-11-30T07:40:12.500Z"),
        ("2026-11-30T08:40:00+08:00", "2026-11-30T00:40:00Z"),
        ("2026-11-30", "2026-11-29T23:00:00Z"),
        ("2026-11-30 08:40 UTC", "2026-11-30T08:40:00Z"),
        ("08:40", "2026-11-30T07:40:00Z"),
        ("14:00", "2026-11-29T13:00:00Z"),  # still to come today, so yesterday's is meant
        ("now", "2026-11-30T09:10:00Z"),
        ("-30m", "2026-11-30T08:40:00Z"),
        ("now-2h", "2026-11-30T07:10:00Z"),
        ("15 minutes ago", "2026-11-30T08:55:00Z"),
        ("1d", "2026-11-29T09:10:00Z"),
        ("1796028180", "2026-11-30T08:43:00Z"),
        ("1796028180123", "2026-11-30T08:43:00.123Z"),
    ],
)
def test_a_time_is_read_in_the_askers_zone(context: CallContext, text: str, utc: str) -> None:
    assert stamp(moment_of(text, context)) == utc


@pytest.mark.parametrize("text", ["yesterday-ish", "25:00", "2026-13-01", "", "99", "-1y"])
def test_what_is_no_time_says_how_to_write_one(context: CallContext, text: str) -> None:
    with pytest.raises(ToolFailed, match=r"since .* is not a time\. Write 2026-11-30T08:40 \(read in Europe/Berlin\)"):
        moment_of(text, context, "since")


def test_the_hour_that_summer_time_repeats_is_read_in_its_zone() -> None:
    context = CallContext("run", datetime(2026, 7, 1, 12, tzinfo=UTC), ZoneInfo("Europe/Berlin"))
    assert stamp(moment_of("08:00", context)) == "2026-07-01T06:00:00Z"


@pytest.mark.parametrize(
    ("since", "until", "minutes", "expected"),
    [
        (None, None, None, "2026-11-30T08:10:00Z to 2026-11-30T09:10:00Z"),
        (None, None, 15, "2026-11-30T08:55:00Z to 2026-11-30T09:10:00Z"),
        ("08:00Z", None, None, None),
        ("2026-11-30T08:00Z", None, None, "2026-11-30T08:00:00Z to 2026-11-30T09:10:00Z"),
        ("2026-11-30T08:00Z", None, 10, "2026-11-30T08:00:00Z to 2026-11-30T08:10:00Z"),
        (None, "2026-11-30T08:00Z", 10, "2026-11-30T07:50:00Z to 2026-11-30T08:00:00Z"),
        ("2026-11-30T07:00Z", "2026-11-30T08:00Z", 5, "2026-11-30T07:00:00Z to 2026-11-30T08:00:00Z"),
    ],
)
def test_a_window_is_filled_in_from_what_is_said(
    context: CallContext, since: str | None, until: str | None, minutes: float | None, expected: str | None
) -> None:
    if expected is None:
        with pytest.raises(ToolFailed):
            window_of(since, until, minutes, context)
    else:
        assert str(window_of(since, until, minutes, context)) == expected


def test_a_window_that_ends_before_it_begins_is_refused(context: CallContext) -> None:
    with pytest.raises(ToolFailed, match="the window is empty: it begins 2026-11-30T09:00:00Z and ends"):
        window_of("2026-11-30T09:00Z", "2026-11-30T08:00Z", None, context)


def test_the_window_before_is_equally_long(context: CallContext) -> None:
    window = window_of(None, None, 20, replace(context))
    assert str(window.before) == "2026-11-30T08:30:00Z to 2026-11-30T08:50:00Z"
