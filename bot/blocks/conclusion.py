"""The three things a woken person reads: what it concludes, what was found, what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from agents.contracts import RunOutcome, Verdict
from bot.answers.statements import Statement, statements
from bot.blocks.reader import Reader
from bot.blocks.text import escaped_line

NOTIFICATION_CHARS = 150
_KINDS = {"root_cause": 0, "gap": 2}


@dataclass(frozen=True)
class Conclusion:
    """`finding`: the best proven statement, where the conclusion itself is a fixed sentence of the verdict."""

    text: str
    finding: str
    next_step: str


def conclusion_of(outcome: RunOutcome, reader: Reader) -> Conclusion:
    sections = outcome.sections
    text = sections.lead if sections.lead.strip() else outcome.answer
    steps = [step for step in sections.next_steps if step.strip()]
    if not steps and outcome.verdict is not Verdict.PASS:
        steps = [reader.say("no_next_steps")]
    return Conclusion(
        text=text if text.strip() else reader.say("no_answer"),
        finding="" if outcome.verdict is Verdict.PASS else _finding(outcome),
        next_step=steps[0] if steps else "",
    )


def _finding(outcome: RunOutcome) -> str:
    """The strongest statement that stands below the conclusion; of equally strong ones the first."""
    stated = [one for one in statements(outcome) if one.text and one.text.strip()]
    return min(stated, key=_weakness).text or "" if stated else ""


def _weakness(statement: Statement) -> tuple[int, bool]:
    """A cause before other facts, these before what nobody proved or what came back empty; direct proof before indirect."""
    claims = [allowed.claim for allowed in statement.claims]
    kinds = [_KINDS.get(claim.claim_type, 1) for claim in claims]
    return min(kinds, default=_KINDS["gap"]), all(claim.support_level != "direct" for claim in claims)


def notification(outcome: RunOutcome, conclusion: Conclusion, reader: Reader) -> str:
    """Verdict and finding, else conclusion, in one escaped line of at most 150 characters."""
    verdict = reader.say(f"verdict_{outcome.verdict.value.lower()}")
    return escaped_line(f"{verdict}: {conclusion.finding or conclusion.text}", NOTIFICATION_CHARS)
