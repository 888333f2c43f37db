"""`proofthread triage`: what it reads, what it refuses and why, and what it prints."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.cli import run
from bot.incidents.input import read_alerts

EVENT: dict[str, Any] = {
    "type": "message",
    "subtype": "bot_message",
    "bot_id": "B0AMGR0001",
    "username": "AlertManager",
    "channel": "C0ALERTS01",
    "ts": "1796000037.000259",
    "text": "",
    "attachments": [{"title": "[FIRING:1] HighErrorRate (checkout shop critical)", "color": "a30200"}],
}
WEBHOOK = {
    "version": "4",
    "status": "firing",
    "receiver": "hook",
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "HighErrorRate", "service": "checkout", "severity": "critical"},
            "annotations": {"summary": "5xx over 5 %"},
            "startsAt": "2026-11-30T09:00:00Z",
        }
    ],
}
GRAFANA = WEBHOOK | {"orgId": 1, "title": "[FIRING:1] HighErrorRate", "state": "alerting"}


class Terminal:
    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch
        self.out = self.err = ""

    def __call__(self, text: str, *options: str) -> int:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        code = run(("triage", "-", *options))
        self.out, self.err = self._capsys.readouterr()
        assert "Traceback" not in self.out + self.err
        return code


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROOFTHREAD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TZ", "UTC")
    return Terminal(capsys, monkeypatch)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(EVENT),
        json.dumps({"type": "event_callback", "event": EVENT}, indent=2),
        json.dumps({"sender": "alertmanager", "event": EVENT, "expect": {}}),
        json.dumps(WEBHOOK, indent=1),
        json.dumps(GRAFANA),
        "\ufeff" + json.dumps(EVENT) + "\r\n",
        json.dumps(EVENT | {"attachments": [{"title": "[RESOLVED] HighErrorRate (checkout shop critical)"}]})
        + "\n"
        + json.dumps(EVENT),
    ],
    ids=["event", "envelope", "fixture", "alertmanager", "grafana", "bom", "resolved-then-firing"],
)
def test_an_alert_of_any_form_is_triaged(terminal: Terminal, text: str) -> None:
    assert terminal(text, "--json") in (0, 1)
    outcome = json.loads(terminal.out)
    assert outcome["report"]["alerts"][0]["alert_name"] == "HighErrorRate"
    assert outcome["report"]["mode"] == "PAYLOAD_TARGETED"
    assert outcome["question"].startswith("HighErrorRate · critical")


def test_the_report_is_printed_for_a_person(terminal: Terminal) -> None:
    assert terminal(json.dumps(WEBHOOK)) == 0
    assert "REJECT" in terminal.out
    assert "Missing" in terminal.out
    assert "No logs, metrics, orders or changes are configured" in terminal.err


def test_what_was_parsed_before_can_be_piped_in(terminal: Terminal) -> None:
    alert = {"sender": "zabbix", "alert_name": "Disk", "status": "firing", "fingerprint": "f", "severity": "high"}
    assert terminal(json.dumps({"alerts": [alert], "count": 1, "status": "firing"}), "--json") in (0, 1)
    assert json.loads(terminal.out)["report"]["alerts"][0]["sender"] == "zabbix"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ('{"type":', "line 1, column"),
        ("[]", "not a JSON object"),
        ("why is checkout slow?", "This is no JSON"),
        (json.dumps({"type": "message", "user": "U1", "text": "lunch?", "ts": "1.2", "channel": "C1"}), "This is no alert"),
        (json.dumps({"alerts": []}), "its list of alerts is empty"),
        (json.dumps({"alerts": [{"x": 1}]}), "nothing that Alertmanager or Grafana send"),
        (json.dumps({"alerts": [], "ignored_reason": "somebody joined"}), "somebody joined"),
        (json.dumps(EVENT | {"attachments": [{"title": "[RESOLVED] HighErrorRate (checkout)"}]}), "Nothing fires here"),
        (json.dumps(EVENT) + "\n" + json.dumps(EVENT).replace("FIRING:1", "RESOLVED"), "HighErrorRate resolved"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_alert_that_fires_is_refused_with_the_reason(terminal: Terminal, text: str, said: str) -> None:
    assert terminal(text, "--json") == 2
    assert said in json.loads(terminal.out)["error"]
    assert said in terminal.err


@pytest.mark.filterwarnings("error")
def test_a_wrong_zone_is_refused_before_anything_starts(terminal: Terminal) -> None:
    assert terminal(json.dumps(EVENT), "--zone", "Mars") == 2
    assert "Europe/Berlin" in terminal.err
    assert "never awaited" not in terminal.err


def test_a_file_that_is_not_there_is_named(terminal: Terminal) -> None:
    assert run(("triage", "nowhere.json")) == 2


@pytest.mark.parametrize("length", [1_000, 100_000, 300_000])
def test_a_long_text_hides_no_title(length: int) -> None:
    attachment = {"title": "[FIRING:1] HighErrorRate (checkout critical)", "color": "a30200", "text": "x " * (length // 2)}
    [alert] = read_alerts(json.dumps(EVENT | {"attachments": [attachment]}))
    assert (alert.alert_name, alert.severity) == ("HighErrorRate", "critical")
