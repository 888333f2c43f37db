"""Posts of the senders that are services, read as their fixtures state. `tests/data/alerts/2*.json` and five of the shared ones."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bot.alerts import Parsed, parse_alerts

DATA = Path(__file__).parents[1] / "data" / "alerts"
SHARED = Path(__file__).parents[2].parent / "shared" / "alerts"
OURS = sorted(DATA.glob("2*.json"))
THEIRS = [path for number in (30, 31, 37, 39, 42) for path in SHARED.glob(f"{number}_*.json")]


def _wrong(parsed: Parsed, expect: dict[str, Any]) -> list[str]:
    """What differs from the fixture's `expect`, in words."""
    if not expect["is_alert"]:
        return [f"read as {[alert.alert_name for alert in parsed.alerts]}"] if parsed.alerts else []
    if not parsed.alerts:
        return [f"not read: {parsed.ignored_reason}"]
    alert = parsed.alerts[0]
    links = {url for each in parsed.alerts for url in each.links.values()}
    compared = {
        "status": (parsed.status, expect["status"]),
        "count": (parsed.count, expect["count"]),
        "update_of_ts": (parsed.update_of_ts, expect.get("update_of_ts")),
        "alert_name": (alert.alert_name, expect["alert_name"]),
        "severity": (alert.severity, expect["severity"]),
        "severity_raw": ((alert.severity_raw or "").casefold(), (expect.get("severity_raw") or "").casefold()),
        "labels": (alert.labels, expect["labels"]),
        "starts_at": (_instant(alert.starts_at), _instant(expect["starts_at"])),
        "value": (alert.value, expect.get("value", alert.value)),
        "links": (set(expect["links"]) - links, set()),
    }
    return [f"{name}: {got!r}, not {want!r}" for name, (got, want) in compared.items() if got != want]


def _instant(text: str | None) -> datetime | None:
    """Fractions past microseconds do not count."""
    if text is None:
        return None
    return datetime.fromisoformat(text[:26] + "+00:00" if len(text) > 27 else text)


@pytest.mark.parametrize("path", [*OURS, *THEIRS], ids=lambda path: path.stem)
def test_a_service_s_post_is_read_as_its_fixture_states(path: Path) -> None:
    fixture = json.loads(path.read_text(encoding="utf-8"))
    parsed = parse_alerts(fixture["event"])
    assert _wrong(parsed, fixture["expect"]) == []
    assert {alert.sender for alert in parsed.alerts} <= {fixture["sender"]}


def test_every_sender_of_a_service_has_two_forms_at_least() -> None:
    senders = [json.loads(path.read_text(encoding="utf-8"))["sender"] for path in OURS]
    assert len(set(senders)) == 14
    assert min(senders.count(name) for name in senders) >= 2


@pytest.mark.parametrize(
    ("before", "after"),
    [("224_checkly_failed", "225_checkly_recovered"), ("217_new_relic_activated", "218_new_relic_closed"),
     ("242_azure_monitor_fired", "243_azure_monitor_resolved"), ("237_elastic_apm_active", "238_elastic_apm_recovered"),
     ("227_github_actions_failure_fields", "229_github_actions_success_after_failure"),
     ("248_statuspage_investigating", "250_statuspage_resolved"), ("215_sentry_issue_warning", "216_sentry_issue_resolved_by_edit")],
)  # fmt: skip
def test_what_resolves_has_the_fingerprint_of_what_fired(before: str, after: str) -> None:
    fired, over = (json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))["event"] for name in (before, after))
    assert parse_alerts(fired).alerts[0].fingerprint == parse_alerts(over).alerts[0].fingerprint
    assert parse_alerts(over).status == "resolved"


def test_a_deploy_that_went_well_is_a_change_and_no_alert() -> None:
    fields = [{"title": "Workflow", "value": "deploy-production"}, {"title": "Status", "value": "success"}]
    url = "<https://github.example/acme/orders/actions/runs/4|run>"
    event = {
        "type": "message", "subtype": "bot_message", "username": "GitHub Actions", "bot_id": "B1", "ts": "1796100001.000100",
        "attachments": [{"color": "good", "text": f"Deployed orders 5.12.1 {url}", "fields": fields}],
    }  # fmt: skip
    parsed = parse_alerts(event)
    assert (parsed.alerts, parsed.change is not None and parsed.change.service) == ((), "orders")


def test_a_workflow_whose_name_speaks_of_failure_and_that_passed_does_not_fire() -> None:
    fields = [{"title": "Workflow", "value": "failover-test"}, {"title": "Status", "value": "success"}]
    event = {
        "type": "message", "subtype": "bot_message", "username": "GitHub Actions", "bot_id": "B1", "ts": "1796100001.000100",
        "attachments": [{"color": "good", "text": "failover-test", "fields": fields}],
    }  # fmt: skip
    assert parse_alerts(event).status == "resolved"
