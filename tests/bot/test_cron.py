"""Cron lines mean what crontab(5) says, and a wrong one says what to write."""

from __future__ import annotations

import pytest

from bot.cron import Cron, read_cron


@pytest.mark.parametrize(
    ("text", "cron"),
    [
        ("0 9 * * 1", Cron((0,), (9,), None, None, (1,))),
        ("0 9 * * mon-fri", Cron((0,), (9,), None, None, (1, 2, 3, 4, 5))),
        ("0 9 * * 5-7", Cron((0,), (9,), None, None, (0, 5, 6))),
        ("0 9 * * 7", Cron((0,), (9,), None, None, (0,))),
        ("0 9 * * sat-sun", Cron((0,), (9,), None, None, (0, 6))),
        ("*/15 8-18/5 * * *", Cron((0, 15, 30, 45), (8, 13, 18), None, None, None)),
        ("5/20 * 1,15 jan,7 ?", Cron((5, 25, 45), None, (1, 15), (1, 7), None)),
        ("  0   0  29 2 * ", Cron((0,), (0,), (29,), (2,), None)),
        ("@weekly", Cron((0,), (0,), None, None, (0,))),
        ("* * * * */2", Cron(None, None, None, None, (0, 2, 4, 6))),
    ],
)
def test_a_line_is_read_as_crontab_reads_it(text: str, cron: Cron) -> None:
    assert read_cron(text) == cron


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 9 * *", "write minute, hour, day, month and weekday"),
        ("0 25 * * *", "'25' is no hour of a cron line: 0 to 23"),
        ("0 9 * * monday?", "is no weekday"),
        ("0 9 1 * mon", "write two lines"),
        ("0 0 31 2 *", "never comes"),
        ("50-10 * * * *", "comes before the last"),
        ("*/0 * * * *", "1 or more"),
        ("every day", "is no cron line"),
    ],
)
def test_a_wrong_line_says_what_to_write(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        read_cron(text)
