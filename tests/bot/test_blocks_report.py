"""What an incident's report says and where: read by somebody who was just woken."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agents.contracts import AiopsReport, BlastEntry, Hypothesis, RunOutcome
from agents.replies import Replies
from bot.answers.told_report import ToldReport
from bot.blocks.answer import AnswerView
from bot.blocks.outcome import answer_message
from bot.blocks.reader import Reader, slack_words
from bot.blocks.report import is_broadcast
from bot.blocks.report_samples import (
    sample_alert,
    sample_healthy,
    sample_rejected,
    sample_report,
    sample_resolved,
    sample_unproven,
)
from bot.blocks.resolved import Resolved, resolved_message
from bot.blocks.sample_run import sample_run
from bot.blocks.trace import trace_view
from bot.shapes.blocks import texts

WORDS = slack_words(Replies.load(Path(__file__).parents[2] / "prompts" / "replies"))
SHANGHAI = Reader(WORDS, "en", ZoneInfo("Asia/Shanghai"))
UTC_READER = Reader(WORDS, "en", ZoneInfo("UTC"))
RUNBOOK = "https://runbooks.example.org/checkout-latency"


def changed(outcome: RunOutcome, **changes: Any) -> RunOutcome:
    """The outcome with another report."""
    assert outcome.report is not None
    return outcome.model_copy(update={"report": outcome.report.model_copy(update=changes)})


def said(outcome: RunOutcome, reader: Reader = SHANGHAI, **view: Any) -> str:
    return "\n".join(texts(answer_message(outcome, AnswerView(reader, **view)).blocks))


def report_of(outcome: RunOutcome) -> AiopsReport:
    assert outcome.report is not None
    return outcome.report


# ---------------------------------------------------------------- first things


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (sample_report(), "✅ Cause proven"),
        (sample_healthy(), "✅ Proven healthy"),
        (sample_unproven(), "⚠️ Not fully proven"),
        (sample_rejected(), "⛔ Not proven"),
    ],
    ids=["cause", "healthy", "low_confid", "reject"],
)
def test_the_first_600_characters_hold_verdict_alert_cause_and_next_step(outcome: RunOutcome, verdict: str) -> None:
    first = said(outcome)[:600]
    assert first.startswith(verdict)
    assert report_of(outcome).headline.split(";")[0] in first
    assert ("Probable cause: " in first) != ("Healthy: " in first)
    assert "Next: " in first or not report_of(outcome).actions
    assert "Runbook: " in first


def test_the_head_names_the_cause_its_proof_the_next_step_and_the_runbook() -> None:
    lines = said(sample_report()).split("\n")
    head = "".join(lines[: lines.index("Blast radius:")])
    assert "Probable cause: order-service has no free connection in HikariPool-1" in head
    assert "to 5 [1]" in head
    assert "Next: Set maximum-pool-size of order-service back to 30." in head
    assert f"Runbook: {RUNBOOK}" in head


def test_who_has_neither_step_nor_runbook_is_told_what_to_do() -> None:
    bare = changed(sample_rejected(), alerts=(sample_alert(links={}),))
    assert "Next: \nLook into it by hand" in said(bare) or "Next: Look into it by hand" in said(bare)
    assert "Next: " not in said(sample_rejected()), "the runbook is the next step"


def test_without_a_proven_cause_the_best_finding_stands_in_its_place() -> None:
    first = said(sample_unproven())[:600]
    assert "Probable cause: none is proven." in first.replace("\n", "")
    assert "http_request_duration_seconds p99 of checkout-service rose from 0.21 s to 4.8 s at 02:55 [2]" in first


def test_the_health_that_the_answer_leads_with_is_the_one_that_is_told() -> None:
    outcome = sample_healthy()
    other = outcome.claims[0]
    second = other.model_copy(
        update={"number": 2, "claim": other.claim.model_copy(update={"claim_id": "c9", "claim_text": "db answers"})}
    )
    led = outcome.sections.model_copy(update={"lead": "Checked and healthy: db answers [2]"})
    outcome = outcome.model_copy(update={"claims": (other, second), "sections": led})
    assert "Healthy: db answers [2]" in said(outcome).replace("Healthy: \n", "Healthy: ")


def test_the_start_is_told_in_the_readers_time_unless_the_headline_does() -> None:
    outcome = changed(sample_report(), headline="Alertmanager reports: CheckoutLatencyHigh is firing, since 02:57 UTC")
    assert "since 2026-11-30 10:57 CST (02:57 UTC)" in said(outcome)
    assert "since 2026-11-30" not in said(outcome, UTC_READER)
    local = changed(sample_report(), alerts=(sample_alert(starts_at="2026-11-30T10:57:00"),))
    assert "CST (02:57" not in said(local).split("Blast radius:")[0], "a time without a zone is nobody's local time"


def test_a_step_that_only_names_the_runbook_is_no_next_step() -> None:
    outcome = changed(sample_report(), actions=())
    sections = outcome.sections.model_copy(update={"next_steps": (f"Runbook named by the alert: {RUNBOOK}",)})
    outcome = outcome.model_copy(update={"sections": sections})
    assert ToldReport(outcome, report_of(outcome)).steps == ()
    assert said(outcome).count(RUNBOOK) == 1


@pytest.mark.parametrize(
    "url",
    [
        "https://good.example@evil.example/runbook",
        "javascript:alert(1)",
        "https://evil.example/\u202egnp.exe",
        "https://еxample.org/cyrillic",
        "https://a.example/<!channel>",
        "see the wiki",
    ],
)
def test_a_runbook_whose_address_hides_something_is_text(url: str) -> None:
    outcome = changed(sample_report(), alerts=(sample_alert(links={"runbook": url}),))
    blocks = answer_message(outcome, AnswerView(SHANGHAI)).blocks
    assert '"link"' not in str(blocks).replace("'", '"')


# ---------------------------------------------------------------- groups


def test_each_entity_stands_in_its_group_with_its_proof() -> None:
    text = said(sample_report()).replace("\n", "")
    assert "🔴 Affected: checkout-service [2], order-service [1][3]" in text
    assert "🟢 Checked and healthy: payment-service [4]" in text
    assert "🟡 Changed for another reason: search-service [5]" in text
    assert "⚪ Not checked: inventory-service" in text


def test_many_proofs_of_an_entity_are_counted() -> None:
    entry = BlastEntry(entity="order-service", claim_ids=("c5", "c4", "c3", "c2", "c1"))
    assert "order-service [1][2][3] +2" in said(changed(sample_report(), affected=(entry,)))


def test_an_empty_group_is_not_mentioned() -> None:
    outcome = changed(sample_report(), healthy=(), other_reason=(), not_checked=("", "  "))
    assert "healthy:" not in said(outcome)
    assert "Not checked" not in said(outcome)
    nothing = changed(sample_report(), affected=(), healthy=(), other_reason=(), not_checked=())
    assert "Blast radius" not in said(nothing)


def test_a_change_that_is_the_cause_is_told_once() -> None:
    outcome = changed(sample_report(), probable_cause=("c3",), changes=("c3",))
    assert "Changed just before" not in said(outcome)


def test_changes_stand_apart_from_the_other_statements() -> None:
    text = said(sample_report())
    before, after = text.split("Changed just before:")[1].split("Confirmed:")
    assert "order-service got maximum-pool-size=5 at 02:51 [3]" in before
    assert "maximum-pool-size=5" not in after


def test_a_report_of_changes_alone_does_not_say_that_nothing_is_confirmed() -> None:
    outcome = sample_unproven()
    outcome = changed(outcome.model_copy(update={"claims": (outcome.claims[1],)}), changes=("c3",), affected=())
    assert "Nothing has passed" not in said(outcome)
    assert said(outcome).count("order-service got maximum-pool-size=5") == 2, "as the finding, and as a statement"


def test_many_alerts_are_counted_by_name() -> None:
    text = said(sample_report()).replace("\n", "")
    assert "Alerts in this incident: 3" in text
    assert "OrderErrorsHigh · high · firing × 2" in text
    assert "Alerts in this incident" not in said(sample_healthy())


# ---------------------------------------------------------------- gaps and the rest


def test_gaps_of_an_unproven_report_have_buttons_that_count_the_answers_gaps_first() -> None:
    outcome = sample_unproven()
    sections = outcome.sections.model_copy(update={"gaps": ("first", "second")})
    told = ToldReport(outcome.model_copy(update={"sections": sections}), report_of(outcome))
    assert told.gaps == ("first", "second", "Logs of order-service before 02:51.")
    blocks = answer_message(told.outcome, AnswerView(SHANGHAI)).blocks
    values = [one["value"] for block in blocks if block["type"] == "actions" for one in block["elements"]]
    assert values[:6] == ["run-1:0"] * 3 + ["run-1:1"] * 3
    assert "run-1:2" not in values, "two rows of buttons are enough on a phone"


def test_what_the_message_lacks_is_named_among_the_gaps() -> None:
    assert "No chart of the metric" in said(sample_report(), missing=("No chart of the metric: it took too long.",))
    assert "No chart" not in said(sample_report())


def test_an_unproven_lead_is_told_unless_a_step_speaks_of_it() -> None:
    leads = (Hypothesis(hypothesis_text="A batch job holds connections", basis="it began at 02:50"),)
    outcome = sample_unproven().model_copy(update={"hypotheses": leads})
    assert "Unproven leads:" in said(outcome)
    steps = outcome.sections.model_copy(update={"next_steps": ("Check: A batch job holds connections",)})
    assert "Unproven leads:" not in said(outcome.model_copy(update={"sections": steps}))


def test_the_trace_shows_what_the_verdict_was_measured_by() -> None:
    evaluation = report_of(sample_unproven()).evaluation.model_dump(mode="json")
    run = replace(sample_run(), agent_flow="AI_OPS", self_evaluation={"aiops_rule_evaluation": evaluation})
    shown = "\n".join(texts(trace_view(run, [], [], 1, SHANGHAI)["blocks"]))
    assert "✗ cause or health verified" in shown
    assert "No cause has the evidence of two tools." in shown
    assert "Checks" not in "\n".join(texts(trace_view(sample_run(), [], [], 1, SHANGHAI)["blocks"]))


def test_only_something_critical_that_is_proven_is_for_the_channel() -> None:
    assert is_broadcast(sample_report())
    assert not is_broadcast(sample_unproven())
    assert not is_broadcast(sample_healthy())
    assert not is_broadcast(sample_report().model_copy(update={"report": None}))


def test_a_notification_says_verdict_alert_and_cause_in_150_characters() -> None:
    text = answer_message(sample_report(), AnswerView(SHANGHAI)).text
    assert text.startswith("✅ Cause proven: CheckoutLatencyHigh: order-service has no free connection")
    assert len(text) <= 150
    assert answer_message(sample_rejected(), AnswerView(SHANGHAI)).text.count("CheckoutLatencyHigh") == 1


# ---------------------------------------------------------------- the end


@pytest.mark.parametrize(
    ("lasted", "words"),
    [
        (timedelta(seconds=40), "40 s"),
        (timedelta(minutes=12, seconds=30), "12 min"),
        (timedelta(hours=1, minutes=5), "1 h 5 min"),
        (timedelta(days=2, hours=3), "2 d 3 h"),
    ],
)
def test_an_incident_that_is_over_says_how_long_it_lasted(lasted: timedelta, words: str) -> None:
    over = Resolved("CheckoutLatencyHigh", datetime(2026, 11, 30, 3, 9, tzinfo=UTC), lasted)
    message = resolved_message(over, SHANGHAI)
    assert message.text == f"☑️ Resolved: CheckoutLatencyHigh. It lasted {words} and ended at 2026-11-30 11:09 CST (03:09 UTC)."
    assert "Flapping" not in "".join(texts(message.blocks))


def test_an_incident_whose_start_nobody_knows_says_only_when_it_ended() -> None:
    message = resolved_message(Resolved("", datetime(2026, 11, 30, 3, 9, tzinfo=UTC)), UTC_READER)
    assert message.text == "☑️ Resolved. It ended at 2026-11-30 03:09 UTC."


def test_flapping_and_what_was_true_at_the_end_are_said() -> None:
    shown = "\n".join(texts(resolved_message(sample_resolved(), SHANGHAI).blocks))
    assert "Flapping: it has fired and resolved 3 times" in shown
    assert "CheckoutLatencyHigh: value 0.2" in shown
