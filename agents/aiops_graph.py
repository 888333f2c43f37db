"""The alert graph on one page: the picture, where each node leads, and the bounds.

    START → SUPERVISOR → DISCOVERY       a patrol's look for active alerts, once
             ↑  │  ├───→ AIOPS_PLANNER   once a round, at most 3 rounds
             │  │  └───→ AIOPS_EXECUTOR
             └──┼───────────┘ each leads back
                ↓
            GATEKEEPER → VERIFIED_INPUT → RULE_EVALUATION → REPORT → END      any node → FALLBACK → END

Technical retries, take-over by the offline backend, caps and Stop are the walker's (agents/graph.py). No model verifies
and none writes: verdict and report are made in code of what passed the gate.
"""

from __future__ import annotations

from agents.contracts import RunOutcome
from agents.cut_short import brought_to_end
from agents.deps import RunDeps
from agents.graph import END, Graph, Node, Route
from agents.nodes import (
    aiops_executor,
    aiops_fallback,
    aiops_planner,
    discovery,
    gatekeeper,
    report,
    rule_evaluation,
    supervisor,
    verified_input,
)
from agents.state import RunState, dump_state
from storage.trace import Lease

START = supervisor.NODE
FALLBACK = aiops_fallback.NODE


async def triage(lease: Lease, state: RunState, deps: RunDeps) -> RunOutcome:
    """Walk from the state's next node to the end and record it. Raises LeaseLost and CutShort alone."""
    assert lease == deps.lease
    return await brought_to_end(AIOPS_GRAPH, state, deps)


def after_supervisor(state: RunState) -> Route[RunState]:
    if state.executor_parse_status.status == "valid":
        return Route(gatekeeper.NODE, "finish", state)
    if state.mode == "AUTO_DISCOVERY" and not state.alerts:
        return Route(discovery.NODE, "discover", state)
    if state.aiops_plan is None:
        return Route(aiops_planner.NODE, f"round {state.round}", state)
    return Route(aiops_executor.NODE, "ok", state)


def back_to_supervisor(state: RunState) -> Route[RunState]:
    return Route(supervisor.NODE, "ok", state)


def after_gatekeeper(state: RunState) -> Route[RunState]:
    return Route(verified_input.NODE, "ok", state)


def after_verified_input(state: RunState) -> Route[RunState]:
    return Route(rule_evaluation.NODE, "ok", state)


def after_rule_evaluation(state: RunState) -> Route[RunState]:
    return Route(report.NODE, "ok", state)


def after_report(state: RunState) -> Route[RunState]:
    return Route(END, "ok", state)


def after_fallback(state: RunState) -> Route[RunState]:
    return Route(END, state.walk.ending, state)


AIOPS_GRAPH: Graph[RunState] = Graph(
    nodes={
        supervisor.NODE: Node(supervisor.run, after_supervisor),
        discovery.NODE: Node(discovery.run, back_to_supervisor),
        aiops_planner.NODE: Node(aiops_planner.run, back_to_supervisor),
        aiops_executor.NODE: Node(aiops_executor.run, back_to_supervisor),
        gatekeeper.NODE: Node(gatekeeper.run, after_gatekeeper),
        verified_input.NODE: Node(verified_input.run, after_verified_input),
        rule_evaluation.NODE: Node(rule_evaluation.run, after_rule_evaluation),
        report.NODE: Node(report.run, after_report),
        aiops_fallback.NODE: Node(aiops_fallback.run, after_fallback),
    },
    fallback=FALLBACK,
    dump=dump_state,
)
