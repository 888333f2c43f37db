"""`proofthread alert parse`: events in, one line each out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli import run

FIRING = {"type": "message", "subtype": "bot_message", "text": "CRITICAL: disk full on db-01", "username": "monitor", "bot_id": "B1", "ts": "1.1"}
CHATTER = {"type": "message", "user": "U1", "text": "looks fine", "ts": "1.2", "client_msg_id": "c"}
KEYS = ["alerts", "count", "status", "update_of_ts", "ignored_reason"]


def _run(path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]], str]:
    path.write_text(text, encoding="utf-8")
    code = run(["alert", "parse", str(path)])
    out, error = capsys.readouterr()
    return code, [json.loads(line) for line in out.splitlines()], error


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(FIRING),
        json.dumps(FIRING, indent=2),
        json.dumps({"type": "event_callback", "event": FIRING}),
        json.dumps({"payload": {"event": FIRING}}),
        json.dumps({"sender": "x", "event": FIRING, "expect": {}}, indent=1),
        json.dumps([FIRING]),
    ],
    ids=["event", "pretty", "envelope", "socket", "fixture", "list"],
)
def test_an_event_is_read_in_any_wrapping(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, error = _run(tmp_path / "e.json", text, capsys)
    assert (code, error, [list(line) for line in lines]) == (0, "", [KEYS])
    assert lines[0]["alerts"][0]["alert_name"] == "disk full on db-01"


def test_json_lines_give_a_line_each_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = _run(tmp_path / "e.jsonl", f"{json.dumps(FIRING)}\n\n{json.dumps(CHATTER)}\n", capsys)
    assert code == 0
    assert [(line["count"], line["status"]) for line in lines] == [(1, "firing"), (0, None)]
    assert "person" in lines[1]["ignored_reason"]


def test_pretty_objects_one_after_the_other_are_all_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pretty = json.dumps(FIRING, indent=1)
    code, lines, _ = _run(tmp_path / "e.json", pretty + pretty + "\n" + pretty, capsys)
    assert (code, len(lines)) == (0, 3)


def test_bad_lines_are_named_and_the_others_still_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join([json.dumps(FIRING), '{"type": "mess', "nonsense", "3", json.dumps(FIRING)])
    code, lines, error = _run(tmp_path / "e.jsonl", text, capsys)
    assert (code, len(lines)) == (2, 2)
    told = " ".join(error.split())
    assert all(f":{line}:" in told.replace("e.jsonl ", "e.jsonl") for line in (2, 3, 4))
    assert ":5:" not in told
    assert "Traceback" not in error
    assert error.count("It reads Slack message events") == 1


def test_a_broken_pretty_object_is_one_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = json.dumps(FIRING, indent=1).replace('"username":', '"username"', 1)
    code, lines, error = _run(tmp_path / "e.json", f"{broken}\n{json.dumps(CHATTER)}", capsys)
    assert (code, len(lines), error.count("not JSON")) == (2, 1, 1)


def test_an_empty_file_says_what_belongs_into_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, error = _run(tmp_path / "e.json", " \n", capsys)
    assert (code, lines) == (2, [])
    assert "empty" in error


def test_nesting_without_end_is_a_fault_and_no_crash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, error = _run(tmp_path / "e.json", "[" * 100_000, capsys)
    assert (code, lines) == (2, [])
    assert "not JSON" in error
