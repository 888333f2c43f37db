"""Scenarios through the whole pipeline by the command that people use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli import run

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "scenarios"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROOFTHREAD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TZ", "UTC")
    return tmp_path


def write(folder: Path, text: str, **change: Any) -> None:
    folder.mkdir(parents=True)
    event = "Last State: Terminated, Reason: OOMKilled, Exit Code: 137"
    call = {"args": {"kind": "pod", "name": "pay-1", "namespace": "shop"}, "status": "success", "output": event}
    document = {
        "id": folder.name,
        "language": "en",
        "now": "2026-11-30T09:10:00Z",
        "input": {"kind": "question", "text": text, "history": []},
        "world": {"tools": [{"name": "kubectl_describe", "description": "describe a resource", "calls": [call]}]},
        "expect": {"must_mention": [["OOMKilled"], ["no such word"]], "must_quote": ["OOMKilled"]},
    }
    (folder / "scenario.json").write_text(json.dumps(document | change))


def test_eval_grades_each_scenario_and_ends_with_a_summary(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    write(home / "all" / "good", "Why does pod pay-1 in namespace shop crash?")
    write(home / "all" / "later", "", input={"kind": "alert", "payload": {}})
    write(home / "all" / "broken", "why?", expect={"must_mentoin": []})
    assert run(["eval", str(home / "all"), "--model", "offline", "--json"]) == 0
    graded, summary = map(json.loads, capsys.readouterr().out.splitlines())
    assert set(graded) == {
        "id", "verdict", "met", "missed", "false_mentions", "verified_quotes", "invocations", "degraded", "duration_ms",
        "tokens",
    }  # fmt: skip
    assert "must_quote: OOMKilled" in graded["met"]
    assert "must_mention: no such word" in graded["missed"]
    assert graded["verified_quotes"] >= 1
    assert summary["scenarios"] == 1
    assert [one["id"] for one in summary["skipped"]] == ["later"]
    assert [(one["id"], "must_mentoin" in one["reason"]) for one in summary["broken"]] == [("broken", True)]
    assert not (home / "data").exists()


def test_eval_of_nothing_readable_has_code_2(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    write(home / "broken", "why?", input={"kind": "riddle"})
    assert run(["eval", str(home)]) == 2
    assert "input.kind" in capsys.readouterr().out


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"the recorded scenarios are not at {SHARED}")
def test_the_recorded_scenarios_run_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", str(SHARED), "--model", "offline", "--json"]) == 0
    *graded, summary = map(json.loads, capsys.readouterr().out.splitlines())
    assert len(graded) == 34
    assert (summary["broken"], summary["skipped"]) == ([], [])
    assert sum(one["verified_quotes"] > 0 and not one["degraded"] for one in graded) >= 28
    assert summary["verdict_share"] == 1.0
    assert summary["false_mentions"] == 0
