"""Gatekeeper: code that checks every quote against this run's recorded tool output. No model, no second chance."""

from __future__ import annotations

from agents.deps import RunDeps
from agents.gating import gated
from agents.state import RunState

NODE = "GATEKEEPER"


async def run(state: RunState, deps: RunDeps) -> RunState:
    """Sees the executor's output and this run's refs, nothing else."""
    return gated(state, deps.door.invocations())
