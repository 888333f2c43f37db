"""The walker: one node after the other, inside the run's caps, with a checkpoint after each.

It knows no node by name. A graph says which nodes there are, where each leads, and which one ends a run that cannot go
on; whatever happens, the walk reaches an end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

from agents.contracts import ParseStatus, Transition
from agents.deps import RunDeps
from agents.errors import ContractBroken, LimitReached, ModelRefused, ModelTimedOut, ModelUnavailable, RunCancelled
from agents.events import RunEvent
from agents.state import Walk
from storage.errors import LeaseLost, StorageUnavailable

END = "END"
# Two rounds of six nodes, and four models that each fail twice and are taken over: 24. Then the fallback.
MAX_EXECUTIONS = 25
BACKOFF_SECONDS = 1.0


class Walkable(Protocol):
    """What the walker needs of a state."""

    @property
    def run_id(self) -> str: ...

    @property
    def walk(self) -> Walk: ...

    def with_walk(self, walk: Walk) -> Self: ...


State = TypeVar("State", bound=Walkable)


@dataclass(frozen=True)
class Route(Generic[State]):
    """Where to go next, why, and with which state."""

    target: str
    reason: str
    state: State


@dataclass(frozen=True)
class Node(Generic[State]):
    """`run` does the work, `after` chooses the way. `served_without_model`: code alone can take its place."""

    run: Callable[[State, RunDeps], Awaitable[State]]
    after: Callable[[State], Route[State]]
    served_without_model: bool = False


@dataclass(frozen=True)
class Graph(Generic[State]):
    """`fallback` calls no model and cannot fail for want of one. `terminal` nodes lead to END."""

    nodes: Mapping[str, Node[State]]
    fallback: str
    dump: Callable[[State], str]


async def walk(graph: Graph[State], state: State, deps: RunDeps) -> State:
    """From the state's next node to END. Raises LeaseLost and StorageUnavailable: the run is then somebody else's."""
    keeper = _Keeper(deps)
    async with keeper:
        while state.walk.next_node != END:
            state = await _one_node(graph, state, deps, keeper)
            if state.walk.next_node != END:
                await deps.db.call(
                    deps.store.checkpoint,
                    deps.lease,
                    graph.dump(state),
                    state.walk.next_node,
                    deps.limits.lease_seconds,
                )
    return state


async def _one_node(graph: Graph[State], state: State, deps: RunDeps, keeper: _Keeper) -> State:
    name = state.walk.next_node
    deps.tell(RunEvent(state.run_id, "node_started", name))
    if name == graph.fallback:
        return _finished(graph, name, await graph.nodes[name].run(state, deps), deps)
    try:
        return await _attempt(graph, state, deps, keeper)
    except LimitReached as error:
        return _ended(graph, state, name, error.reason, f"limit:{error.reason}")
    except RunCancelled:
        return _ended(graph, state, name, "cancelled", "cancelled")


async def _attempt(graph: Graph[State], state: State, deps: RunDeps, keeper: _Keeper) -> State:
    name = state.walk.next_node
    _check_caps(state, deps)
    try:
        done = await keeper.guard(graph.nodes[name].run(state, deps))
    except (ModelUnavailable, ContractBroken, ModelRefused) as error:
        return await _after_failure(graph, state, deps, keeper, error)
    return _finished(graph, name, done, deps)


def _finished(graph: Graph[State], name: str, state: State, deps: RunDeps) -> State:
    deps.tell(RunEvent(state.run_id, "node_finished", name))
    route = graph.nodes[name].after(state)
    return _stepped(route.state, name, route.target, route.reason)


def _check_caps(state: Walkable, deps: RunDeps) -> None:
    if state.walk.executions >= MAX_EXECUTIONS:
        raise LimitReached("steps", f"{MAX_EXECUTIONS} node executions are spent")
    deps.ledger.check()


async def _after_failure(
    graph: Graph[State], state: State, deps: RunDeps, keeper: _Keeper, error: Exception
) -> State:
    """Try the node again while its budget lasts, then let code take its place, then end."""
    name, kind = state.walk.next_node, _kind(error)
    state = state.with_walk(_with_failure(state.walk, error))
    wait = _wait(error, state.walk.failures[name])
    if _may_try_again(state.walk, error, wait, deps) and not isinstance(error, ModelRefused):
        deps.tell(RunEvent(state.run_id, "retry", name, str(error), ok=False))
        await keeper.guard(deps.sleep(wait))
        return _stepped(state, name, name, f"technical_retry:{kind}")
    if name not in state.walk.taken_over and (deps.offline or graph.nodes[name].served_without_model):
        deps.tell(RunEvent(state.run_id, "degraded", name, str(error), ok=False))
        walked = replace(state.walk, taken_over=(*state.walk.taken_over, name))
        return _stepped(state.with_walk(walked), name, name, f"degraded:{kind}")
    return _ended(graph, state, name, "model", f"failed:{kind}")


def _with_failure(walked: Walk, error: Exception) -> Walk:
    name = walked.next_node
    failures = {**walked.failures, name: walked.failures.get(name, 0) + 1}
    if not isinstance(error, ContractBroken):
        return replace(walked, failures=failures)
    status = ParseStatus(status=error.status, detail=str(error))
    return replace(walked, failures=failures, broken={**walked.broken, name: status})


def _may_try_again(walked: Walk, error: Exception, wait: float, deps: RunDeps) -> bool:
    """Within the node's budget and the deadline, and while another call that hangs would leave the other nodes some time;
    code that failed once fails again."""
    name = walked.next_node
    needed = deps.limits.model_seconds if isinstance(error, ModelTimedOut) else 0.0
    left = deps.ledger.remaining_seconds() - wait
    within = walked.failures[name] <= deps.limits.technical_retries and left > needed
    return within and name not in walked.taken_over


def _wait(error: Exception, failures: int) -> float:
    if not isinstance(error, ModelUnavailable):
        return 0.0
    return error.retry_after_seconds if error.retry_after_seconds is not None else BACKOFF_SECONDS * failures


def _kind(error: Exception) -> str:
    kinds = {ModelUnavailable: "unavailable", ModelTimedOut: "unavailable", ModelRefused: "refused"}
    return kinds.get(type(error), "bad_output")


def _ended(graph: Graph[State], state: State, source: str, ending: str, reason: str) -> State:
    walked = replace(state.walk, ending=ending)
    return _stepped(state.with_walk(walked), source, graph.fallback, reason)


def _stepped(state: State, source: str, target: str, reason: str) -> State:
    walked = state.walk
    step = Transition(source=source, target=target, reason=reason)
    return state.with_walk(
        replace(
            walked,
            next_node=target,
            executions=walked.executions + 1,
            transitions=(*walked.transitions, step),
        )
    )


Work = TypeVar("Work")


class _Keeper:
    """Holds the lease while nodes run and looks for Stop each second; either ends the node's work at once."""

    def __init__(self, deps: RunDeps) -> None:
        self._deps = deps
        self._alarm: asyncio.Future[None] | None = None
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._alarm = asyncio.get_running_loop().create_future()
        self._watch = asyncio.create_task(self._keep(self._alarm))

    async def __aexit__(self, *_: object) -> None:
        assert self._watch is not None
        assert self._alarm is not None
        await _stopped(self._watch)
        if self._alarm.done():
            self._alarm.exception()  # seen, or the loop complains of a lost error
        else:
            self._alarm.cancel()

    async def guard(self, work: Awaitable[Work]) -> Work:
        """The work's result, unless the deadline passes, Stop is pressed or the lease goes first."""
        assert self._alarm is not None
        task = asyncio.ensure_future(work)
        try:
            seconds = max(self._deps.ledger.remaining_seconds(), 0.0)
            await asyncio.wait((task, self._alarm), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
        finally:
            await _stopped(task)
        if self._alarm.done():
            self._alarm.result()
        raise LimitReached("seconds", "the run's time ended while a node worked")

    async def _keep(self, alarm: asyncio.Future[None]) -> None:
        deps, since_renewal = self._deps, 0.0
        while True:
            await asyncio.sleep(deps.limits.poll_seconds)
            since_renewal += deps.limits.poll_seconds
            try:
                if await deps.db.call(deps.store.cancel_requested, deps.lease.run_id):
                    raise RunCancelled("Stop was pressed")
                if since_renewal >= deps.limits.lease_seconds / 3:
                    await deps.db.call(deps.store.renew, deps.lease, deps.limits.lease_seconds)
                    since_renewal = 0.0
            except StorageUnavailable:
                continue  # the lease outlasts a short absence, and a long one fails the node's own writes
            except (RunCancelled, LeaseLost) as error:
                if not alarm.done():
                    alarm.set_exception(error)
                return


async def _stopped(task: asyncio.Future[Any]) -> None:
    if task.done():
        return
    task.cancel()
    await asyncio.wait((task,))
    if not task.cancelled():
        task.exception()  # seen, or the loop complains of a lost error
