"""A finished run as lines for a person: verdict first, then the conclusion, the evidence, the gaps, the next steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

from agents.contracts import AllowedClaim, RunOutcome, Verdict, VerifiedEvidence
from bot.terminal.lines import Line
from bot.terminal.times import window_text
from bot.terminal.words import Words, words_of

_STYLES = {Verdict.PASS: "bold green", Verdict.LOW_CONFID: "bold yellow", Verdict.REJECT: "bold red"}
# Of a ref's scope, in this order, what tells a reader where a quote comes from.
_SOURCE_KEYS = ("document", "metric", "file", "source", "query")
_QUOTE_CHARS = 450
_MARK = re.compile(r"\[(\d+)\]")
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
    lines += [Line(), Line(outcome.sections.lead, style="bold")]
    lines += _proven(outcome, words, zone)
    lines += _listed(words.gaps, outcome.sections.gaps)
    lines += _listed(words.next_steps, outcome.sections.next_steps)
    return [*lines, Line(), _footer(outcome, words)]


def _verdict(outcome: RunOutcome, words: Words) -> Line:
    meaning = {
        Verdict.PASS: words.passed,
        Verdict.LOW_CONFID: words.low_confidence,
        Verdict.REJECT: words.rejected,
    }[outcome.verdict]
    return Line(meaning, lead=f"{outcome.verdict}  ", lead_style=_STYLES[outcome.verdict])


def _listed(title: str, items: tuple[str, ...]) -> list[Line]:
    if not items:
        return []
    return [Line(), Line(title, style="bold"), *(Line(item, lead="  • ") for item in items)]


def _proven(outcome: RunOutcome, words: Words, zone: ZoneInfo) -> list[Line]:
    """Each claim with its quotes under it: those of the conclusion first, then line by line, then what no line mentions.
    A sentence that is the whole conclusion has just been read and is not repeated."""
    claims = {allowed.number: allowed for allowed in outcome.claims}
    lead = outcome.sections.lead
    lines: list[Line] = []
    for number in _marks(lead):
        lines += _claim(claims.pop(number, None), lead, words, zone)
    for text in outcome.sections.confirmed:
        numbers = [number for number in _marks(text) if number in claims]
        if numbers or not _marks(text):
            lines += [] if text == lead else [Line(text, lead="  • ")]
        for number in numbers:
            lines += _quotes(claims.pop(number), words, zone)
    for allowed in claims.values():
        lines += _claim(allowed, lead, words, zone)
    return [Line(), Line(words.evidence, style="bold"), *lines] if lines else []


def _marks(text: str) -> list[int]:
    return list(dict.fromkeys(int(mark) for mark in _MARK.findall(text)))


def _claim(allowed: AllowedClaim | None, lead: str, words: Words, zone: ZoneInfo) -> Iterator[Line]:
    if allowed is None:
        return
    text = f"{allowed.claim.claim_text} [{allowed.number}]"
    if text != lead:
        yield Line(text, lead="  • ")
    yield from _quotes(allowed, words, zone)


def _quotes(allowed: AllowedClaim, words: Words, zone: ZoneInfo) -> Iterator[Line]:
    """For each quote where it stands, then the words themselves."""
    for evidence in allowed.evidence:
        yield Line(_where(evidence, words, zone), lead=f"    [{allowed.number}] ", style="dim", lead_style="cyan")
        quote = "        │ "
        yield Line(evidence.span_text, lead=quote, hang=quote, lead_style="dim", max_chars=_QUOTE_CHARS)


def _where(evidence: VerifiedEvidence, words: Words, zone: ZoneInfo) -> str:
    scope = evidence.scope
    named = (scope[key] for key in _SOURCE_KEYS if scope.get(key) and "://" not in scope[key])
    window = window_text(scope.get("window_from", ""), scope.get("window_to", ""), zone)
    span = f"{evidence.raw_path}[{evidence.span_start}:{evidence.span_end}]"
    number = f"{words.call} {evidence.source_invocation_id}"
    return " · ".join(part for part in (evidence.tool_name, scope.get("service"), next(named, ""), window, number, span) if part)


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
