"""What an answer may say, and the answer that code writes where no model is needed or allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agents.contracts import (
    AllowedClaim,
    AnswerSections,
    Hypothesis,
    InvocationId,
    RecommendedAction,
    Verification,
)
from agents.fences import shortened
from agents.question_kind import question_kind
from agents.replies import Replies
from agents.state import RunState
from agents.verification import by_claim
from tools.contracts import EvidenceStatus
from tools.invocation import Invocation

KNOWLEDGE = "lookup_knowledge"
ERROR_CHARS = 200
STEP_HYPOTHESES = 3
_NOT_MADE = re.compile(r"^there is no tool named |^\S+ was not run: ")
_STEPS = {
    "step_tool_forbidden": re.compile(r"forbidden|unauthori[sz]ed|access ?denied|permission denied|\b40[13]\b", re.IGNORECASE),
    "step_tool_missing": re.compile(r"\bnot ?found\b|\bNoSuch\w+|\b404\b", re.IGNORECASE),
}


def allowed_claims(state: RunState) -> tuple[AllowedClaim, ...]:
    """The claims that the answer may state, causes first, numbered as their marks are."""
    proofs = by_claim(state.verified_evidence)
    kept = [claim for claim in state.verified_claims if claim.claim_id in state.allowed_claim_ids]
    ordered = sorted(kept, key=lambda claim: claim.claim_type != "root_cause")
    return tuple(
        AllowedClaim(number=number, claim=claim, evidence=tuple(proofs.get(claim.claim_id, ())))
        for number, claim in enumerate(ordered, 1)
    )


def hypotheses(state: RunState) -> tuple[Hypothesis, ...]:
    stated = state.executor_output.hypotheses if state.executor_output else ()
    return (*state.demoted, *stated)


def missing_info(state: RunState) -> tuple[str, ...]:
    return state.executor_output.missing_info if state.executor_output else ()


def actions(state: RunState) -> tuple[RecommendedAction, ...]:
    return state.executor_output.recommended_actions if state.executor_output else ()


def quoted_runbooks(stated: Iterable[RecommendedAction], invocations: Iterable[Invocation]) -> tuple[str, ...]:
    """What actions quote of the knowledge base, where it stands there word for word: steps may use its names."""
    texts: dict[tuple[InvocationId, str], str] = {
        (call.id, ref.raw_path): ref.text for call in invocations if call.tool_name == KNOWLEDGE for ref in call.refs
    }
    quotes = (binding for action in stated for binding in action.evidence_bindings)
    return tuple(
        quote.evidence_excerpt
        for quote in quotes
        if quote.evidence_excerpt in texts.get((quote.source_invocation_id, quote.raw_path), "")
    )


def sections_of_claims(state: RunState, allowed: Sequence[AllowedClaim]) -> AnswerSections:
    """The claims in their own words, the executor's gaps and actions as they are."""
    lines = tuple(marked(claim) for claim in allowed)
    return AnswerSections(
        lead=lines[0] if lines else "",
        confirmed=lines,
        gaps=missing_info(state),
        next_steps=tuple(action.action_text for action in actions(state)),
    )


def marked(allowed: AllowedClaim) -> str:
    return f"{allowed.claim.claim_text} [{allowed.number}]"


def failed_checks(state: RunState, invocations: Iterable[Invocation], replies: Replies) -> AnswerSections:
    """Gaps and next steps that code knows of: statements that fell, a cause that is missing, tools that gave nothing,
    hypotheses to look into. Nothing here claims a fact about the system."""
    found = broken_checks(state, invocations, replies)
    return joined(found, AnswerSections(lead="", confirmed=(), gaps=(), next_steps=hypothesis_steps(state, replies)))


def broken_checks(state: RunState, invocations: Iterable[Invocation], replies: Replies) -> AnswerSections:
    """The same without the hypotheses: no word of it is a model's."""
    language = state.language
    broken = _broken_tools(invocations)
    gaps = [
        *([replies.text(language, "degraded")] if state.walk.degraded else []),
        *_fallen(state, replies),
        *(replies.text(language, "gap_tool_failed", tool=tool, error=error) for tool, error in broken.items()),
    ]
    if _wants_cause(state) and not _has_cause(state):
        gaps.append(replies.text(language, "gap_no_cause"))
    steps = [replies.text(language, _step_after(error), tool=tool) for tool, error in broken.items()]
    return AnswerSections(lead="", confirmed=(), gaps=tuple(gaps), next_steps=tuple(steps))


def hypothesis_steps(state: RunState, replies: Replies) -> tuple[str, ...]:
    open_ones = hypotheses(state)[:STEP_HYPOTHESES] if state.verdict != "PASS" else ()
    return tuple(replies.text(state.language, "step_hypothesis", hypothesis=h.hypothesis_text) for h in open_ones)


def joined(first: AnswerSections, second: AnswerSections) -> AnswerSections:
    """The first's lead and facts; both their gaps and steps, each once."""
    return AnswerSections(
        lead=first.lead,
        confirmed=first.confirmed,
        gaps=tuple(dict.fromkeys((*first.gaps, *second.gaps))),
        next_steps=tuple(dict.fromkeys((*first.next_steps, *second.next_steps))),
    )


def _fallen(state: RunState, replies: Replies) -> Iterable[str]:
    rejected = len(state.gatekeeper_result.rejected_claim_ids) if state.gatekeeper_result else 0
    rejected -= len(state.demoted)  # these live on as hypotheses
    if rejected > 0:
        yield replies.text(state.language, "gap_rejected", count=rejected)
    checks = state.decision.claim_checks if state.decision else ()
    unproven = sum(check.verification in (Verification.NONE, Verification.CONTRADICTED) for check in checks)
    if unproven:
        yield replies.text(state.language, "gap_unchecked", count=unproven)


def _wants_cause(state: RunState) -> bool:
    """An alert always asks why; a patrol that found none asks nothing."""
    return bool(state.alerts) if state.mode is not None else question_kind(state.question) == "why"


def _has_cause(state: RunState) -> bool:
    kinds = ("root_cause", "healthy")
    return any(c.claim_type in kinds and c.claim_id in state.allowed_claim_ids for c in state.verified_claims)


def _step_after(error: str) -> str:
    """A tool that looked and found nothing of the name, or was not allowed to look, is not broken."""
    return next((step for step, pattern in _STEPS.items() if pattern.search(error)), "step_tool_failed")


def _broken_tools(invocations: Iterable[Invocation]) -> dict[str, str]:
    """Tools none of whose calls answered, with the last error. A call that was never made says nothing of its tool."""
    errors: dict[str, str] = {}
    answered = set()
    for invocation in invocations:
        if _NOT_MADE.search(invocation.error or ""):
            continue
        if invocation.evidence_status is EvidenceStatus.FAILED:
            errors[invocation.tool_name] = shortened(" ".join((invocation.error or "").split()), ERROR_CHARS)
        else:
            answered.add(invocation.tool_name)
    return {tool: error for tool, error in errors.items() if tool not in answered}
