"""From the executor's claims to what is proven: the gate's report on the state, and what of it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.citations import evidence_of
from agents.contracts import Claim, VerifiedClaim
from agents.gate import check_claims
from agents.state import RunState
from tools.invocation import Invocation


def gated(state: RunState, invocations: Sequence[Invocation]) -> RunState:
    """The gate's report on all claims of the run. Round 1's are checked again: same refs, same result."""
    assert state.executor_output is not None
    report = check_claims(state.executor_output.claims, evidence_of(invocations, state.run_id), state.run_id)
    return replace(
        state,
        gatekeeper_result=report.result,
        passed_evidence=(*report.evidence, *(proof for demotion in report.demoted for proof in demotion.evidence)),
        demoted_claims=tuple(fact for demotion in report.demoted for fact in demotion.facts),
        demoted=tuple(demotion.hypothesis for demotion in report.demoted),
    )


def projected(state: RunState) -> RunState:
    """Only claims that passed, and the quotes they passed with."""
    assert state.executor_output is not None
    assert state.gatekeeper_result is not None
    passed = set(state.gatekeeper_result.passed_claim_ids)
    kept = (*(_verified(c) for c in state.executor_output.claims if c.claim_id in passed), *state.demoted_claims)
    names = {claim.claim_id for claim in kept}
    evidence = tuple(proof for proof in state.passed_evidence if proof.claim_id in names)
    return replace(state, verified_claims=kept, verified_evidence=evidence)


def _verified(claim: Claim) -> VerifiedClaim:
    return VerifiedClaim(
        claim_id=claim.claim_id,
        claim_type=claim.claim_type,
        claim_text=claim.claim_text,
        support_level=claim.support_level,
    )
