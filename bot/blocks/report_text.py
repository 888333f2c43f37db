"""The whole report as a text file, for the thread: what no message can hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agents.contracts import AiopsReport, Alert, BlastEntry
from agents.verdicts import TEMPLATES
from bot.answers.printable import printable
from bot.answers.told_report import ToldReport, alert_name
from bot.blocks.answer import AnswerView
from bot.blocks.reader import Reader
from bot.blocks.snippet import Snippet, evidence_lines
from bot.blocks.usage import usage_line, window_line

CHECKS = ("focused", "tools_answered", "claims_verified", "cause_verified", "actions_present")


def checks_line(report: AiopsReport, reader: Reader) -> str:
    """`Checks 4/5: ✓ stays on the alert · ✗ cause verified …`"""
    met = {name: bool(getattr(report.evaluation, name)) for name in CHECKS}
    shown = " · ".join(f"{'✓' if is_met else '✗'} {reader.say(f'check_{name}')}" for name, is_met in met.items())
    return reader.say("triage_checks", met=sum(met.values()), all=len(met), checks=shown)


def whole_report(told: ToldReport, view: AnswerView) -> Snippet:
    """Nothing is shortened: every alert, entity, claim, quote, step and gap."""
    content = printable("\n".join(_lines(told, view)) + "\n")
    return Snippet(f"report-{told.outcome.run_id}.txt", view.reader.say("triage_file"), content)


def _lines(told: ToldReport, view: AnswerView) -> Iterator[str]:
    outcome, report, reader = told.outcome, told.report, view.reader
    yield reader.say(f"verdict_{outcome.verdict.value.lower()}")
    yield from ("", report.headline, checks_line(report, reader))
    yield from (f"- {reason}" for reason in report.evaluation.reasons)
    for key, entries in (
        ("triage_affected", report.affected),
        ("triage_healthy", report.healthy),
        ("triage_other_reason", report.other_reason),
    ):
        yield from _part(reader.say(key), _entities(entries, told))
    yield from _part(reader.say("triage_not_checked"), report.not_checked)
    yield from _part(reader.say("triage_changes"), told.marked_changes)
    yield from _part(reader.say("next_steps"), _steps(told))
    yield from _part(reader.say("triage_runbooks"), told.runbooks)
    yield from _part(reader.say(TEMPLATES[outcome.verdict].gaps), (*told.gaps, *view.missing))
    yield from _part(reader.say("triage_leads"), [_lead(told, text) for text in told.leads])
    yield from _part(reader.say("triage_cases"), told.cases)
    yield from ("", reader.say("evidence_heading")) if outcome.claims else ()
    yield from evidence_lines(outcome, reader)
    yield from ("", reader.say("triage_alerts", count=len(report.alerts))) if report.alerts else ()
    for alert in report.alerts:
        yield from _alert(alert)
    yield from ("", *(line for line in (window_line(outcome, reader), usage_line(outcome, reader)) if line))


def _part(heading: str, items: Sequence[str]) -> Iterator[str]:
    yield from ("", heading, *(f"- {item}" for item in items)) if items else ()


def _entities(entries: Sequence[BlastEntry], told: ToldReport) -> list[str]:
    return [f"{entry.entity} {told.marks_of(entry)}".strip() for entry in entries]


def _steps(told: ToldReport) -> list[str]:
    """With the reason that an action has."""
    reasons = {action.action_text: action.reason for action in told.report.actions}
    return [f"{step} ({reasons[step]})" if reasons.get(step, "").strip() else step for step in told.steps]


def _lead(told: ToldReport, text: str) -> str:
    basis = next((one.basis for one in told.outcome.hypotheses if one.hypothesis_text == text), "")
    return f"{text} ({basis})" if basis.strip() else text


def _alert(alert: Alert) -> Iterator[str]:
    yield f"- {alert_name(alert)} ({alert.sender})"
    facts = {"value": alert.value, "starts_at": alert.starts_at, "ends_at": alert.ends_at, "group": alert.group}
    for told in (facts, alert.labels, alert.annotations, alert.links):
        yield from (f"    {name}: {value}" for name, value in told.items() if value)
