"""What a woken person reads first: within 600 characters what fires since when, the verdict, the cause, the next step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from agents.contracts import AllowedClaim, Verdict
from bot.answers.printable import printable
from bot.answers.told_report import ToldReport
from bot.blocks.answer import AnswerView
from bot.blocks.conclusion import NOTIFICATION_CHARS
from bot.blocks.reader import Reader
from bot.blocks.rich import Element, Span, link, section, spans
from bot.blocks.rich import told as advice
from bot.blocks.text import escaped_line, phone_line, shown_pieces

_HEADLINE_CHARS, _CAUSE_CHARS, _NEXT_CHARS, _NAME_CHARS = 170, 180, 130, 60
_REST_CHARS = 400


def report_title(told: ToldReport, reader: Reader) -> str:
    verdict, found = told.outcome.verdict, told.conclusion
    if verdict is not Verdict.PASS or found is None:
        return reader.say(f"verdict_{verdict.value.lower()}")
    return reader.say("triage_health_proven" if _is_health(found) else "triage_cause_proven")


def report_notification(told: ToldReport, reader: Reader) -> str:
    """Verdict, alert and what was found, in one escaped line of at most 150 characters."""
    found = told.conclusion or told.finding
    text = found.claim.claim_text if found else _headline(told)
    name = phone_line((told.alert.alert_name if told.alert else None) or "", _NAME_CHARS)
    parts = (report_title(told, reader), "" if name in text else name, text)
    return escaped_line(": ".join(part for part in parts if part.strip()), NOTIFICATION_CHARS)


@dataclass(frozen=True)
class Head:
    """`rest` is what of the headline did not fit, `left` whether some of it has no place here at all, `step_read` whether
    the first step is there in full."""

    elements: list[Element]
    rest: list[Element]
    left: bool
    step_read: bool


def head_of(told: ToldReport, view: AnswerView) -> Head:
    reader = view.reader
    first, *rest = shown_pieces(_headline(told), _HEADLINE_CHARS)
    mention: list[Span] = [{"type": "user", "user_id": view.mention}, *spans(" ")] if view.mention else []
    elements = [section(mention, spans(first.rstrip(), bold=True), spans(" …") if rest else [])]
    elements += [section(spans(since, italic=True)) for since in _since(told, reader)]
    if told.outcome.status == "CANCELLED":
        elements.append(section(spans(reader.say("cancelled"), italic=True)))
    elements += _found(told, reader)
    step, read = _next(told)
    if not step and told.outcome.verdict is not Verdict.PASS and not told.runbooks:
        step = reader.say("triage_no_step")
    if step:
        elements.append(section(spans(reader.say("next"), bold=True), advice(step, reader.link_hosts)))
    for url in told.runbooks[:1]:
        elements.append(section(spans(reader.say("triage_runbook"), bold=True), link(phone_line(url, 300))))
    more, *left = shown_pieces("".join(rest), _REST_CHARS)
    return Head(elements, [section(spans(f"… {more}"))] if more.strip() else [], bool(left), read)


def _headline(told: ToldReport) -> str:
    shown = " ".join(printable(told.report.headline).split())
    return shown or (told.alert.alert_name if told.alert else None) or told.outcome.question


def _since(told: ToldReport, reader: Reader) -> list[str]:
    """The start in the reader's own time, unless the headline has it."""
    alert = told.alert
    try:
        moment = datetime.fromisoformat(alert.starts_at) if alert and alert.starts_at else None
    except ValueError:
        return []
    if moment is None or moment.tzinfo is None:
        return []
    local = f"{moment.astimezone(reader.zone):%H:%M}"
    return [] if local in told.report.headline else [reader.say("triage_since", when=reader.at(moment))]


def _found(told: ToldReport, reader: Reader) -> list[Element]:
    found = told.conclusion
    if found is not None:
        if _is_health(found):
            return [_claim_line("triage_health", found, 0, reader)]
        return [_claim_line("triage_cause", found, len(told.causes) - 1, reader)]
    lines = [section(spans(reader.say("triage_cause"), bold=True), spans(reader.say("triage_no_cause")))]
    return [*lines, _claim_line("finding", told.finding, 0, reader)] if told.finding else lines


def _is_health(claim: AllowedClaim) -> bool:
    return claim.claim.claim_type == "healthy"


def _claim_line(key: str, claim: AllowedClaim, others: int, reader: Reader) -> Element:
    more = f" {reader.say('triage_more', count=others)}" if others > 0 else ""
    text = f"{phone_line(claim.claim.claim_text, _CAUSE_CHARS)} [{claim.number}]{more}"
    return section(spans(reader.say(key), bold=True), spans(text, reader.link_hosts))


def _next(told: ToldReport) -> tuple[str, bool]:
    """The first step, and whether all of it is there."""
    if not told.steps:
        return "", False
    shown = phone_line(told.steps[0], _NEXT_CHARS)
    return shown, shown == " ".join(printable(told.steps[0]).split())
