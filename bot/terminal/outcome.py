"""A finished run as lines for a person: verdict first, then the conclusion, the evidence, the gaps, the next steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

from agents.contracts import AllowedClaim, RunOutcome, Verdict
from bot.answers.evidence_source import where
from bot.answers.statements import statements
from bot.answers.times import window_text
from bot.terminal.lines import Line
from bot.terminal.report import blast_lines, case_texts
from bot.terminal.words import Words, words_of

_STYLES = {Verdict.PASS: "bold green", Verdict.LOW_CONFID: "bold yellow", Verdict.REJECT: "bold red"}
_QUOTE_CHARS = 450
_FIELDS = (
    "run_id", "verdict", "answer", "claims", "hypotheses", "recommended_actions", "missing_info", "gatekeeper_result",
    "verifier_output", "orchestration_trace", "usage", "duration_ms",
)  # fmt: skip


def outcome_lines(outcome: RunOutcome, zone: ZoneInfo) -> list[Line]:
    """Times are shown in `zone` and in UTC."""
    words = words_of(outcome.language)
    lines = [_verdict(outcome, words)]
    if outcome.status == "CANCELLED":
        lines.append(Line(words.cancelled))
    lines += [Line(), Line(outcome.report.headline)] if outcome.report else []
    lines += [Line(), Line(outcome.sections.lead, style="bold")]
    lines += _window(outcome, words, zone)
    lines += _proven(outcome, words, zone)
    lines += blast_lines(outcome, words)
    lines += _listed(words.gaps, outcome.sections.gaps)
    lines += _listed(words.next_steps, outcome.sections.next_steps)
    lines += _listed(words.cases, case_texts(outcome))
    return [*lines, Line(), _footer(outcome, words)]


def _verdict(outcome: RunOutcome, words: Words) -> Line:
    meaning = {
        Verdict.PASS: words.passed,
        Verdict.LOW_CONFID: words.low_confidence,
        Verdict.REJECT: words.rejected,
    }[outcome.verdict]
    return Line(meaning, lead=f"{outcome.verdict}  ", lead_style=_STYLES[outcome.verdict])


def _window(outcome: RunOutcome, words: Words, zone: ZoneInfo) -> Iterator[Line]:
    """The asker reads here how the time words of the question were taken."""
    trace = outcome.orchestration_trace
    window = window_text(trace.window_from, trace.window_to, zone)
    if window:
        yield Line(window, lead=words.looked_at, style="dim", lead_style="dim")


def _listed(title: str, items: tuple[str, ...]) -> list[Line]:
    if not items:
        return []
    return [Line(), Line(title, style="bold"), *(Line(item, lead="  • ") for item in items)]


def _proven(outcome: RunOutcome, words: Words, zone: ZoneInfo) -> list[Line]:
    """Each statement with its quotes under it."""
    lines: list[Line] = []
    for statement in statements(outcome):
        if statement.text is not None:
            lines.append(Line(statement.text, lead="  • "))
        for allowed in statement.claims:
            lines += _quotes(allowed, words, zone)
    return [Line(), Line(words.evidence, style="bold"), *lines] if lines else []


def _quotes(allowed: AllowedClaim, words: Words, zone: ZoneInfo) -> Iterator[Line]:
    """For each quote where it stands, then the words themselves."""
    for evidence in allowed.evidence:
        yield Line(where(evidence, words.call, zone), lead=f"    [{allowed.number}] ", style="dim", lead_style="cyan")
        quote = "        │ "
        yield Line(evidence.span_text, lead=quote, hang=quote, lead_style="dim", max_chars=_QUOTE_CHARS)


def _footer(outcome: RunOutcome, words: Words) -> Line:
    usage = outcome.usage
    model = words.no_model if usage.model == "offline" else usage.model
    tokens = usage.prompt_tokens + usage.completion_tokens
    parts = [
        f"{words.run} {outcome.run_id}",
        f"{words.session} {outcome.session_id}",
        f"{outcome.duration_ms / 1000:.1f} s",
        model,
        f"{tokens} tokens" if tokens else "",
        f"cost {usage.cost:.4f}" if usage.cost is not None and tokens else "",
        words.degraded if outcome.orchestration_trace.degraded else "",
    ]
    return Line(" · ".join(part for part in parts if part), style="dim")


def outcome_json(outcome: RunOutcome) -> dict[str, Any]:
    """The fields that scripts rely on come first; nothing of the outcome is left out."""
    whole = outcome.model_dump(mode="json")
    return {name: whole[name] for name in _FIELDS} | whole
