"""A question whose process was killed is taken up again from the terminal."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.state import RunRequest
from bot.app import open_app, prepare
from bot.cli import run
from bot.jobs import submit
from bot.settings import load_settings

LOG = "".join(f"2026-11-30T09:0{minute}:00Z ERROR ORD-5031 no connection from the pool\n" for minute in range(5))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "order-service.log").write_text(LOG, encoding="utf-8")
    monkeypatch.setenv("PROOFTHREAD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PROOFTHREAD_LOGS_ROOTS", str(tmp_path / "order-service.log"))
    monkeypatch.setenv("TZ", "UTC")
    return tmp_path


async def abandoned(lease_seconds: float) -> str:
    """A run that somebody has begun and left."""
    async with open_app(load_settings()) as app:
        await prepare(app)
        now = datetime(2026, 11, 30, 9, 10, tzinfo=UTC)
        request = RunRequest(session_id="s", question="Why is order-service failing?", language="en", zone="UTC", now=now)
        run_id = await submit(request, app.work)
        assert await app.database.call(app.store.claim, run_id, "a process that is gone", lease_seconds)
        return run_id


def test_a_run_whose_process_is_gone_is_finished(capsys: pytest.CaptureFixture[str]) -> None:
    run_id = asyncio.run(abandoned(lease_seconds=0))
    assert run(["trace", run_id]) == 0
    assert f"proofthread ask --resume {run_id}" in capsys.readouterr().out
    assert run(["ask", "--resume", run_id, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["run_id"], "ORD-5031" in answer["answer"]) == (run_id, True)
    assert run(["trace", run_id]) == 0
    assert "--resume" not in capsys.readouterr().out


def test_a_run_that_has_ended_is_not_taken_up(capsys: pytest.CaptureFixture[str]) -> None:
    run_id = asyncio.run(abandoned(lease_seconds=0))
    run(["ask", "--resume", run_id])
    capsys.readouterr()
    assert run(["ask", "--resume", run_id]) == 2
    assert f"has ended (SUCCESS): proofthread trace {run_id}" in capsys.readouterr().err


def test_a_run_that_somebody_works_on_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    run_id = asyncio.run(abandoned(lease_seconds=600))
    assert run(["trace", run_id]) == 0
    assert "A process works on it" in capsys.readouterr().out
    assert run(["ask", "--resume", run_id]) == 2
    assert "is being worked on" in capsys.readouterr().err


def test_a_resumed_run_keeps_its_own_question() -> None:
    assert run(["ask", "another question", "--resume", "0123"]) == 2
