"""A run whose own database takes no more: what it has proven is told all the same, without being stored."""

from __future__ import annotations

from dataclasses import replace

from agents.contracts import RunOutcome
from agents.deps import RunDeps
from agents.graph import END, Graph, walk
from agents.outcome import finish, outcome_of
from agents.state import RunState, StateUnreadable, load_state
from storage.errors import StorageError, StorageUnavailable

ENDING = "storage"


class CutShort(StorageUnavailable):
    """The disk is full, or the database is away. The run stays as it was stored last and can be resumed. `so_far` is
    what is proven by now; its answer is whole where only the end could not be stored."""

    def __init__(self, message: str, so_far: RunOutcome) -> None:
        super().__init__(message)
        self.so_far = so_far


async def brought_to_end(graph: Graph[RunState], state: RunState, deps: RunDeps) -> RunOutcome:
    """Walk from the state's next node to the end and record it. Raises LeaseLost and CutShort alone."""
    last = state
    try:
        last = await walk(graph, state, deps)
        return await finish(last, deps)
    except StorageUnavailable as error:
        raise CutShort(str(error), await _so_far(graph, last, deps)) from error


async def _so_far(graph: Graph[RunState], state: RunState, deps: RunDeps) -> RunOutcome:
    """As a cap would end the run: of its last checkpoint, and of the look-ups that have answered since."""
    if state.walk.next_node != END:
        state = await _stored(state, deps)
        state = state.with_walk(replace(state.walk, ending=ENDING))
        state = await graph.nodes[graph.fallback].run(state, deps)
    return outcome_of(state, deps)


async def _stored(state: RunState, deps: RunDeps) -> RunState:
    """A full disk can be read still; of a database that is away nothing is known but the beginning."""
    try:
        row = await deps.db.call(deps.store.run, state.run_id)
        return load_state(row.state)
    except (StorageError, StateUnreadable):
        return state
