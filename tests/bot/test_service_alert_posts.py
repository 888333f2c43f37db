"""What the fixtures of the services (`tests/data/alerts/2*.json`, held in full by test_alert_fixtures) cannot say alone."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from bot.alerts import parse_alerts

DATA = Path(__file__).parents[1] / "data" / "alerts"
OURS = sorted(DATA.glob("2*.json"))


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


def _sentry_issue(*lines: str) -> dict[str, object]:
    link = "<https://acme.sentry.example/organizations/acme/issues/7/|*DNSError*>"
    sections = [{"type": "section", "text": {"type": "mrkdwn", "text": text}} for text in (link, *lines)]
    return {"type": "message", "text": "", "ts": "1796100001.000100", "bot_id": "B1", "bot_profile": {"name": "Sentry"}, "blocks": sections}


def test_an_exception_that_speaks_of_resolving_does_not_close_its_issue() -> None:
    assert parse_alerts(_sentry_issue("```issue: name could not be resolved```")).status == "firing"
    assert parse_alerts(_sentry_issue("*Issue resolved by <@U0HUMAN1>*")).status == "resolved"


@pytest.mark.parametrize("piece", ["A-", "\n\n", "\t", "** [", "`{", "<https://a|b> ", "a: b, "])
@pytest.mark.parametrize("path", OURS[::5], ids=lambda path: path.stem)
def test_a_text_of_100_kb_of_any_piece_is_read_in_time(path: Path, piece: str) -> None:
    """A generous bound: what grows with the square of the length would take seconds."""
    event = json.loads(path.read_text(encoding="utf-8"))["event"]
    long = piece * (100_000 // len(piece))
    message = event.get("message", event)
    message["text"] = f"{message.get('text', '')} {long}"
    for part in message.get("attachments", []):
        part["text"] = f"{part.get('text', '')} {long}"
    start = time.process_time()
    parse_alerts(event)
    assert time.process_time() - start < 1.0
