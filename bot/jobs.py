"""Jobs: a request becomes a stored run; a stored run becomes an outcome, by whichever process claims it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel

from agents import aiops_graph, chat_graph
from agents.contracts import AiopsMode, KnowledgeDomain, RunOutcome, SkillCard
from agents.deps import RunDeps
from agents.events import OnEvent, ignore_event
from agents.ledger import Ledger, RunLimits
from agents.llm import RoleModels
from agents.llm.base import Model, ToolOffer
from agents.prompts import Prompts
from agents.replies import Replies
from agents.state import RunRequest, RunState, StateUnreadable, dump_state, first_state, load_state
from bot.run_alerts import bounded_alerts
from storage.audience import PUBLIC, Audience
from storage.change_events import ChangeEvents
from storage.engine import Database
from storage.errors import StorageError
from storage.sessions import SessionStore
from storage.trace import Lease, NewRun, Run, RunResult, Step, StoredInvocation, TraceStore
from tools.contracts import CallContext, ToolDeps, ToolSpec
from tools.invoke import ToolDoor, ToolLimits
from tools.posted_changes import PostedChanges
from tools.redaction import Redactor
from tools.registry import ToolRegistry

MAX_QUESTION_CHARS = 8_000

Complete = Callable[[RunState], Awaitable[RunState]]
Bring = Callable[[Lease, RunState, RunDeps], Awaitable[RunOutcome]]

log = logging.getLogger(__name__)


class RequestRefused(Exception):
    """The request cannot become a run. The message says what to change."""


class RunNotClaimed(Exception):
    """Somebody else has the run, or it has ended."""


class RunUnreadable(RunNotClaimed):
    """No program can take the run up again: this process has ended it."""


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return uuid4().hex


@dataclass(frozen=True)
class Workplace:
    """What lives as long as the process: stores, tools, models, texts. Made once, by bot/app.py.

    `offline` takes over nodes whose model fails; it may be the run's own. `names` are hosts and sources from the
    settings that an answer's gaps may name, `ignored_alerts` patterns of names that no patrol looks into. Clock, sleep and ids are given by tests.
    """

    db: Database
    registry: ToolRegistry
    tools: ToolDeps
    models: RoleModels
    offline: Model | None
    prompts: Prompts
    replies: Replies
    owner: str
    redactor: Redactor = field(default_factory=Redactor)
    limits: RunLimits = field(default_factory=RunLimits)
    tool_limits: ToolLimits = field(default_factory=ToolLimits)
    names: tuple[str, ...] = ()
    ignored_alerts: tuple[str, ...] = ()
    clock: Callable[[], datetime] = _now
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    new_id: Callable[[], str] = _new_id


@dataclass(frozen=True)
class _Flow:
    """A graph as jobs need it: where a run begins, where one ends that cannot go on, and what brings it there."""

    start: str
    fallback: str
    bring: Bring


_CHAT = _Flow(chat_graph.START, chat_graph.FALLBACK, chat_graph.diagnose)
_AIOPS = _Flow(aiops_graph.START, aiops_graph.FALLBACK, aiops_graph.triage)


def _flow(mode: AiopsMode | None) -> _Flow:
    """An alert's run is the one that has a mode."""
    return _CHAT if mode is None else _AIOPS


async def submit(request: RunRequest, place: Workplace) -> str:
    """Store a QUEUED run and give its id.

    Raises RequestRefused and storage's errors. The session is opened where it does not exist.
    """
    new = new_run(request, place)
    await place.db.call(_store_run, place.db, request, new)
    return new.run_id


def new_run(request: RunRequest, place: Workplace, run_id: str | None = None) -> NewRun:
    """A QUEUED run as it is stored, wherever the request came from. Secrets in the question and the history are masked.
    `run_id` is given where its place was taken before.

    Raises RequestRefused.
    """
    request = _checked(request, place.redactor)
    run_id = run_id or place.new_id()
    start = _flow(request.mode).start
    state = first_state(request, run_id, fence=place.new_id()[:12], start=start)
    return NewRun(
        run_id=run_id,
        session_id=request.session_id,
        agent_flow=request.agent_flow,
        query=request.question,
        language=request.language,
        zone=request.zone,
        state=dump_state(state),
        next_node=start,
        deadline_seconds=request.deadline_seconds,
    )


async def execute(
    run_id: str, place: Workplace, on_event: OnEvent = ignore_event, complete: Complete | None = None
) -> RunOutcome:
    """Claim the run, take it up where it stands, and bring it to its end.

    `complete` gives a run that has not begun what could not be known when it was stored: a thread is read by whoever
    works on the run, not by the listener that Slack waits for.

    Raises RunNotClaimed, LeaseLost (another process has taken it over: be silent) and StorageError (the run stays and
    can be resumed). Whatever else goes wrong inside ends the run with what is proven.
    """
    store = TraceStore(place.db)
    # Who is stopped while it claims must know whether it did, so as to hand the run over.
    taken = await place.db.call_to_end(_taken, store, run_id, place)
    if taken is None:
        raise RunNotClaimed(f"run {run_id} is being worked on elsewhere or has ended")
    lease = taken.lease
    state, deps = await _open(taken, store, place, on_event)
    try:
        whole = await _completed(state, deps, complete)
        if whole.additions != state.additions:
            # What is offered depends on what was added.
            again = await place.db.call(_stored, store, lease, place)
            _, deps = await _open(again, store, place, on_event)
        return await _flow(whole.mode).bring(lease, whole, deps)
    except StorageError:
        raise
    except Exception:
        log.exception("run %s failed", run_id)
        return await _rescued(lease, deps)


async def ask(request: RunRequest, place: Workplace, on_event: OnEvent = ignore_event) -> RunOutcome:
    """Submit and execute in one go: what a terminal does."""
    return await execute(await submit(request, place), place, on_event)


# ---------------------------------------------------------------- submitting


def _checked(request: RunRequest, redactor: Redactor) -> RunRequest:
    question = request.question.encode("utf-8", "replace").decode().strip()
    if not question:
        raise RequestRefused("The question is empty. Ask about a service, an error or an alert.")
    if len(question) > MAX_QUESTION_CHARS:
        raise RequestRefused(
            f"The question has {len(question):,} characters; {MAX_QUESTION_CHARS:,} is the limit. Shorten it, "
            "or put the logs where query_logs can read them."
        )
    if not _is_zone(request.zone):
        raise RequestRefused(f"{request.zone!r} is no time zone; write one like Europe/Berlin or Asia/Shanghai.")
    _check_flow(request)
    history = tuple(turn.model_copy(update={"text": redactor.text(turn.text)}) for turn in request.history)
    additions = tuple(one.model_copy(update={"text": _masked(one.text, redactor)}) for one in request.additions)
    alerts = bounded_alerts(request.alerts, redactor)
    return replace(request, question=redactor.text(question), history=history, additions=additions, alerts=alerts)


def _check_flow(request: RunRequest) -> None:
    if (request.agent_flow == "AI_OPS") != (request.mode is not None):
        raise RequestRefused("An AI_OPS run needs a mode, PAYLOAD_TARGETED or AUTO_DISCOVERY; a chat run has none.")
    if request.mode == "PAYLOAD_TARGETED" and not request.alerts:
        raise RequestRefused("There is no alert to look into. Send a firing alert, or use the mode AUTO_DISCOVERY.")


def _masked(text: str, redactor: Redactor) -> str:
    """Line by line: a key may run over many."""
    return "\n".join(redactor.lines(text.splitlines()))


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _store_run(db: Database, request: RunRequest, new: NewRun) -> None:
    sessions = SessionStore(db)
    if sessions.get(request.session_id) is None:
        sessions.open_terminal(request.session_id, request.language, request.zone)
    TraceStore(db).create_run(new)


# ---------------------------------------------------------------- executing


@dataclass(frozen=True)
class _Taken:
    """A claimed run as it stands in the database, with the trace of earlier attempts."""

    lease: Lease
    row: Run
    steps: list[Step]
    calls: list[StoredInvocation]
    audience: Audience
    posted: PostedChanges | None


def _taken(store: TraceStore, run_id: str, place: Workplace) -> _Taken | None:
    """Claimed and read in one change of thread; None where another has it or it has ended."""
    lease = store.claim(run_id, place.owner, place.limits.lease_seconds)
    return None if lease is None else _stored(store, lease, place)


def _stored(store: TraceStore, lease: Lease, place: Workplace) -> _Taken:
    row = store.run(lease.run_id)
    session = SessionStore(place.db).get(row.session_id)
    audience = Audience(session.team, session.channel) if session else PUBLIC
    # Whether there is anything to read is decided for the whole run: a later attempt is offered the same tools.
    posted = PostedChanges(place.db) if ChangeEvents(place.db).has_any(audience, row.created_at) else None
    if lease.attempt == 1:  # there is no trace to read
        return _Taken(lease, row, [], [], audience, posted)
    return _Taken(lease, row, store.steps(lease.run_id), store.invocations(lease.run_id), audience, posted)


async def _open(taken: _Taken, store: TraceStore, place: Workplace, on_event: OnEvent) -> tuple[RunState, RunDeps]:
    """The run as it stands, and what its nodes may reach: every step and call of earlier attempts included."""
    lease, row = taken.lease, taken.row
    try:
        state = load_state(row.state)
    except StateUnreadable as error:
        # A run that no program can take up again ends, or every worker would try it for ever.
        await place.db.call(store.finish_run, lease, RunResult.failed(str(error), "state_unreadable", row.state))
        raise RunUnreadable(f"{error}. The run was ended; ask again to start a new one.") from error
    tools = replace(place.tools, additions=state.additions, posted_changes=taken.posted)
    specs = place.registry.offered(tools)
    context = CallContext(run_id=state.run_id, now=state.now, zone=ZoneInfo(state.zone), audience=taken.audience)
    door = ToolDoor(
        place.registry,
        tools,
        context,
        store,
        place.db,
        lease,
        state.session_id,
        place.tool_limits,
        taken.calls,
        redactor=place.redactor,
    )
    return state, RunDeps(
        lease=lease,
        store=store,
        db=place.db,
        door=door,
        models=place.models,
        offline=place.offline if place.models.uses_model else None,
        without_model=place.offline,
        prompts=place.prompts,
        replies=place.replies,
        ledger=Ledger(taken.steps, place.limits, lease.deadline, place.clock),
        clock=place.clock,
        sleep=place.sleep,
        limits=place.limits,
        offers=tuple(_offer(spec) for spec in specs),
        skills=tuple(SkillCard(name=card.name, description=card.description) for card in place.tools.skills.cards()),
        domains=await _domains(place.tools),
        levels={spec.name: spec.evidence_level for spec in specs},
        names=place.names,
        ignored_alerts=place.ignored_alerts,
        on_event=on_event,
    )


async def _completed(state: RunState, deps: RunDeps, complete: Complete | None) -> RunState:
    """Stored before anything is made of it, so that a resumed run replays the same question and history."""
    if complete is None or state.history or state.walk.executions:
        return state
    whole = await complete(state)
    if whole != state:
        lease, store, seconds = deps.lease, deps.store, deps.limits.lease_seconds
        await deps.db.call(store.checkpoint, lease, dump_state(whole), whole.walk.next_node, seconds)
    return whole


async def _domains(tools: ToolDeps) -> tuple[KnowledgeDomain, ...]:
    """The knowledge map as it stands now; a knowledge base that is away leaves it empty, and lookup_knowledge says why."""
    if tools.retriever is None:
        return ()
    try:
        found = await tools.retriever.domains()
    except StorageError as error:
        log.warning("knowledge domains cannot be read: %s", error)
        return ()
    return tuple(
        KnowledgeDomain(
            domain_id=domain.domain_id,
            description=domain.description,
            when_to_retrieve=domain.when_to_retrieve,
            document_count=domain.document_count,
        )
        for domain in found
    )


def _offer(spec: ToolSpec) -> ToolOffer:
    return ToolOffer(
        name=spec.name,
        description=spec.description,
        parameters=_parameters(spec.input_model),
        origin=spec.origin,
        gives_evidence=spec.gives_evidence,
    )


@lru_cache(maxsize=256)
def _parameters(model: type[BaseModel]) -> dict[str, Any]:
    """A schema costs more to make than a row to write, and a model's never changes."""
    return model.model_json_schema()


async def _rescued(lease: Lease, deps: RunDeps) -> RunOutcome:
    """A fault of ours ends the run as any cap does: from the last checkpoint, with what is proven."""
    row = await deps.db.call(deps.store.run, lease.run_id)
    last = load_state(row.state)
    flow = _flow(last.mode)
    ended = last.with_walk(replace(last.walk, ending="error", next_node=flow.fallback))
    return await flow.bring(lease, ended, deps)
