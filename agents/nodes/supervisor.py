"""Supervisor: decides in code whether the report can be written or another round would add to it."""

from __future__ import annotations

from agents.aiops_rounds import another_round
from agents.deps import RunDeps
from agents.state import RunState

NODE = "SUPERVISOR"


async def run(state: RunState, deps: RunDeps) -> RunState:
    """Before a round is done there is nothing to decide: what is missing comes next."""
    if state.executor_parse_status.status != "valid":
        return state
    spent = deps.ledger.is_half_spent
    return (None if spent else another_round(state, deps.door.invocations(), deps.replies)) or state
