"""self_evaluation: what the run thinks of itself, for auditors and for later calibration."""

from __future__ import annotations

from collections.abc import Sequence

from agents.contracts import ParseStatus, RuleEvaluation, ToolTraceItem, VerifierEvaluation
from agents.state import RunState

TOOLS_WEIGHT, VERIFIED_WEIGHT, DIRECT_WEIGHT = 0.4, 0.4, 0.2


def rule_evaluation(state: RunState, summary: Sequence[ToolTraceItem]) -> RuleEvaluation:
    """score = 0.4 × share of evidence tools that answered + 0.4 × share of claims verified + 0.2 × share of them
    direct. A share of nothing is 0."""
    answered = [item for item in summary if item.success]
    stated = state.executor_output.claims if state.executor_output else ()
    verified = [claim for claim in state.verified_claims if claim.claim_id in state.allowed_claim_ids]
    direct = [claim for claim in verified if claim.support_level == "direct"]
    tools, share, directness = (
        _share(len(answered), len(summary)),
        min(_share(len(verified), len(stated)), 1.0),
        _share(len(direct), len(verified)),
    )
    return RuleEvaluation(
        score=round(TOOLS_WEIGHT * tools + VERIFIED_WEIGHT * share + DIRECT_WEIGHT * directness, 4),
        evidence_tools_answered=tools,
        claims_verified=share,
        claims_direct=directness,
        reasons=(
            f"{len(answered)} of {len(summary)} evidence tools answered",
            f"{len(verified)} of {len(stated)} claims verified",
            f"{len(direct)} of {len(verified)} verified claims direct",
        ),
    )


def verifier_evaluation(state: RunState, summary: Sequence[ToolTraceItem]) -> VerifierEvaluation:
    """Everything a later reader needs to follow the verdict. A run that no verifier reached says so in `rationale`."""
    decision = state.decision
    executor = "EXECUTOR" if state.mode is None else "AIOPS_EXECUTOR"
    return VerifierEvaluation(
        verdict=state.verdict,
        groundedness_score=decision.groundedness_score if decision else 0.0,
        critical_fact_count=decision.critical_fact_count if decision else 0,
        claim_checks=decision.claim_checks if decision else (),
        facts_checked=decision.facts_checked if decision else (),
        rationale=decision.rationale if decision else _without_verifier(state),
        round=decision.round if decision else state.round,
        executor_output_parse_status=_parse_status(state, state.executor_parse_status, executor),
        executor_structured_output=state.executor_output,
        gatekeeper_result=state.gatekeeper_result,
        composer_output=state.composer_output,
        composer_output_parse_status=_parse_status(state, state.composer_parse_status, "COMPOSER"),
        tool_trace_summary=tuple(summary),
    )


def _without_verifier(state: RunState) -> str:
    if state.mode is not None:
        return "an alert's run has no verifier: aiops_rule_evaluation holds its verdict"
    return f"the run ended before the verifier: {state.walk.ending}"


def _parse_status(state: RunState, status: ParseStatus, node: str) -> ParseStatus:
    """A node that never gave a valid answer says how its last one was broken."""
    return status if status.status == "valid" else state.walk.broken.get(node, status)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
