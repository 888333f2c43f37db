"""Fallback: the safe end of a run that cannot go on. Says what is proven, what ended the run, and what to do."""

from __future__ import annotations

from dataclasses import replace

from agents.answer import allowed_claims, failed_checks, joined, sections_of_claims
from agents.contracts import AnswerSections, ParseStatus
from agents.deps import RunDeps
from agents.salvage import salvaged
from agents.state import RunState
from agents.verdicts import rendered, with_lead

NODE = "FALLBACK"


async def run(state: RunState, deps: RunDeps) -> RunState:
    """Asks no model and calls no tool. `walk.ending` says why the run is here."""
    state = await salvaged(state, deps)
    proven = sections_of_claims(state, allowed_claims(state))
    checks = failed_checks(state, deps.door.invocations(), deps.replies)
    sections = joined(_why_it_ended(state, deps, proven.confirmed), joined(proven, checks))
    sections = with_lead(sections, state.verdict, deps.replies, state.language)
    return replace(
        state,
        sections=sections,
        answer=rendered(sections, state.verdict, deps.replies, state.language),
        composer_parse_status=ParseStatus(status="missing", detail=f"the run ended before: {state.walk.ending}"),
    )


def _why_it_ended(state: RunState, deps: RunDeps, confirmed: tuple[str, ...]) -> AnswerSections:
    ending, language = state.walk.ending, state.language
    return AnswerSections(
        lead="",
        confirmed=confirmed,
        gaps=(deps.replies.text(language, f"ended_{ending}"),),
        next_steps=(deps.replies.text(language, f"step_ended_{ending}"),),
    )
