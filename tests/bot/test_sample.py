"""The first thing a new user sees: the sample incident, proven offline, in the language that was asked."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bot.cli import run
from bot.evaluate import run_scenario
from bot.evaluation.grading import grade
from bot.evaluation.samples import sample
from bot.settings import load_settings

ROOT = Path(__file__).parents[2]
FIELDS = {
    "run_id", "verdict", "answer", "claims", "hypotheses", "recommended_actions", "missing_info", "gatekeeper_result",
    "verifier_output", "orchestration_trace", "usage", "duration_ms",
}  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROOFTHREAD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TZ", "UTC")
    return tmp_path


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run(["ask", "--sample", "--json", *arguments]) == 0
    out, err = capsys.readouterr()
    assert "query_logs" in err
    assert out.count("\n") == 1
    return json.loads(out)


def test_the_sample_is_proven_offline_and_can_be_traced_and_replayed(
    capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    answer = asked(capsys)
    assert set(answer) >= FIELDS
    assert answer["verdict"] == "PASS"
    assert answer["usage"]["model"] == "offline"
    causes = [claim for claim in answer["claims"] if claim["claim"]["claim_type"] == "root_cause"]
    assert any("order-service" in claim["claim"]["claim_text"] for claim in causes)
    assert not any("recommendation" in claim["claim"]["claim_text"] for claim in causes)
    tools = {evidence["tool_name"] for claim in answer["claims"] for evidence in claim["evidence"]}
    assert len(answer["claims"]) >= 3
    assert len(tools) >= 2

    assert run(["trace", answer["run_id"], "--json"]) == 0
    trace = json.loads(capsys.readouterr().out)
    assert trace["run"]["verdict"] == "PASS"
    assert {invocation["tool_name"] for invocation in trace["invocations"]} >= tools
    assert run(["trace", answer["run_id"]]) == 0
    assert "query_logs(" in capsys.readouterr().out

    assert run(["replay", answer["run_id"], "--save", str(home / "kept"), "--json"]) == 0
    replayed = json.loads(capsys.readouterr().out)
    assert replayed["differences"]["verdict"] is None
    assert replayed["differences"]["quotes_lost"] == []
    assert run(["eval", str(home / "kept"), "--json"]) == 0
    graded, summary = map(json.loads, capsys.readouterr().out.splitlines())
    assert graded["missed"] == []
    assert summary["scenarios"] == 1


def test_asked_in_chinese_it_answers_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    answer = asked(capsys, "结账为什么变慢？")
    assert answer["verdict"] == "PASS"
    assert re.search("[\u4e00-\u9fff]", answer["answer"])
    assert "order-service" in answer["answer"]


def test_the_operators_own_sources_stay_out_of_the_sample(
    capsys: pytest.CaptureFixture[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "own.log").write_text("2026-11-30T09:00:00Z ERROR own-service OWN-1 failed\n")
    monkeypatch.setenv("PROOFTHREAD_LOGS_ROOTS", str(home / "own.log"))
    monkeypatch.setenv("PROOFTHREAD_PROMETHEUS_URL", "http://127.0.0.1:1")
    assert "own-service" not in json.dumps(asked(capsys))
    assert sorted(path.name for path in home.iterdir()) == ["data", "own.log"]


async def test_the_sample_meets_all_that_its_own_scenario_expects(tmp_path: Path) -> None:
    scenario = sample()
    finished = await run_scenario(scenario, load_settings({"HOME": str(tmp_path)}, tmp_path), tmp_path)
    result = grade(scenario, finished.outcome, [one.tool_name for one in finished.invocations])
    assert (result.missed, result.false_mentions) == ((), ())
    assert not result.degraded


def test_the_readmes_first_command_works_as_it_is_written(home: Path) -> None:
    command = re.search(r"uv run (proofthread ask .*)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert command is not None
    arguments = [sys.executable, "-m", "bot", *shlex.split(command[1])[1:]]
    done = subprocess.run(arguments, cwd=ROOT, env=environment(home), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PASS")
    assert "\x1b" not in done.stdout


@pytest.fixture
def hanging_model() -> Iterator[tuple[str, threading.Event]]:
    """An endpoint that takes a question and never answers; the event tells that it was asked."""
    reached, released = threading.Event(), threading.Event()

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            reached.set()
            released.wait(60)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", reached
    released.set()
    server.shutdown()
    server.server_close()
    thread.join()


def test_ctrl_c_stops_the_run_and_still_answers(home: Path, hanging_model: tuple[str, threading.Event]) -> None:
    url, reached = hanging_model
    variables = {"PROOFTHREAD_MODEL": "slow", "PROOFTHREAD_BASE_URL": url, "PROOFTHREAD_API_KEY": "none"}
    child = subprocess.Popen(
        [sys.executable, "-m", "bot", "ask", "--sample", "--json"],
        cwd=ROOT,
        env=environment(home) | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert reached.wait(60)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 1
    answer = json.loads(out)
    assert answer["status"] == "CANCELLED"
    assert answer["answer"]
    assert "Traceback" not in err
    assert "Stopping" in err


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROOFTHREAD_")}
    return kept | {"PROOFTHREAD_DATA_DIR": str(home / "data"), "TZ": "UTC"}
