"""Verified input: only what passed goes on; the full tool trace and the executor's other words stay behind."""

from __future__ import annotations

from dataclasses import replace

from agents.contracts import Claim, VerifiedClaim
from agents.deps import RunDeps
from agents.state import RunState

NODE = "VERIFIED_INPUT"


async def run(state: RunState, _: RunDeps) -> RunState:
    assert state.executor_output is not None
    assert state.gatekeeper_result is not None
    passed = set(state.gatekeeper_result.passed_claim_ids)
    demoted = {claim.claim_id for claim in state.demoted_claims}
    claims = [_projected(c) for c in state.executor_output.claims if c.claim_id in passed and c.claim_id not in demoted]
    kept = (*claims, *state.demoted_claims)
    names = {claim.claim_id for claim in kept}
    return replace(
        state,
        verified_claims=kept,
        verified_evidence=tuple(proof for proof in state.passed_evidence if proof.claim_id in names),
    )


def _projected(claim: Claim) -> VerifiedClaim:
    return VerifiedClaim(
        claim_id=claim.claim_id,
        claim_type=claim.claim_type,
        claim_text=claim.claim_text,
        support_level=claim.support_level,
    )
