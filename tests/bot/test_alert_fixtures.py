"""Every fixture holds in full: the shared ones beside the repository, and our own of the senders' other forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.contracts import Alert
from bot.alerts import Parsed, parse_alerts

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "alerts"
OWN = ROOT / "tests" / "data" / "alerts"
LEVELS = ("critical", "high", "warning", "info", None)
NOT_A_FIELD = ("is_alert", "note", "alerts", "update_of_ts", "links", "change")
IN_A_ROW = ("status", "severity", "severity_raw", "alert_name", "starts_at", "ends_at", "value")


def _paths() -> list[Any]:
    shared = [pytest.param(path, id=f"shared-{path.stem}") for path in sorted(SHARED.glob("*.json"))]
    missing = pytest.param(None, id="shared", marks=pytest.mark.skip(reason="shared/alerts is not beside the repository"))
    return [*(shared or [missing]), *(pytest.param(path, id=path.stem) for path in sorted(OWN.glob("*.json")))]


@pytest.mark.parametrize("path", _paths())
def test_a_fixture_holds_in_full(path: Path) -> None:
    fixture = json.loads(path.read_text(encoding="utf-8"))
    parsed, expected = parse_alerts(fixture["event"]), fixture["expect"]
    assert parsed.update_of_ts == expected.get("update_of_ts")
    if not expected["is_alert"]:
        assert (parsed.alerts, parsed.count, parsed.status) == ((), 0, None)
        assert parsed.ignored_reason
        assert (parsed.change is not None) == bool(expected.get("change"))
        return
    assert parsed.ignored_reason is None
    assert {alert.sender for alert in parsed.alerts} == {fixture["sender"]}
    stated = {name: value for name, value in expected.items() if name not in NOT_A_FIELD}
    assert {name: value for name, value in _of_all(parsed).items() if name in stated} == stated
    assert _links(parsed) >= set(expected["links"])
    if "alerts" in expected:
        listed = [_in_a_row(alert, row) for alert, row in zip(parsed.alerts, expected["alerts"], strict=True)]
        assert listed == expected["alerts"]


def _of_all(parsed: Parsed) -> dict[str, Any]:
    """The post as a whole: the highest level, and the labels that all its alerts share."""
    first = parsed.alerts[0]
    highest = min(parsed.alerts, key=lambda alert: LEVELS.index(alert.severity))
    shared = set.intersection(*(set(alert.labels.items()) for alert in parsed.alerts))
    return {
        "status": parsed.status,
        "count": parsed.count,
        "alert_name": first.alert_name,
        "severity": highest.severity,
        "severity_raw": highest.severity_raw,
        "labels": dict(shared),
        "starts_at": first.starts_at,
        "ends_at": first.ends_at,
        "value": first.value,
    }


def _links(parsed: Parsed) -> set[str]:
    return {url for alert in parsed.alerts for url in alert.links.values()}


def _in_a_row(alert: Alert, row: dict[str, Any]) -> dict[str, Any]:
    own = {name: getattr(alert, name) for name in IN_A_ROW if name in row and name != "severity"}
    return alert.labels | own | ({"severity": alert.severity} if "severity" in row else {})
