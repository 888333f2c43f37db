"""Gatekeeper: code that checks every quote against this run's recorded tool output. No model, no second chance."""

from __future__ import annotations

from dataclasses import replace

from agents.citations import evidence_of
from agents.deps import RunDeps
from agents.gate import check_claims
from agents.state import RunState

NODE = "GATEKEEPER"


async def run(state: RunState, deps: RunDeps) -> RunState:
    """Sees the executor's output and this run's refs. Round 2 checks round 1's claims again: same refs, same result."""
    assert state.executor_output is not None
    evidence = evidence_of(deps.door.invocations(), state.run_id)
    report = check_claims(state.executor_output.claims, evidence, state.run_id)
    return replace(
        state,
        gatekeeper_result=report.result,
        passed_evidence=(*report.evidence, *(proof for demotion in report.demoted for proof in demotion.evidence)),
        demoted_claims=tuple(fact for demotion in report.demoted for fact in demotion.facts),
        demoted=tuple(demotion.hypothesis for demotion in report.demoted),
    )
