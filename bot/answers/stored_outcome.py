"""What a finished run's outcome was, read back from its trace: for a process that did not work on it."""

from __future__ import annotations

from collections.abc import Sequence

from agents.answer import actions, allowed_claims, hypotheses, missing_info
from agents.contracts import AnswerSections, OrchestrationTrace, RunOutcome, RunUsage
from agents.outcome import orchestration_trace
from agents.state import RunState, load_state
from storage.trace import Run, Step, TraceStore

WITHOUT_MODEL = "offline"


def stored_outcome(store: TraceStore, run_id: str) -> RunOutcome:
    """Raises RunNotFound, StateUnreadable where another version wrote the run, and ValueError where it has not ended."""
    run = store.run(run_id)
    if run.answer is None or run.status not in ("SUCCESS", "FAILED", "CANCELLED"):
        raise ValueError(f"run {run_id} has no answer: it is {run.status}")
    state = load_state(run.state)
    sections = state.sections or AnswerSections(lead=state.answer, confirmed=(), gaps=(), next_steps=())
    return RunOutcome.model_validate(
        {
            "run_id": run.run_id,
            "session_id": run.session_id,
            "question": state.question,
            "language": state.language,
            "verdict": run.verdict,
            "status": run.status,
            "answer": run.answer,
            "sections": sections,
            "claims": allowed_claims(state),
            "hypotheses": hypotheses(state),
            "recommended_actions": actions(state),
            "missing_info": missing_info(state),
            "gatekeeper_result": state.gatekeeper_result,
            "verifier_output": state.decision,
            "orchestration_trace": _path(run, state),
            "usage": _usage(run, store.steps(run_id)),
            "duration_ms": run.total_duration_ms or 0,
            "report": state.report,
        }
    )


def _path(run: Run, state: RunState) -> OrchestrationTrace:
    stored = run.orchestration_trace or {}
    whole = stored.keys() == OrchestrationTrace.model_fields.keys()
    return OrchestrationTrace.model_validate(stored) if whole else orchestration_trace(state)


def _usage(run: Run, steps: Sequence[Step]) -> RunUsage:
    """The model is the one that was meant to do the work: rules that stood in for it do not count."""
    models = [step.model_name for step in steps if step.model_name != WITHOUT_MODEL]
    return RunUsage(
        model=models[0] if models else WITHOUT_MODEL,
        prompt_tokens=sum(step.prompt_tokens for step in steps),
        completion_tokens=sum(step.completion_tokens for step in steps),
        cached_tokens=sum(step.cached_tokens for step in steps),
        cost=run.cost,
        steps=run.step_count or 0,
        tool_calls=run.tool_call_count or 0,
    )
