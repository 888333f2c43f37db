"""When somebody wants a second look, in English and Chinese; and what only sounds like it."""

from __future__ import annotations

import pytest

from bot.hearing.look_again import wished_wait


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("look again in 15 minutes", 15),
        ("Proofthread, look again in 15 min and tell me if it is back", 15),
        ("Look at it again in half an hour, please", 30),
        ("could you check again in an hour?", 60),
        ("in 10 min check again", 10),
        ("check back in 2h", 120),
        ("recheck in a quarter of an hour", 15),
        ("15分钟后再看", 15),
        ("15 分钟后再看一下，恢复了告诉我", 15),
        ("过十五分钟再查", 15),
        ("二十五分钟之后再看", 25),
        ("请半个小时后重新检查", 30),
        ("两小时后再看", 120),
    ],
)
def test_a_wish_is_heard(text: str, minutes: int) -> None:
    wait = wished_wait(text)
    assert wait is not None
    assert wait.total_seconds() == 60 * minutes


@pytest.mark.parametrize(
    "text",
    [
        "look again",
        "look again in the logs of order-service",
        "check again in 5 pods",
        "why is checkout slow in the last 15 minutes?",
        "it broke again in 15 minutes",
        "15分钟前发生了什么",
        "为什么15分钟后又变慢了",
        "",
    ],
)
def test_a_question_stays_a_question(text: str) -> None:
    assert wished_wait(text) is None
