"""The report of an alert's run, by code: what was proven, grouped; nothing in it that no tool and no alert said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agents.aiops_blast import blast_radius
from agents.aiops_evaluation import evaluated
from agents.alert_headline import headline
from agents.answer import KNOWLEDGE, actions, allowed_claims, missing_info
from agents.contracts import AiopsReport, AllowedClaim, ClaimType, SimilarCase
from agents.deps import RunDeps
from agents.fences import shortened
from agents.state import RunState
from tools.invocation import Invocation

CASES, CASE_DOCUMENT = "cases", "case "
MAX_CASES = 3
DETAIL_CHARS = 200


def report_of(state: RunState, deps: RunDeps) -> AiopsReport:
    """Of the state as the gate and the guard left it."""
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
        actions=actions(state),
        similar_cases=tuple(_cases(invocations))[:MAX_CASES],
        missing_info=missing_info(state),
        evaluation=state.rule_evaluation or evaluated(state, invocations),
    )


def _ids(allowed: Sequence[AllowedClaim], kind: ClaimType) -> tuple[str, ...]:
    return tuple(one.claim.claim_id for one in allowed if one.claim.claim_type == kind)


def _cases(invocations: Iterable[Invocation]) -> Iterable[SimilarCase]:
    """Leads from the case library, each once, as the look-up found them."""
    seen: set[str] = set()
    refs = (ref for call in invocations if call.tool_name == KNOWLEDGE for ref in call.refs)
    for ref in refs:
        case_id = ref.scope.get("document", "").removeprefix(CASE_DOCUMENT)
        if ref.scope.get("domain") == CASES and case_id not in seen:
            seen.add(case_id)
            text = " ".join(ref.text.split())
            yield SimilarCase(case_id=case_id, title=ref.scope.get("title") or case_id, detail=shortened(text, DETAIL_CHARS))
