"""What a report on an alert says beside its statements: how far the trouble reaches, and which past cases it recalls."""

from __future__ import annotations

from agents.contracts import BlastEntry, RunOutcome
from bot.terminal.lines import Line
from bot.terminal.words import Words

# An entity needs its proof, not all of its proofs.
MARKS = 3


def blast_lines(outcome: RunOutcome, words: Words) -> list[Line]:
    """One line a group that has somebody in it."""
    report = outcome.report
    if report is None:
        return []
    numbers = {allowed.claim.claim_id: allowed.number for allowed in outcome.claims}
    groups = (
        (words.affected, [_entry(one, numbers) for one in report.affected]),
        (words.healthy, [_entry(one, numbers) for one in report.healthy]),
        (words.other_reason, [_entry(one, numbers) for one in report.other_reason]),
        (words.not_checked, list(report.not_checked)),
    )
    lines = [Line(", ".join(entries), lead=f"  • {name}: ") for name, entries in groups if entries]
    return [Line(), Line(words.blast, style="bold"), *lines] if lines else []


def case_texts(outcome: RunOutcome) -> tuple[str, ...]:
    cases = outcome.report.similar_cases if outcome.report else ()
    return tuple(f"{case.title} ({case.case_id})" for case in cases)


def _entry(entry: BlastEntry, numbers: dict[str, int]) -> str:
    marks = "".join(f"[{numbers[name]}]" for name in entry.claim_ids[:MARKS] if name in numbers)
    return f"{entry.entity} {marks}".rstrip()
