"""A report on an alert as the terminal shows it."""

import json
from zoneinfo import ZoneInfo

import pytest
from small_alert import alert_looks, alert_plan, alert_request, good_triage
from small_incident import CAUSE, CHANGE, HERRING_LINE, claim, scripted, world

from bot.jobs import ask
from bot.terminal.outcome import outcome_json, outcome_lines
from storage.engine import Database


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        ("en", ["Alertmanager reports: CheckoutSlow is firing", "Probable cause: order-service", "Blast radius", "  • affected: order-service [1]", "  • checked and healthy: recommendation-service [3]", "  • not checked: payment-service"]),
        ("zh", ["Alertmanager 报告：CheckoutSlow 正在告警", "可能原因：order-service", "影响范围", "  • 受影响: order-service [1]", "  • 已检查且正常: recommendation-service [3]", "  • 未检查: payment-service"]),
    ],
)  # fmt: skip
async def test_a_report_shows_headline_cause_and_reach_in_order(sqlite_database: Database, language: str, parts: list[str]) -> None:
    calm = claim(3, "healthy", f'the log says "{HERRING_LINE}"', ("E4", HERRING_LINE))
    _, looks, draft = good_triage()
    assert isinstance(draft.reply, dict)
    healthy = {"entity": "recommendation-service", "group": "healthy", "claim_ids": ["c3"]}
    reply = draft.reply | {
        "claims": [CAUSE, CHANGE, calm],
        "blast_radius": [*draft.reply["blast_radius"], healthy],
        "not_checked": ["payment-service"],
    }
    turns = [
        alert_plan(),
        looks,
        alert_looks(("query_logs", "recommendation-service"), ("query_logs", "payment-service")),
        draft.model_copy(update={"reply": reply}),
    ]
    outcome = await ask(alert_request(language=language), world(sqlite_database, scripted(*turns)).place)
    shown = [f"{line.lead}{line.text}" for line in outcome_lines(outcome, ZoneInfo("UTC"))]
    places = [next((at for at, line in enumerate(shown) if line.startswith(part)), None) for part in parts]
    assert None not in places, shown
    assert places == sorted(places, key=lambda at: at or 0)


async def test_the_json_of_a_triage_holds_the_whole_report(sqlite_database: Database) -> None:
    outcome = await ask(alert_request(), world(sqlite_database, scripted(*good_triage())).place)
    told = json.loads(json.dumps(outcome_json(outcome)))
    assert told["report"]["evaluation"]["verdict"] == told["verdict"] == "PASS"
    assert told["report"]["alerts"][0]["alert_name"] == "CheckoutSlow"
