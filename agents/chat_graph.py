"""The chat graph on one page: the picture, where each node leads, and the bounds.

    START → PLANNER → EXECUTOR → GATEKEEPER → VERIFIED_INPUT → VERIFIER → COMPOSER → END
               ↑                      │                            │
               └──── evidence retry, at most one in all ───────────┘      any node → FALLBACK → END

Technical retries, take-over by the offline backend, caps and Stop are the walker's (agents/graph.py).
"""

from __future__ import annotations

from agents.contracts import RunOutcome, Verdict
from agents.cut_short import brought_to_end
from agents.deps import RunDeps
from agents.evidence_retry import begin_evidence_retry
from agents.graph import END, Graph, Node, Route
from agents.nodes import composer, executor, fallback, gatekeeper, planner, verified_input, verifier
from agents.state import RunState, dump_state
from storage.trace import Lease

START = planner.NODE
FALLBACK = fallback.NODE
RETRY_BELOW = 0.7


async def diagnose(lease: Lease, state: RunState, deps: RunDeps) -> RunOutcome:
    """Walk from the state's next node to the end and record it. Raises LeaseLost and CutShort alone."""
    assert lease == deps.lease
    return await brought_to_end(CHAT_GRAPH, state, deps)


def after_planner(state: RunState) -> Route[RunState]:
    return Route(executor.NODE, "ok", state)


def after_executor(state: RunState) -> Route[RunState]:
    return Route(gatekeeper.NODE, "ok", state)


def after_gatekeeper(state: RunState) -> Route[RunState]:
    if state.anything_passed or not state.may_retry_evidence:
        return Route(verified_input.NODE, "ok", state)
    return Route(planner.NODE, "evidence_retry", begin_evidence_retry(state))


def after_verified_input(state: RunState) -> Route[RunState]:
    return Route(verifier.NODE, "ok", state)


def after_verifier(state: RunState) -> Route[RunState]:
    assert state.decision is not None
    unsure = state.decision.verdict is Verdict.LOW_CONFID and state.decision.groundedness_score < RETRY_BELOW
    if unsure and state.may_retry_evidence:
        return Route(planner.NODE, "evidence_retry", begin_evidence_retry(state))
    return Route(composer.NODE, "ok", state)


def after_composer(state: RunState) -> Route[RunState]:
    return Route(END, "ok", state)


def after_fallback(state: RunState) -> Route[RunState]:
    return Route(END, state.walk.ending, state)


CHAT_GRAPH: Graph[RunState] = Graph(
    nodes={
        planner.NODE: Node(planner.run, after_planner),
        executor.NODE: Node(executor.run, after_executor),
        gatekeeper.NODE: Node(gatekeeper.run, after_gatekeeper),
        verified_input.NODE: Node(verified_input.run, after_verified_input),
        verifier.NODE: Node(verifier.run, after_verifier, served_without_model=True),
        composer.NODE: Node(composer.run, after_composer),
        fallback.NODE: Node(fallback.run, after_fallback),
    },
    fallback=FALLBACK,
    dump=dump_state,
)
