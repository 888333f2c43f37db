"""What a person types is read kindly, and refused with a sentence that says what to do."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.errors import ConfigError
from bot.greetings import reply_to
from bot.inputs import MAX_QUESTION_CHARS, language_of, moment_of, question_of, read_text, zone_named


@pytest.mark.parametrize("text", ["", "   \n", "\x00"])
def test_a_question_of_nothing_says_how_to_ask(text: str) -> None:
    with pytest.raises(ConfigError, match="proofthread ask"):
        question_of(text)


def test_a_question_of_100_kb_is_cut_and_says_so() -> None:
    question, remark = question_of("why " * 25_000)
    assert len(question) == MAX_QUESTION_CHARS
    assert remark is not None
    assert "99999" in remark
    assert question_of("why?") == ("why?", None)


def test_a_question_in_a_broken_encoding_becomes_readable_text() -> None:
    assert question_of("why \udcff slow")[0] == "why ? slow"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Why is checkout slow?", "en"),
        ("结账为什么变慢？", "zh"),
        ("checkout-service order-service 为什么慢", "zh"),
        ("What does 订单失败 mean in order-service logs since noon?", "en"),
        ("🔥🔥", "zh"),
        ("ERR_TIMEOUT 30000", "en"),
    ],
)
def test_the_answer_speaks_the_questions_language(question: str, language: str) -> None:
    assert language_of(question, default="zh") == language


def test_a_time_without_offset_is_read_in_the_askers_zone() -> None:
    zone = ZoneInfo("Asia/Shanghai")
    assert moment_of("2026-11-30T09:10:00Z", zone).isoformat() == "2026-11-30T09:10:00+00:00"
    assert moment_of("2026-11-30T17:10", zone).isoformat() == "2026-11-30T17:10:00+08:00"


def test_a_wrong_time_or_zone_is_shown_the_right_form() -> None:
    with pytest.raises(ConfigError, match="2026-11-30T09:10:00Z"):
        moment_of("yesterday", ZoneInfo("UTC"))
    with pytest.raises(ConfigError, match="Europe/Berlin"):
        zone_named("Mars/Olympus")


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_text(str(tmp_path / "binary"))
    with pytest.raises(ConfigError, match="No such file"):
        read_text(str(tmp_path / "missing"))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Hello!", "Hello."),
        ("hey there", "Hello."),
        ("Hi, are you there?", "Hello."),
        ("thanks :)", "welcome"),
        ("ok cool", "welcome"),
        ("谢谢！", "不客气"),
        ("谢谢啦", "不客气"),
        ("?", "quote the proof"),
        ("Can you help me?", "quote the proof"),
    ],
)
def test_small_talk_gets_a_fitting_reply(text: str, part: str) -> None:
    assert part in (reply_to(text) or "")


@pytest.mark.parametrize("text", ["Hello, why is checkout slow?", "test the payment service", "结账慢", "🔥"])
def test_a_question_is_no_small_talk(text: str) -> None:
    assert reply_to(text) is None
