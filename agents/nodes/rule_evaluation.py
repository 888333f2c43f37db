"""Rule evaluation: focus, tools, claims, cause, actions; the verdict on an alert's run follows from them."""

from __future__ import annotations

from dataclasses import replace

from agents.aiops_evaluation import evaluated
from agents.deps import RunDeps
from agents.state import RunState

NODE = "RULE_EVALUATION"


async def run(state: RunState, deps: RunDeps) -> RunState:
    return replace(state, rule_evaluation=evaluated(state, deps.door.invocations()))
