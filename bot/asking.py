"""One question from the terminal: session, history, run, and what Ctrl-C does."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from agents.contracts import HistoryTurn, RunOutcome
from agents.events import OnEvent
from agents.state import RunRequest
from bot.app import App
from bot.errors import ConfigError
from bot.jobs import RunNotClaimed, execute, submit
from storage.trace import Run

HISTORY_RUNS = 5


@dataclass(frozen=True)
class Question:
    """`session_id` None opens a new conversation; `history` stands in where there is no stored one."""

    text: str
    language: str
    zone: str
    now: datetime
    session_id: str | None = None
    history: tuple[HistoryTurn, ...] = ()


async def ask(
    app: App, question: Question, on_event: OnEvent, on_stop: Callable[[], None] = lambda: None
) -> RunOutcome:
    """`on_stop` is told of a first Ctrl-C. Raises ConfigError for a session that does not exist, and storage's errors."""
    history = await _history(app, question.session_id) if question.session_id else question.history
    request = RunRequest(
        session_id=question.session_id or uuid4().hex,
        question=question.text,
        language=question.language,
        zone=question.zone,
        now=question.now,
        history=history,
        deadline_seconds=app.settings.max_seconds,
    )
    return await carried_out(app, request, on_event, on_stop)


async def carried_out(
    app: App, request: RunRequest, on_event: OnEvent, on_stop: Callable[[], None] = lambda: None
) -> RunOutcome:
    """The request's run, from its start to its end. `on_stop` is told of a first Ctrl-C. Raises storage's errors."""
    run_id = await submit(request, app.work)
    with _interrupts_cancel(app, run_id, on_stop):
        return await execute(run_id, app.work, on_event)


async def resume(app: App, run_id: str, on_event: OnEvent, on_stop: Callable[[], None] = lambda: None) -> RunOutcome:
    """Finish a run whose process is gone. Its deadline stays: after that it ends with what was proven.

    Raises ConfigError for a run that somebody works on, that has ended or that belongs to Slack, and storage's errors.
    """
    run = await app.database.call(app.store.run, run_id)
    session = await app.database.call(app.sessions.get, run.session_id)
    if session is not None and session.channel:
        raise ConfigError(f"Run {run_id} was asked for in Slack: proofthread serve takes it up by itself and answers there.")
    with _interrupts_cancel(app, run_id, on_stop):
        try:
            return await execute(run_id, app.work, on_event)
        except RunNotClaimed as error:
            raise ConfigError(_not_claimed(run) or str(error)) from error


def _not_claimed(run: Run) -> str:
    if run.finished_at is not None or run.lease_until is None:
        return f"Run {run.run_id} has ended ({run.status}): proofthread trace {run.run_id} shows it." if run.finished_at else ""
    until = f"{run.lease_until:%H:%M:%S} UTC"
    return f"Run {run.run_id} is being worked on. If that process is gone, its claim ends at {until}: try again then."


async def _history(app: App, session_id: str) -> tuple[HistoryTurn, ...]:
    if await app.database.call(app.sessions.get, session_id) is None:
        raise ConfigError(f"No session has the id {session_id!r}: take it from `proofthread trace`, or leave it out.")
    runs = await app.database.call(app.sessions.runs, session_id)
    return tuple(turn for run in runs[-HISTORY_RUNS:] for turn in _turns(run))


def _turns(run: Run) -> Iterator[HistoryTurn]:
    yield HistoryTurn(role="user", text=run.query)
    if run.answer:
        yield HistoryTurn(role="assistant", text=run.answer, run_id=run.run_id)


def nothing_to_look_at(app: App) -> bool:
    """No logs, metrics, changes or orders are configured: nothing about the system can be proven."""
    tools = app.tools
    sources = (tools.logs, tools.prometheus, tools.business, tools.changes)
    return not any(sources) and not any(spec.origin == "external" for spec in app.registry.offered(tools))


@contextmanager
def _interrupts_cancel(app: App, run_id: str, on_stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C stops the run, which then says what is proven; a second one ends the program."""
    loop = asyncio.get_running_loop()
    pending: set[asyncio.Task[None]] = set()

    def stop() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        on_stop()
        pending.add(asyncio.ensure_future(app.database.call(app.store.request_cancel, run_id)))

    # Only the main thread of a process can be told of signals.
    with suppress(ValueError, RuntimeError, NotImplementedError):
        loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        with suppress(ValueError, RuntimeError, NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)
