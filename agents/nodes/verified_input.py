"""Verified input: only what passed goes on; the full tool trace and the executor's other words stay behind."""

from __future__ import annotations

from agents.deps import RunDeps
from agents.gating import projected
from agents.state import RunState

NODE = "VERIFIED_INPUT"


async def run(state: RunState, _: RunDeps) -> RunState:
    return projected(state)
