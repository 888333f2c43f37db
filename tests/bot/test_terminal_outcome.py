"""How an answer looks to someone woken at three: verdict, conclusion, evidence, gaps, next steps."""

from __future__ import annotations

import io
from zoneinfo import ZoneInfo

import pytest
from rich.console import Console

from agents.contracts import RunOutcome
from agents.events import RunEvent
from bot.answers.printable import printable
from bot.answers.times import window_text
from bot.terminal.lines import Line, show
from bot.terminal.outcome import outcome_lines
from bot.terminal.progress import progress_on

UTC = ZoneInfo("UTC")


def drawn(lines: list[Line], *, width: int = 80, terminal: bool = False) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, highlight=False, markup=False, no_color=True)
    show(console, lines)
    return file.getvalue()


def test_the_verdict_comes_first_and_the_order_is_fixed(outcome: RunOutcome) -> None:
    text = drawn(outcome_lines(outcome, UTC))
    assert text.startswith("PASS")
    places = [text.index(word) for word in ("no free database", "Evidence", "Missing", "Next steps", "run-1")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "Looked at: 2026-11-30 16:40–17:10 CST (08:40–09:10 UTC)"),
        ("zh", "查看的时段：2026-11-30 16:40–17:10 CST (08:40–09:10 UTC)"),
    ],
)
def test_the_window_that_was_looked_at_is_stated_in_local_time_and_utc(
    outcome: RunOutcome, language: str, line: str
) -> None:
    window = {"window_from": "2026-11-30T08:40:00Z", "window_to": "2026-11-30T09:10:00Z"}
    trace = outcome.orchestration_trace.model_copy(update=window)
    looked = outcome.model_copy(update={"orchestration_trace": trace, "language": language})
    rows = drawn(outcome_lines(looked, ZoneInfo("Asia/Shanghai"))).splitlines()
    assert line in rows
    assert rows.index(line) < next(at for at, row in enumerate(rows) if "query_logs" in row)
    assert "Looked at" not in drawn(outcome_lines(outcome, UTC)), "a run without a window states none"


def test_each_quote_stands_verbatim_with_tool_source_time_and_span(outcome: RunOutcome) -> None:
    text = drawn(outcome_lines(outcome, UTC))
    quote = outcome.claims[0].evidence[0]
    assert f"│ {quote.span_text}" in text
    where = next(row for row in text.splitlines() if "query_logs" in row)
    for part in ("order-service", "2026-11-30 08:40–09:10 UTC", "call 3", f"$.logs[0][{quote.span_start}:{quote.span_end}]"):
        assert part in where


def test_a_pipe_gets_whole_lines_without_colour(outcome: RunOutcome) -> None:
    text = drawn(outcome_lines(outcome, UTC), width=20)
    assert "\x1b" not in text
    assert outcome.claims[0].evidence[0].span_text in text


def test_a_narrow_terminal_wraps_under_a_hanging_indent() -> None:
    rows = drawn([Line("one two three four five six seven", lead="  • ")], width=24, terminal=True).splitlines()
    assert len(rows) == 2
    assert rows[1].startswith("    ")
    assert max(len(row) for row in rows) <= 24


def test_a_chinese_answer_has_chinese_words(outcome: RunOutcome) -> None:
    text = drawn(outcome_lines(outcome.model_copy(update={"language": "zh"}), UTC))
    for word in ("已证实", "证据", "证据缺口", "下一步"):
        assert word in text


def test_a_log_line_cannot_draw_on_the_terminal() -> None:
    assert printable("a\x1b[2Jb\u202ec\r") == "a\\x1b[2Jb\\u202ec\\r"
    assert printable("多行\n\t文本 👩\u200d💻") == "多行\n\t文本 👩\u200d💻"


def test_progress_names_nodes_calls_and_failures() -> None:
    file = io.StringIO()
    tell = progress_on(Console(file=file, width=200, markup=False, highlight=False))
    tell(RunEvent("r", "node_started", "EXECUTOR"))
    tell(RunEvent("r", "tool_started", "query_logs", 'level="ERROR"'))
    tell(RunEvent("r", "tool_finished", "query_logs", "no such service", ok=False))
    tell(RunEvent("r", "node_finished", "EXECUTOR"))
    rows = file.getvalue().splitlines()
    assert rows == ["▸ EXECUTOR", '  → query_logs level="ERROR"', "  ← query_logs failed: no such service"]


def test_a_long_quote_is_cut_on_a_terminal_and_says_how_much() -> None:
    line = Line("word " * 40, lead="│ ", hang="│ ", max_chars=10)
    rows = drawn([line], width=42, terminal=True).splitlines()
    assert len(rows) == 3
    assert all(row.startswith("│ ") for row in rows)
    assert "… 120 more characters" in rows[-1]
    assert drawn([line]).count("word") == 40


@pytest.mark.parametrize(
    ("start", "end", "zone", "text"),
    [
        ("2026-11-30T08:10:00Z", "2026-11-30T09:10:00Z", "UTC", "2026-11-30 08:10–09:10 UTC"),
        (
            "2026-11-30T08:10:00Z",
            "2026-11-30T09:10:00Z",
            "Asia/Shanghai",
            "2026-11-30 16:10–17:10 CST (08:10–09:10 UTC)",
        ),
        (
            "2026-11-30T08:10:00Z",
            "2026-11-30T17:10:00Z",
            "Asia/Shanghai",
            "2026-11-30 16:10–2026-12-01 01:10 CST (2026-11-30 08:10–17:10 UTC)",
        ),
        ("2026-11-30T08:10:00Z", "", "UTC", "2026-11-30 08:10 UTC"),
        ("noon", "2026", "UTC", "noon – 2026"),
        ("", "", "UTC", ""),
    ],
)
def test_a_window_is_shown_in_local_time_and_utc(start: str, end: str, zone: str, text: str) -> None:
    assert window_text(start, end, ZoneInfo(zone)) == text
