"""An alert's run as a scenario: frozen, replayed, graded like a question's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_alert import ALERT, alert_request, good_triage
from small_incident import scripted, world

from agents.llm.offline import OfflineModel
from bot.cli import run
from bot.evaluate import run_scenario
from bot.evaluation.frozen import freeze, live_recording, recorded
from bot.evaluation.replay import differences, write_scenario
from bot.jobs import ask
from bot.settings import Loaded, load_settings
from storage.engine import Database

SHARED = Path(__file__).parents[3] / "shared" / "scenarios"


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loaded:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROOFTHREAD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PROOFTHREAD_MODEL", "offline")
    monkeypatch.setenv("TZ", "UTC")
    return load_settings()


async def test_a_frozen_triage_keeps_its_alerts_and_its_quotes(sqlite_database: Database, tmp_path: Path) -> None:
    outcome = await ask(alert_request(), world(sqlite_database, scripted(*good_triage())).place)
    freeze(sqlite_database, outcome.run_id)
    before = recorded(sqlite_database, outcome.run_id)
    scenario = write_scenario(before, tmp_path / "kept")
    asked = scenario.file.input
    assert (asked.kind, asked.mode, asked.alerts) == ("alert", "PAYLOAD_TARGETED", (ALERT,))
    assert asked.text == outcome.question
    assert "order-service config maximum-pool-size changed from 30 to 5" in scenario.file.expect.must_quote


async def test_a_triage_without_a_model_replays_to_the_same_report(
    sqlite_database: Database, tmp_path: Path, offline: Loaded
) -> None:
    first = await ask(alert_request(), world(sqlite_database, OfflineModel(), offline=OfflineModel()).place)
    scenario = write_scenario(live_recording(sqlite_database, first.run_id), tmp_path / "kept")
    # What the two replays of one recording differ in would be the program's own wavering.
    one = await run_scenario(scenario, offline, tmp_path / "one")
    two = await run_scenario(scenario, offline, tmp_path / "two")
    assert one.outcome.report == two.outcome.report
    before = live_recording(sqlite_database, first.run_id)
    found = differences(before, one.outcome, one.invocations)
    assert (found.verdict, found.quotes_lost, found.quotes_new) == (None, (), ())


def write(folder: Path, **asked: Any) -> Path:
    folder.mkdir(parents=True)
    event = "Last State: Terminated, Reason: OOMKilled, Exit Code: 137"
    call = {"args": {"kind": "pod", "name": "pay-1", "namespace": "shop"}, "status": "success", "output": event}
    document = {
        "id": folder.name,
        "input": {"kind": "alert", **asked},
        "world": {"tools": [{"name": "kubectl_describe", "description": "describe a resource", "calls": [call]}]},
        "expect": {"must_mention": [["OOMKilled"], ["PodCrashes"]]},
    }
    (folder / "scenario.json").write_text(json.dumps(document))
    return folder


PAYLOAD = {
    "version": "4",
    "status": "firing",
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "PodCrashes", "pod": "pay-1", "namespace": "shop"},
            "annotations": {"description": "Pod pay-1 in namespace shop crashes"},
            "startsAt": "2026-11-30T08:43:12.5Z",
            "endsAt": "0001-01-01T00:00:00Z",
        }
    ],
}
EVENT = {
    "type": "message",
    "subtype": "bot_message",
    "bot_id": "B1",
    "username": "AlertManager",
    "ts": "1796001776.0001",
    "channel": "C1",
    "text": "",
    "attachments": [
        {"title": "[FIRING:1] PodCrashes (warning)", "text": "*Alert:* PodCrashes\n*pod:* pay-1\n*namespace:* shop", "color": "a30200"}
    ],
}


@pytest.mark.parametrize("asked", [{"payload": PAYLOAD}, {"event": EVENT}])
def test_eval_runs_an_alert_from_a_webhook_or_a_slack_post(
    asked: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path, offline: Loaded
) -> None:
    write(tmp_path / "all" / "crash", **asked)
    assert run(["eval", str(tmp_path / "all"), "--model", "offline", "--json"]) == 0
    graded, summary = map(json.loads, capsys.readouterr().out.splitlines())
    assert graded["missed"] == []
    assert summary["skipped"] == []


def test_an_alert_scenario_without_an_alert_is_skipped_with_its_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, offline: Loaded
) -> None:
    write(tmp_path / "all" / "chatter", event={"type": "message", "user": "U1", "text": "good morning", "ts": "1.0", "channel": "C1"})
    run(["eval", str(tmp_path / "all"), "--model", "offline", "--json"])
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [one["id"] for one in summary["skipped"]] == ["chatter"]
    assert "no alert" in summary["skipped"][0]["reason"]
