"""The end of a run: its evaluations, its totals, and the value that the caller gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import timedelta

from pydantic import BaseModel

from agents.answer import actions, allowed_claims, hypotheses, missing_info
from agents.contracts import AnswerSections, OrchestrationTrace, RunOutcome, RunUsage
from agents.deps import RunDeps
from agents.evaluation import rule_evaluation, verifier_evaluation
from agents.state import RunState, Status, dump_state
from agents.trace_summary import trace_summary
from storage.trace import Lease, RunResult, TraceStore
from tools.invocation import Invocation

TRACE_VERSION = "1"
NO_SECTIONS = AnswerSections(lead="", confirmed=(), gaps=(), next_steps=())


async def finish(state: RunState, deps: RunDeps) -> RunOutcome:
    """Write self_evaluation and the run's end. Raises LeaseLost where another process has the run by now."""
    outcome = outcome_of(state, deps)
    summary = trace_summary(deps.door.invocations(), deps.levels)
    evaluations: dict[str, BaseModel] = {
        "rule_evaluation": rule_evaluation(state, summary),
        "verifier_evaluation": verifier_evaluation(state, summary),
    }
    if state.rule_evaluation is not None:
        evaluations["aiops_rule_evaluation"] = state.rule_evaluation
    await deps.db.call(_write_end, deps.store, deps.lease, evaluations, _result(outcome, state))
    return outcome


def _write_end(store: TraceStore, lease: Lease, evaluations: Mapping[str, BaseModel], result: RunResult) -> None:
    """The evaluations first: a run that has ended takes no more."""
    for key, value in evaluations.items():
        store.put_evaluation(lease.run_id, key, value.model_dump(mode="json"), lease)
    store.finish_run(lease, result)


def outcome_of(state: RunState, deps: RunDeps) -> RunOutcome:
    return RunOutcome(
        run_id=state.run_id,
        session_id=state.session_id,
        question=state.question,
        language=state.language,
        verdict=state.verdict,
        status=_status(state),
        answer=state.answer,
        sections=state.sections or NO_SECTIONS,
        claims=allowed_claims(state),
        hypotheses=hypotheses(state),
        recommended_actions=actions(state),
        missing_info=missing_info(state),
        gatekeeper_result=state.gatekeeper_result,
        verifier_output=state.decision,
        orchestration_trace=_with_window(orchestration_trace(state), deps.door.invocations()),
        usage=_usage(deps),
        duration_ms=_duration(state, deps),
        report=state.report,
    )


def orchestration_trace(state: RunState) -> OrchestrationTrace:
    walked = state.walk
    return OrchestrationTrace(
        version=TRACE_VERSION,
        transitions=walked.transitions,
        final_node=walked.transitions[-1].source if walked.transitions else "",
        termination_reason=walked.ending or "completed",
        degraded=walked.degraded,
        evidence_retry_count=walked.evidence_retries,
    )


def _with_window(trace: OrchestrationTrace, invocations: Iterable[Invocation]) -> OrchestrationTrace:
    """The asker reads here how the time words of the question were taken."""
    windows = Counter(window for one in invocations if (window := _window(one)))
    if not windows:
        return trace
    [((start, end), _)] = windows.most_common(1)
    return trace.model_copy(update={"window_from": start, "window_to": end})


def _window(invocation: Invocation) -> tuple[str, str] | None:
    scopes = (ref.scope for ref in invocation.refs)
    found = ((scope.get("window_from", ""), scope.get("window_to", "")) for scope in scopes)
    return next((window for window in found if all(window)), None)


def _status(state: RunState) -> Status:
    if state.walk.ending == "cancelled":
        return "CANCELLED"
    return "FAILED" if state.walk.ending else "SUCCESS"


def _usage(deps: RunDeps) -> RunUsage:
    return deps.ledger.usage(deps.models.default.name, len(deps.door.invocations()))


def _duration(state: RunState, deps: RunDeps) -> int:
    """From the first claim to now, whatever process did the work: the deadline was set at the first claim."""
    started = deps.lease.deadline - timedelta(seconds=state.deadline_seconds)
    return max(round((deps.clock() - started).total_seconds() * 1000), 0)


def _result(outcome: RunOutcome, state: RunState) -> RunResult:
    usage = outcome.usage
    return RunResult(
        status=outcome.status,
        answer=outcome.answer,
        verdict=outcome.verdict.value,
        orchestration_trace=outcome.orchestration_trace.model_dump(mode="json"),
        total_duration_ms=outcome.duration_ms,
        total_token_count=usage.prompt_tokens + usage.completion_tokens,
        step_count=usage.steps,
        tool_call_count=usage.tool_calls,
        cost=usage.cost,
        state=dump_state(state),
    )
