"""An incident's report as one Slack message: what fires since when, verdict, cause and next step first, then how far it
reaches, what changed, the proof, the steps and the gaps."""

from __future__ import annotations

from collections.abc import Sequence

from agents.answer import marked
from agents.contracts import AiopsReport, AnswerSections, RunOutcome, Verdict
from agents.verdicts import TEMPLATES
from bot.answers.told_report import ToldReport
from bot.blocks.answer import Answer, AnswerView, foot, listed
from bot.blocks.gaps import gap_blocks
from bot.blocks.parts import context, header
from bot.blocks.proven import proven_elements
from bot.blocks.reader import Reader
from bot.blocks.report_groups import alert_elements, blast_elements, change_elements, link_elements
from bot.blocks.report_head import head_of, report_notification, report_title
from bot.blocks.report_text import checks_line, whole_report
from bot.blocks.rich import Block, Element, rich

# What each part may take, in characters; together well under Slack's 13,000 for all blocks.
_PROOF_CHARS, _STEP_CHARS, _LEAD_CHARS, _CASE_CHARS = 3_000, 1_200, 500, 500
_GAP_CHARS, _GAPS_WITH_BUTTONS, _GAPS_LISTED, _PASS_GAP_CHARS = 220, 2, 6, 1_000


def report_message(outcome: RunOutcome, report: AiopsReport, view: AnswerView) -> Answer:
    told, reader = ToldReport(outcome, report), view.reader
    head = head_of(told, view)
    parts = [
        (head.rest, head.left),
        blast_elements(told, reader),
        change_elements(told, reader),
        proven_elements(_proven(told), reader, room=_PROOF_CHARS),
        _listed("next_steps", told.steps[1:] if head.step_read else told.steps, reader, _STEP_CHARS),
        link_elements(told, reader),
    ]
    gaps, gaps_left = _gaps(told, view)
    background = [
        _listed("triage_leads", told.leads, reader, _LEAD_CHARS),
        _listed("triage_cases", told.cases, reader, _CASE_CHARS),
        alert_elements(told, reader),
    ]
    blocks = [header(report_title(told, reader)), rich(*head.elements), *_rich(parts), *gaps, *_rich(background)]
    blocks += [context(checks_line(report, reader)), *foot(outcome, view)]
    left = gaps_left or any(cut for _, cut in (*parts, *background))
    whole = whole_report(told, view) if left else None
    return Answer(blocks, report_notification(told, reader), whole)


def is_broadcast(outcome: RunOutcome) -> bool:
    """Whether a channel wants to hear of it at once: something critical, with a proven cause or proven health."""
    alerts = outcome.report.alerts if outcome.report else ()
    return outcome.verdict is Verdict.PASS and any(alert.severity == "critical" for alert in alerts)


def _rich(parts: Sequence[tuple[list[Element], bool]]) -> list[Block]:
    return [rich(*elements) for elements, _ in parts if elements]


def _listed(heading: str, items: Sequence[str], reader: Reader, room: int) -> tuple[list[Element], bool]:
    return listed(reader.say(heading), [item for item in items if item.strip()], reader, room)


def _proven(told: ToldReport) -> RunOutcome:
    """The outcome with the cause as its conclusion, and without the changes, which have a part of their own."""
    lines = tuple(marked(claim) for claim in told.stated)
    lead = lines[0] if told.conclusion is not None else ""
    confirmed = lines[1:] if lead else lines
    sections = AnswerSections(lead=lead, confirmed=confirmed, gaps=(), next_steps=())
    return told.outcome.model_copy(update={"claims": tuple(told.stated), "sections": sections})


def _gaps(told: ToldReport, view: AnswerView) -> tuple[list[Block], bool]:
    """What is missing, with the buttons that may bring it where the verdict suffers from it."""
    outcome, reader = told.outcome, view.reader
    gaps, heading = (*told.gaps, *view.missing), TEMPLATES[outcome.verdict].gaps
    if outcome.verdict is Verdict.PASS:
        elements, left = _listed(heading, gaps, reader, _PASS_GAP_CHARS)
        return _rich([(elements, left)]), left
    room = {"chars": _GAP_CHARS, "with_buttons": _GAPS_WITH_BUTTONS, "others": _GAPS_LISTED}
    return gap_blocks(outcome.run_id, reader.say(heading), gaps, reader, **room)
