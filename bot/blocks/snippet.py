"""The whole answer as a text file, for the thread: what no message can hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import RunOutcome
from agents.verdicts import TEMPLATES
from bot.answers.evidence_source import where
from bot.answers.printable import printable
from bot.blocks.reader import Reader
from bot.blocks.usage import usage_line, window_line


@dataclass(frozen=True)
class Snippet:
    filename: str
    title: str
    content: str


def whole_answer(outcome: RunOutcome, reader: Reader) -> Snippet:
    """Nothing is shortened: every claim, every quote, every gap and step."""
    content = printable("\n".join(_lines(outcome, reader)) + "\n")
    return Snippet(f"answer-{outcome.run_id}.txt", reader.say("snippet_title"), content)


def _lines(outcome: RunOutcome, reader: Reader) -> Iterator[str]:
    sections = outcome.sections
    yield reader.say(f"verdict_{outcome.verdict.value.lower()}")
    yield from ("", outcome.question, "", sections.lead if sections.lead.strip() else outcome.answer)
    for heading, items in (
        ("confirmed", sections.confirmed),
        (TEMPLATES[outcome.verdict].gaps, sections.gaps),
        ("next_steps", sections.next_steps),
    ):
        yield from ("", reader.say(heading), *(f"- {item}" for item in items)) if items else ()
    yield from ("", reader.say("evidence_heading")) if outcome.claims else ()
    yield from evidence_lines(outcome, reader)
    yield from ("", *(line for line in (window_line(outcome, reader), usage_line(outcome, reader)) if line))


def evidence_lines(outcome: RunOutcome, reader: Reader) -> Iterator[str]:
    """Every claim with all that is quoted for it."""
    for allowed in outcome.claims:
        yield f"[{allowed.number}] {allowed.claim.claim_text}"
        for evidence in allowed.evidence:
            yield f"    {where(evidence, reader.say('call'), reader.zone)}"
            yield from (f"    | {row}" for row in evidence.span_text.split("\n"))
