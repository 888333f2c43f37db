"""The safe end of an alert's run that cannot go on: the report of what is proven, and what ended the run."""

from __future__ import annotations

from dataclasses import replace

from agents.aiops_answer import answered
from agents.aiops_evaluation import evaluated
from agents.contracts import AnswerSections
from agents.deps import RunDeps
from agents.salvage import salvaged
from agents.state import RunState

NODE = "FALLBACK"


async def run(state: RunState, deps: RunDeps) -> RunState:
    """Asks no model and calls no tool. `walk.ending` says why the run is here."""
    state = await salvaged(state, deps)
    state = replace(state, rule_evaluation=evaluated(state, deps.door.invocations()))
    ending, language = state.walk.ending, state.language
    why = AnswerSections(
        lead="",
        confirmed=(),
        gaps=(deps.replies.text(language, f"ended_{ending}"),),
        next_steps=(deps.replies.text(language, f"step_ended_{ending}"),),
    )
    return answered(state, deps, why)
