"""The one door to tools: checks, runs, caps, redacts and records every call. The only writer of tool_invocation."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from storage.errors import StorageError
from storage.trace import InvocationResult, NewInvocation
from tools.arguments import compiled_call, validated
from tools.caps import Budget, ToolLimits, bounded
from tools.contracts import CallContext, EvidenceStatus, ToolDeps, ToolResult, ToolSpec
from tools.errors import ToolBudgetSpent, ToolConfigError, ToolFailed
from tools.invocation import (
    CallKey,
    Invocation,
    arguments_hash,
    canonical,
    from_stored,
    preview,
    retrieval_details,
)
from tools.outcomes import Outcomes, RecordedCall, ReplayKey, deduped
from tools.redaction import Redactor
from tools.registry import ToolRegistry

if TYPE_CHECKING:
    from storage.engine import Database
    from storage.trace import Lease, StoredInvocation, TraceStore

__all__ = ["CallKey", "Invocation", "ToolDoor", "ToolLimits"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Prepared:
    spec: ToolSpec
    input: BaseModel
    compiled: str


class ToolDoor:
    """The door of one attempt at a run. `finished` are the run's stored invocations: finished ones are replayed when the
    same call comes again, unfinished and stopped ones are run again.

    A call that fails, times out or is refused is an answer (`error`), never an exception. `call` raises ToolBudgetSpent,
    storage's own errors (LeaseLost, StorageUnavailable) and CancelledError.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        deps: ToolDeps,
        context: CallContext,
        store: TraceStore,
        db: Database,
        lease: Lease,
        session_id: str,
        limits: ToolLimits | None = None,
        finished: Sequence[StoredInvocation] = (),
        *,
        redactor: Redactor | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._registry, self._deps, self._context = registry, deps, context
        self._store, self._db, self._lease, self._session_id = store, db, lease, session_id
        self._limits = limits or ToolLimits()
        self._redactor = redactor or Redactor()
        self._outcomes = Outcomes(self._limits, self._redactor)
        self._monotonic = monotonic
        self._done: dict[ReplayKey, Invocation] = {}
        self._stopped: set[ReplayKey] = set()
        self._answered: dict[str, Invocation] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        for row in finished:
            self._remember_row(row)
        self._spent = len(self._done)

    async def call(
        self,
        key: CallKey,
        name: str,
        arguments: dict[str, Any] | None,
        *,
        step_id: int | None = None,
        raw_arguments: str = "",
    ) -> Invocation:
        call = self._recorded_form(key, name, arguments, raw_arguments, step_id)
        if call.replay_key in self._done:
            return replace(self._done[call.replay_key], replayed=True)
        self._spend()
        try:
            prepared = self._prepared(name, arguments, raw_arguments)
        except ToolFailed as error:
            row_id = await self._start(call)
            return await self._finish(call, self._outcomes.of_failure(call, row_id, str(error), 0))
        async with self._locks[prepared.compiled]:
            return await self._answer(call, prepared)

    def invocations(self) -> tuple[Invocation, ...]:
        """All finished calls of the run, earlier attempts included, by (round, sequence)."""
        return tuple(sorted(self._done.values(), key=lambda done: (done.key.round, done.key.sequence, done.id)))

    @property
    def max_calls(self) -> int:
        return self._limits.max_calls

    def select_skill(self, name: str | None) -> None:
        """From now on read_skill gives this skill: the planner's choice is not known when the door is made."""
        self._context = replace(self._context, selected_skill=name)

    # ---------------------------------------------------------------- before

    def _recorded_form(
        self, key: CallKey, name: str, arguments: dict[str, Any] | None, raw: str, step_id: int | None
    ) -> RecordedCall:
        sent = arguments if isinstance(arguments, dict) else {"unreadable_arguments": raw}
        tool_name, shown = self._redactor.value((name[:128], bounded(sent, Budget(self._limits.max_output_bytes))))
        call = RecordedCall(key, tool_name, shown, arguments_hash(tool_name, shown), step_id)
        while call.replay_key in self._stopped:  # a stopped call keeps its row; the next try has one of its own
            call = replace(call, hash=arguments_hash(call.hash, {}))
        return call

    def _spend(self) -> None:
        if self._spent >= self._limits.max_calls:
            raise ToolBudgetSpent(f"all {self._limits.max_calls} tool calls of this run are spent")
        self._spent += 1

    def _prepared(self, name: str, arguments: dict[str, Any] | None, raw_arguments: str) -> _Prepared:
        spec = self._registry.get(name)
        if spec is None:
            offered = ", ".join(offer.name for offer in self._registry.offered(self._deps))
            raise ToolFailed(f"there is no tool named {name[:128]!r}. Tools: {offered or 'none'}")
        reason = spec.unavailable(self._deps)
        if reason is not None:
            raise ToolFailed(f"{name} cannot serve: {reason}")
        arguments_model = validated(spec, arguments, raw_arguments)
        return _Prepared(spec, arguments_model, compiled_call(spec, arguments_model, self._context))

    # ---------------------------------------------------------------- the call

    async def _answer(self, call: RecordedCall, prepared: _Prepared) -> Invocation:
        row_id = await self._start(call)
        earlier = self._answered.get(prepared.compiled)
        if earlier is not None:
            return await self._finish(call, deduped(call, row_id, earlier))
        started = self._monotonic()
        try:
            result = await self._run(prepared)
            invocation = self._outcomes.of_result(call, prepared.spec, row_id, result, self._since(started))
        except asyncio.CancelledError:
            await self._record_cancelled(call, row_id, started)
            raise
        except ToolFailed as error:
            cause = str(error.__cause__ or "")
            invocation = self._outcomes.of_failure(call, row_id, str(error), self._since(started), cause)
        finished = await self._finish(call, invocation)
        if finished.error is None:
            self._answered[prepared.compiled] = finished
        return finished

    async def _run(self, prepared: _Prepared) -> ToolResult:
        """The tool's result. Whatever goes wrong becomes ToolFailed: one of the three broad borders."""
        spec = prepared.spec
        seconds = min(spec.timeout_seconds, self._limits.max_timeout_seconds)
        clock = asyncio.timeout(seconds)
        try:
            async with clock:
                result = await spec.run(prepared.input, self._deps, self._context)
                if not isinstance(result, ToolResult):
                    raise TypeError(f"{spec.name} must answer with a ToolResult, not {type(result).__name__}")
                return result
        except ToolFailed:
            raise
        except (ToolConfigError, StorageError) as error:
            raise ToolFailed(f"{spec.name} failed: {error}") from error
        except Exception as error:  # noqa: BLE001
            if clock.expired():
                advice = "Narrow the window or the filter, or go on without it"
                raise ToolFailed(f"{spec.name} timed out after {seconds:g} s. {advice}") from None
            log.error("tool %s failed in run %s: %s", spec.name, self._context.run_id, type(error).__name__)
            raise ToolFailed(
                f"{spec.name} failed unexpectedly ({type(error).__name__}); try another tool"
            ) from _traced(error)

    # ---------------------------------------------------------------- after

    def _since(self, started: float) -> int:
        return round((self._monotonic() - started) * 1000)

    # ---------------------------------------------------------------- the record

    async def _start(self, call: RecordedCall) -> int:
        row = NewInvocation(
            session_id=self._session_id,
            step_id=call.step_id,
            node=call.key.node,
            round=call.key.round,
            sequence=call.key.sequence,
            arguments_hash=call.hash,
            tool_name=call.tool_name,
            input_params=call.arguments,
        )
        return await self._db.call(self._store.start_invocation, self._lease, row)

    async def _finish(self, call: RecordedCall, invocation: Invocation) -> Invocation:
        await self._record(invocation)
        self._done[call.replay_key] = invocation
        return invocation

    async def _record(self, invocation: Invocation) -> None:
        details = invocation.details
        result = InvocationResult(
            output_preview=preview(invocation),
            output_length=len(canonical(invocation.payload)),
            retrieval_layer=details.get("retrieval_layer"),
            l0_match_count=details.get("l0_match_count"),
            l1_match_count=details.get("l1_match_count"),
            is_truncated=invocation.truncated,
            relevance_level=details.get("relevance_level"),
            dedup_reason=details.get("dedup_reason"),
            retrieval_details=retrieval_details(invocation),
            payload=invocation.payload,
            duration_ms=invocation.duration_ms,
            success=invocation.error is None,
            error_message=invocation.error,
        )
        await self._db.call(self._store.finish_invocation, self._lease, invocation.id, result)

    async def _record_cancelled(self, call: RecordedCall, row_id: int, started: float) -> None:
        """A stopped call stands in the trace, and is run again should the run be resumed."""
        said = f"{call.tool_name} was stopped before it answered"
        stopped = self._outcomes.of_failure(call, row_id, said, self._since(started))
        stopped = replace(stopped, details={"cancelled": True})
        self._stopped.add(call.replay_key)
        with suppress(StorageError):
            await asyncio.shield(self._record(stopped))

    def _remember_row(self, row: StoredInvocation) -> None:
        key = (row.node, row.round, row.sequence, row.arguments_hash)
        if not row.finished:
            return  # storage gives its row back when the call comes again
        if row.retrieval_details.get("cancelled"):
            self._stopped.add(key)
            return
        invocation = self._done[key] = from_stored(row)
        with suppress(ToolFailed):  # a tool or field that is gone since: nothing to compare later calls with
            if invocation.error is None and invocation.evidence_status is not EvidenceStatus.DEDUPED:
                prepared = self._prepared(invocation.tool_name, invocation.arguments, "")
                self._answered.setdefault(prepared.compiled, invocation)


class _Traced(Exception):
    """Carries where an unexpected error came from into the row; it is never shown to a model or a person in chat."""


def _traced(error: Exception) -> _Traced:
    return _Traced("".join(traceback.format_exception(error, limit=-6)))
