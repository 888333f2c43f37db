"""Composer: words for what the verifier allows. Code cuts whatever the allowed claims do not hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.answer import (
    actions,
    allowed_claims,
    failed_checks,
    hypotheses,
    joined,
    marked,
    missing_info,
    quoted_runbooks,
    sections_of_claims,
)
from agents.contracts import (
    AllowedClaim,
    AnswerSections,
    ComposerDraft,
    ComposerInput,
    ComposerOutput,
    ParseStatus,
    Verdict,
)
from agents.deps import RunDeps
from agents.guard import GuardVocabulary, guard_sections
from agents.model_call import NodeRequest, ask
from agents.prompts import as_json, block
from agents.state import RunState
from agents.verdicts import rendered, with_lead

NODE = "COMPOSER"
BY_CODE = ParseStatus(status="missing", detail="nothing is allowed to be stated: the answer was written by code")
VALID = ParseStatus(status="valid", detail="parsed composer contract")


async def run(state: RunState, deps: RunDeps) -> RunState:
    allowed = allowed_claims(state)
    draft = await _draft(state, deps, allowed) if allowed else None
    sections = draft.sections if draft else sections_of_claims(state, allowed)
    sections = _guarded(state, deps, sections, allowed)
    sections = _complete(sections, allowed, state.verdict)
    checks = failed_checks(state, deps.door.invocations(), deps.replies)
    sections = with_lead(joined(sections, checks), state.verdict, deps.replies, state.language)
    answer = rendered(sections, state.verdict, deps.replies, state.language)
    output = ComposerOutput(answer=answer, used_claim_ids=_used(sections, allowed), sections=sections)
    status = VALID if draft else BY_CODE
    return replace(state, composer_output=output, composer_parse_status=status, answer=answer, sections=sections)


async def _draft(state: RunState, deps: RunDeps, allowed: tuple[AllowedClaim, ...]) -> ComposerDraft:
    given = ComposerInput(
        question=state.question,
        allowed_claims=allowed,
        missing_info=missing_info(state),
        recommended_actions=actions(state),
        hypotheses=hypotheses(state),
        verdict=state.verdict,
        language=state.language,
    )
    messages = deps.prompts.messages(
        "composer",
        verdict=given.verdict.value,
        language=given.language,
        question=block("question", given.question, state.fence),
        claims=block("claims", as_json([_shown(claim) for claim in given.allowed_claims]), state.fence),
        missing_info=block("missing_info", as_json(given.missing_info), state.fence),
        recommended_actions=block("actions", as_json([a.action_text for a in given.recommended_actions]), state.fence),
        hypotheses=block("hypotheses", as_json([h.hypothesis_text for h in given.hypotheses]), state.fence),
    )
    answered = await ask(NodeRequest("composer", NODE, ComposerDraft, given, messages), state, deps)
    assert answered.value is not None
    return answered.value


def _shown(allowed: AllowedClaim) -> dict[str, object]:
    claim = allowed.claim
    return {
        "mark": f"[{allowed.number}]",
        "claim_id": claim.claim_id,
        "type": claim.claim_type,
        "text": claim.claim_text,
        "quotes": [{"quote": proof.span_text, "labels": proof.scope} for proof in allowed.evidence],
    }


def _guarded(
    state: RunState, deps: RunDeps, sections: AnswerSections, allowed: Sequence[AllowedClaim]
) -> AnswerSections:
    names = (*(offer.name for offer in deps.offers), *deps.names)
    runbooks = quoted_runbooks(actions(state), deps.door.invocations())
    vocabulary = GuardVocabulary(question=state.question, names=(*names, *runbooks))
    result = guard_sections(sections, allowed, vocabulary)
    if not result.must_rebuild:
        return result.sections
    own = guard_sections(sections_of_claims(state, allowed), allowed, vocabulary).sections
    lines = tuple(marked(claim) for claim in allowed)
    return own.model_copy(update={"lead": lines[0] if lines else "", "confirmed": lines})


def _complete(sections: AnswerSections, allowed: Sequence[AllowedClaim], verdict: Verdict) -> AnswerSections:
    """Under a fixed lead sentence the composer's conclusion is gone, so every allowed claim stands in the list; under
    PASS the answer is the composer's, and only a forgotten list is filled."""
    if verdict is Verdict.PASS and (sections.confirmed or not allowed):
        return sections
    text = "\n".join(sections.confirmed)
    forgotten = tuple(marked(claim) for claim in allowed if f"[{claim.number}]" not in text)
    return sections.model_copy(update={"confirmed": (*sections.confirmed, *forgotten)})


def _used(sections: AnswerSections, allowed: Sequence[AllowedClaim]) -> tuple[str, ...]:
    """Read from the marks of the finished answer: what the composer said it used may have been cut."""
    text = "\n".join((sections.lead, *sections.confirmed))
    return tuple(claim.claim.claim_id for claim in allowed if f"[{claim.number}]" in text)
