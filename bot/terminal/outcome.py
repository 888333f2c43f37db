"""A finished run as lines for a person: verdict first, then the conclusion, the evidence, the gaps, the next steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agents.contracts import AllowedClaim, RunOutcome, Verdict, VerifiedEvidence
from bot.terminal.lines import Line
from bot.terminal.words import Words, words_of

_STYLES = {Verdict.PASS: "bold green", Verdict.LOW_CONFID: "bold yellow", Verdict.REJECT: "bold red"}
# Of a ref's scope, in this order, what tells a reader where a quote comes from.
_SOURCE_KEYS = ("service", "source", "file", "title", "document", "metric", "domain")
_FIELDS = (
    "run_id", "verdict", "answer", "claims", "hypotheses", "recommended_actions", "missing_info", "gatekeeper_result",
    "verifier_output", "orchestration_trace", "usage", "duration_ms",
)  # fmt: skip


def outcome_lines(outcome: RunOutcome) -> list[Line]:
    words = words_of(outcome.language)
    lines = [_verdict(outcome, words)]
    if outcome.status == "CANCELLED":
        lines.append(Line(words.cancelled))
    lines += [Line(), Line(outcome.sections.lead, style="bold")]
    lines += _listed(words.confirmed, outcome.sections.confirmed)
    lines += _evidence(outcome.claims, words)
    lines += _listed(words.hypotheses, [item.hypothesis_text for item in outcome.hypotheses])
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


def _listed(title: str, items: tuple[str, ...] | list[str]) -> list[Line]:
    if not items:
        return []
    return [Line(), Line(title, style="bold"), *(Line(item, lead="  • ") for item in items)]


def _evidence(claims: tuple[AllowedClaim, ...], words: Words) -> list[Line]:
    if not claims:
        return []
    lines = [Line(), Line(words.evidence, style="bold")]
    for claim in claims:
        lines += _quotes(claim, words)
    return lines


def _quotes(allowed: AllowedClaim, words: Words) -> Iterator[Line]:
    """The claim, then for each of its quotes where it stands and the words themselves."""
    mark = f"  [{allowed.number}] "
    yield Line(allowed.claim.claim_text, lead=mark, lead_style="cyan")
    for evidence in allowed.evidence:
        indent = " " * len(mark)
        yield Line(_where(evidence, words), lead=indent, style="dim")
        yield Line(evidence.span_text, lead=indent + "│ ", lead_style="dim")


def _where(evidence: VerifiedEvidence, words: Words) -> str:
    scope = evidence.scope
    source = [scope[key] for key in _SOURCE_KEYS if scope.get(key)]
    window = f"{scope['window_from']} – {scope['window_to']}" if "window_from" in scope and "window_to" in scope else ""
    span = f"{evidence.raw_path}[{evidence.span_start}:{evidence.span_end}]"
    number = f"{words.call} {evidence.source_invocation_id}"
    return " · ".join(part for part in (evidence.tool_name, *dict.fromkeys(source), window, number, span) if part)


def _footer(outcome: RunOutcome, words: Words) -> Line:
    usage = outcome.usage
    model = words.no_model if usage.model == "offline" else usage.model
    tokens = usage.prompt_tokens + usage.completion_tokens
    parts = [
        f"{words.run} {outcome.run_id}",
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
