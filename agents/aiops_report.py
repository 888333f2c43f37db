"""The report of an alert's run, by code: what was proven, grouped; nothing in it that no tool and no alert said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agents.aiops_blast import blast_radius
from agents.aiops_evaluation import evaluated
from agents.alert_headline import headline
from agents.answer import KNOWLEDGE, actions, allowed_claims, missing_info, quoted_runbooks
from agents.contracts import AiopsReport, AllowedClaim, AnswerSections, ClaimType, RecommendedAction, SimilarCase
from agents.deps import RunDeps
from agents.fences import shortened
from agents.guard import GuardVocabulary, guard_sections
from agents.state import RunState
from tools.invocation import Invocation

CASES = "cases"
MAX_CASES = 3
DETAIL_CHARS = 200
ALERT_CHARS = 4_000


def report_of(state: RunState, deps: RunDeps) -> AiopsReport:
    """Of the state as the gate left it."""
    invocations = deps.door.invocations()
    allowed = allowed_claims(state)
    blast = blast_radius(state, allowed, invocations)
    assert state.mode is not None
    return AiopsReport(
        headline=headline(state, deps.replies),
        mode=state.mode,
        alerts=state.alerts,
        probable_cause=_ids(allowed, "root_cause"),
        affected=blast.affected,
        healthy=blast.healthy,
        other_reason=blast.other_reason,
        not_checked=blast.not_checked,
        changes=_ids(allowed, "change"),
        actions=_actions(state, deps, allowed),
        similar_cases=tuple(_cases(invocations))[:MAX_CASES],
        missing_info=_kept(state, deps, allowed, gaps=missing_info(state)).gaps,
        evaluation=state.rule_evaluation or evaluated(state, invocations),
    )


def guarded_steps(state: RunState, deps: RunDeps, lines: Iterable[str]) -> tuple[str, ...]:
    """Further next steps in the model's words, without what nothing bears."""
    return _kept(state, deps, allowed_claims(state), steps=tuple(lines)).next_steps


def _ids(allowed: Sequence[AllowedClaim], kind: ClaimType) -> tuple[str, ...]:
    return tuple(one.claim.claim_id for one in allowed if one.claim.claim_type == kind)


def _actions(state: RunState, deps: RunDeps, allowed: Sequence[AllowedClaim]) -> tuple[RecommendedAction, ...]:
    """An action that loses a sentence to the guard is none; one that loses its reason stands without."""
    kept = []
    for action in actions(state):
        texts = _kept(state, deps, allowed, steps=(action.action_text,)).next_steps
        reasons = _kept(state, deps, allowed, steps=(action.reason,)).next_steps
        if texts == (action.action_text.strip(),):
            reason = action.reason if reasons == (action.reason.strip(),) else ""
            kept.append(action.model_copy(update={"reason": reason}))
    return tuple(kept)


def _kept(
    state: RunState,
    deps: RunDeps,
    allowed: Sequence[AllowedClaim],
    gaps: tuple[str, ...] = (),
    steps: tuple[str, ...] = (),
) -> AnswerSections:
    """Gaps and steps may use the names of the alert, of tools, settings and quoted runbooks beside the claims'."""
    runbooks = quoted_runbooks(actions(state), deps.door.invocations())
    offered = (*(offer.name for offer in deps.offers), *deps.names)
    vocabulary = GuardVocabulary(question=_alert_text(state), names=(*offered, *runbooks))
    sections = AnswerSections(lead="", confirmed=(), gaps=gaps, next_steps=steps)
    return guard_sections(sections, allowed, vocabulary).sections


def _alert_text(state: RunState) -> str:
    """The alerts' names and labels; what somebody wrote into their texts lends no step its words."""
    labels = (f"{alert.alert_name or ''} {' '.join(alert.labels.values())}" for alert in state.alerts)
    return shortened(" ".join(labels), ALERT_CHARS)


def _cases(invocations: Iterable[Invocation]) -> Iterable[SimilarCase]:
    """Leads from the case library, each once, as the look-up found them."""
    seen: set[str] = set()
    refs = (ref for call in invocations if call.tool_name == KNOWLEDGE for ref in call.refs)
    for ref in refs:
        case_id = ref.scope.get("document", "")
        if ref.scope.get("domain") == CASES and case_id not in seen:
            seen.add(case_id)
            text = " ".join(ref.text.split())
            yield SimilarCase(case_id=case_id, title=ref.scope.get("title") or case_id, detail=shortened(text, DETAIL_CHARS))
