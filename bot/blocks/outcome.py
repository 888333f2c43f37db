"""The answer of a run as one Slack message: verdict, conclusion and next step first, then the proof, the gaps, the rest."""

from __future__ import annotations

from agents.contracts import RunOutcome, Verdict
from agents.verdicts import TEMPLATES
from bot.blocks.answer import Answer, AnswerView, foot, listed, within
from bot.blocks.conclusion import Conclusion, conclusion_of, notification
from bot.blocks.gaps import gap_blocks
from bot.blocks.parts import header, line
from bot.blocks.proven import proven_elements
from bot.blocks.reader import Reader
from bot.blocks.report import report_message
from bot.blocks.rich import Block, Element, Span, rich, section, spans, told
from bot.blocks.snippet import whole_answer
from bot.blocks.text import phone_line, shown_pieces
from bot.shapes.rules import units

HEADERS = {
    Verdict.PASS: "verdict_pass",
    Verdict.LOW_CONFID: "verdict_low_confid",
    Verdict.REJECT: "verdict_reject",
}
# What each part may take, in characters; together well under Slack's 13,000 for all blocks.
_LEAD_CHARS, _LEAD_AND_FINDING, _NEXT_CHARS = 260, 390, 140
_REST_CHARS = 1_400
# A hidden character is up to ten long once it is shown.
_VISIBLE = 10


def answer_message(outcome: RunOutcome, view: AnswerView) -> Answer:
    """A report where the run made one."""
    if outcome.report is not None:
        return report_message(outcome, outcome.report, view)
    reader = view.reader
    conclusion = conclusion_of(outcome, reader)
    head, rest, head_left = _head(outcome, conclusion, view)
    proof, proof_left = proven_elements(outcome, reader, read=_read(conclusion))
    gaps, gaps_left = _gaps(outcome, reader)
    steps, steps_left = _steps(outcome, reader)
    blocks = [header(reader.say(HEADERS[outcome.verdict])), rich(*head)]
    blocks += [rich(*part) for part in (rest, proof) if part]
    blocks += gaps
    blocks += [rich(*steps)] if steps else []
    blocks += foot(outcome, view)
    left = head_left or proof_left or gaps_left or steps_left
    return Answer(blocks, notification(outcome, conclusion, reader), whole_answer(outcome, reader) if left else None)


def _head(outcome: RunOutcome, conclusion: Conclusion, view: AnswerView) -> tuple[list[Element], list[Element], bool]:
    """What a phone shows without scrolling, and the rest of a long conclusion, which goes on below the next step."""
    reader = view.reader
    first, *rest = shown_pieces(conclusion.text, _LEAD_CHARS)
    style = {"italic": True} if conclusion.finding else {"bold": True}
    concluded = (spans(first.rstrip(), reader.link_hosts, **style), spans(" …") if rest else [])
    mention: list[Span] = [{"type": "user", "user_id": view.mention}, *spans(" ")] if view.mention else []
    elements = []
    if conclusion.finding:
        # The verdict's fixed sentence alone would tell a woken person nothing.
        found = spans(_finding_line(conclusion), reader.link_hosts, bold=True)
        elements.append(section(mention, spans(reader.say("finding")), found))
        mention = []
    elements.append(section(mention, *concluded))
    if outcome.status == "CANCELLED":
        elements.append(section(spans(reader.say("cancelled"), italic=True)))
    if conclusion.next_step:
        step = told(phone_line(conclusion.next_step, _NEXT_CHARS), reader.link_hosts)
        elements.append(section(spans(reader.say("next"), bold=True), step))
    shown, left = within("".join(rest), _REST_CHARS)
    return elements, [line(f"… {shown}", reader)] if shown.strip() else [], left


def _finding_line(conclusion: Conclusion) -> str:
    """As much as the sentence below it leaves room for."""
    return phone_line(conclusion.finding, _LEAD_AND_FINDING - units(shown_pieces(conclusion.text, _LEAD_CHARS)[0]))


def _read(conclusion: Conclusion) -> str:
    """The finding, where it stands at the top in full."""
    return conclusion.finding if _is_whole(_finding_line(conclusion), conclusion.finding) else ""


def _is_whole(line: str, text: str) -> bool:
    return line == phone_line(text, units(text) * _VISIBLE)


def _gaps(outcome: RunOutcome, reader: Reader) -> tuple[list[Block], bool]:
    gaps = outcome.sections.gaps
    if outcome.verdict is Verdict.PASS:
        heading, left = reader.say(TEMPLATES[outcome.verdict].gaps), False
        elements, left = listed(heading, gaps, reader)
        return ([rich(*elements)] if elements else []), left
    return gap_blocks(outcome.run_id, reader.say(TEMPLATES[outcome.verdict].gaps), gaps, reader)


def _steps(outcome: RunOutcome, reader: Reader) -> tuple[list[Element], bool]:
    """Without the step that has been read in full at the top."""
    steps = tuple(step for step in outcome.sections.next_steps if step.strip())
    read = bool(steps) and _is_whole(phone_line(steps[0], _NEXT_CHARS), steps[0])
    return listed(reader.say("next_steps"), steps[1:] if read else steps, reader)
