"""The three things a woken person reads: what it concludes, what was found, what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from agents.contracts import RunOutcome, Verdict
from bot.blocks.reader import Reader
from bot.blocks.text import escaped_line

NOTIFICATION_CHARS = 150


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
    """A cause before anything else; else the first confirmed line."""
    causes = [f"{one.claim.claim_text} [{one.number}]" for one in outcome.claims if one.claim.claim_type == "root_cause"]
    lines = [line for line in outcome.sections.confirmed if line.strip()]
    return next(iter([*causes, *lines]), "")


def notification(outcome: RunOutcome, conclusion: Conclusion, reader: Reader) -> str:
    """Verdict and conclusion in one escaped line of at most 150 characters."""
    verdict = reader.say(f"verdict_{outcome.verdict.value.lower()}")
    return escaped_line(f"{verdict}: {conclusion.finding or conclusion.text}", NOTIFICATION_CHARS)
