"""Supervisor: decides in code whether the report can be written or another round would add to it."""

from __future__ import annotations

from agents.aiops_rounds import another_round
from agents.deps import RunDeps
from agents.state import RunState

NODE = "SUPERVISOR"


async def run(state: RunState, deps: RunDeps) -> RunState:
    """Before a round is done there is nothing to decide: what is missing comes next."""
    if state.executor_parse_status.status != "valid" or _is_spent(state, deps):
        return state
    return another_round(state, deps.door.invocations(), deps.replies) or state


def _is_spent(state: RunState, deps: RunDeps) -> bool:
    """Whether a further round would end at a cap, and a report in hand with it: a run that is cut short is a REJECT."""
    calls_left = deps.door.max_calls - len(deps.door.invocations())
    is_late = 2 * deps.ledger.remaining_seconds() < state.deadline_seconds
    return calls_left <= 0 or is_late or deps.ledger.is_half_spent
