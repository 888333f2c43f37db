"""The guard on what a model writes beside its claims: gaps, actions and hypotheses stand whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from agents.answer import actions, allowed_claims, quoted_runbooks
from agents.contracts import AllowedClaim, AnswerSections, RecommendedAction
from agents.deps import RunDeps
from agents.fences import shortened
from agents.guard import GuardVocabulary, guard_sections
from agents.state import RunState

ALERT_CHARS = 4_000


def guarded(state: RunState, deps: RunDeps) -> RunState:
    """Without what holds a name, number, time or quote that neither a proven claim nor the alert's labels bear. Causes
    that the gate turned into hypotheses had their quotes checked and stay."""
    output = state.executor_output
    if output is None:
        return state
    guard = _Guard(state, deps)
    kept = {
        "missing_info": tuple(text for text in output.missing_info if guard.lets(text, "gaps")),
        "hypotheses": tuple(one for one in output.hypotheses if guard.lets(one.hypothesis_text, "next_steps")),
        "recommended_actions": tuple(guard.action(one) for one in output.recommended_actions if guard.lets(one.action_text)),
    }
    return replace(state, executor_output=output.model_copy(update=kept))


class _Guard:
    """Gaps and steps may use the names of the alert, of tools, settings and quoted runbooks beside the claims'."""

    def __init__(self, state: RunState, deps: RunDeps) -> None:
        runbooks = quoted_runbooks(actions(state), deps.door.invocations())
        offered = (*(offer.name for offer in deps.offers), *deps.names)
        self._allowed: Sequence[AllowedClaim] = allowed_claims(state)
        self._vocabulary = GuardVocabulary(question=_labels(state), names=(*offered, *runbooks))

    def lets(self, text: str, section: Literal["gaps", "next_steps"] = "next_steps") -> bool:
        if not text.strip():
            return False
        lines = {"gaps": (), "next_steps": ()} | {section: (text,)}
        sections = AnswerSections(lead="", confirmed=(), **lines)
        return not guard_sections(sections, self._allowed, self._vocabulary).cut

    def action(self, action: RecommendedAction) -> RecommendedAction:
        """A reason that does not hold is left out; the step stands without it."""
        return action if self.lets(action.reason) else action.model_copy(update={"reason": ""})


def _labels(state: RunState) -> str:
    """The alerts' names and labels; what somebody wrote into their texts lends no step its words."""
    labels = (f"{alert.alert_name or ''} {' '.join(alert.labels.values())}" for alert in state.alerts)
    return shortened(" ".join(labels), ALERT_CHARS)
