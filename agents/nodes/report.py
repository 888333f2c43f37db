"""Report: what was proven about the alert, written by code."""

from __future__ import annotations

from agents.aiops_answer import answered
from agents.deps import RunDeps
from agents.state import RunState

NODE = "REPORT"


async def run(state: RunState, deps: RunDeps) -> RunState:
    return answered(state, deps)
