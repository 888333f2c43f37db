"""The README's first command: a Slack on this machine, a question in it, and an answer without a model."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

import pytest
from pydantic import SecretStr
from whole_bot import loaded_for

from bot.cli import run
from bot.emulator.slack import SlackEmulator
from bot.settings import Settings
from bot.slack_demo import demo_settings, open_demo, show_once


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROOFTHREAD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TZ", "UTC")
    return tmp_path


def test_once_prints_the_proven_threads_and_ends_well(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    assert run(["demo", "--once"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("#incidents\n\nAna Ruiz: @proofthread Why is checkout slow?\n\nProofthread: ✅ Proven")
    assert "no model used" in out
    assert "maximum-pool-size 30 -> 8" in out
    alerted = out.split("\n#alerts\n\n")[1]
    assert alerted.startswith("Alertmanager: [FIRING:1] CheckoutLatencyHigh (checkout-service critical)")
    assert "Proofthread: ✅ Cause proven" in alerted
    assert "[file CheckoutLatencyHigh" in alerted, "the chart"
    assert "Resolved: CheckoutLatencyHigh (checkout-service)\nIt lasted " in alerted
    assert not (home / "data" / "proofthread.db").exists(), "the demo is no run of the real bot"


def test_a_chinese_question_gets_a_chinese_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--once", "--question", "结账为什么变慢？"]) == 0
    assert "已证实" in capsys.readouterr().out


def test_a_blank_question_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--once", "--question", "  "]) == 2
    assert "Nothing is asked" in capsys.readouterr().err


def test_a_greeting_is_answered_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--once", "--question", "hello"]) == 0
    assert "Proofthread:" in capsys.readouterr().out


def test_a_stray_key_spends_no_money(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[str] = []

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_error(500)

        do_GET = do_POST

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        monkeypatch.setenv("PROOFTHREAD_MODEL", "gpt-x")
        monkeypatch.setenv("PROOFTHREAD_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.setenv("PROOFTHREAD_API_KEY", "sk-real")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
        monkeypatch.setenv("PROOFTHREAD_SLACK_BOT_TOKEN", "xoxb-real")
        assert run(["demo", "--once"]) == 0
    finally:
        server.shutdown()
        server.server_close()
    assert asked == []
    assert "no model used" in capsys.readouterr().out


def test_with_a_model_its_endpoint_comes_along_and_nothing_of_the_real_slack_does() -> None:
    slack = SlackEmulator()
    mine = Settings(
        data_dir=Path("mine"),
        base_url="http://vllm:8000/v1",
        api_key=SecretStr("sk-real"),
        slack_bot_token=SecretStr("xoxb-real"),
        slack_channels=("C0123456789",),
        database_url=SecretStr("mysql+pymysql://db/real"),
    )
    with slack:
        without = demo_settings(mine, slack, Path("demo"), None)
        model = demo_settings(mine, slack, Path("demo"), "qwen3")
    assert (without.model, without.base_url, without.api_key) == ("offline", "", None)
    assert (model.model, model.base_url, model.api_key) == ("qwen3", "http://vllm:8000/v1", SecretStr("sk-real"))
    for one in (without, model):
        assert one.alert_channels == ("C0ALERTS01",)
        assert (one.data_dir, one.slack_channels, one.database_url) == (Path("demo"), (), SecretStr(""))
        assert one.slack_bot_token == SecretStr(slack.bot_token)


def test_ctrl_c_ends_it_cleanly(home: Path) -> None:
    command = [sys.executable, "-m", "bot", "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=home) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        address = first.split("open ")[1].strip()
        with urlopen(address, timeout=10) as page:
            assert "<html" in page.read().decode().lower()
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, err) == (0, "")
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", int(address.rsplit(":", 1)[1].strip("/"))), 1):
        pass


async def test_in_the_demo_people_vote_look_into_the_evidence_and_go_on(tmp_path: Path) -> None:
    slack_of_nobody = SlackEmulator()
    with slack_of_nobody:
        loaded = loaded_for(slack_of_nobody, tmp_path)
        async with open_demo(loaded) as demo:
            slack = demo.slack
            ts = demo.ask("Why is checkout slow?")
            assert await demo.answered(ts)
            answer = slack.messages("incidents", ts)[-1]
            slack.click("incidents", answer["ts"], "evidence", "ana")
            await slack.wait_for(lambda: "ORD-5031" in str(slack.views("ana")))
            slack.react("incidents", answer["ts"], "ben", "+1")
            await slack.wait_for(lambda: demo.bot.desk.cases.list("active"))
            slack.open_home("ben")
            await slack.wait_for(lambda: slack.home("ben"))
            assert slack.refused == []
    assert slack_of_nobody.calls() == []


async def test_no_answer_in_time_is_told(tmp_path: Path) -> None:
    with SlackEmulator() as slack:
        assert await show_once(loaded_for(slack, tmp_path), None, "Why is checkout slow?", seconds=0.0) is None
