"""A stored run as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from bot.answers.evidence_source import arguments_text
from bot.terminal.lines import Line
from storage.trace import Run, Step, StoredInvocation

_LONGEST = 300


@dataclass(frozen=True)
class Recorded:
    run: Run
    steps: Sequence[Step]
    invocations: Sequence[StoredInvocation]


def runs_json(runs: Sequence[Run]) -> dict[str, Any]:
    return {"runs": [_run(run) for run in runs]}


def runs_lines(runs: Sequence[Run], zone: ZoneInfo) -> list[Line]:
    if not runs:
        return [Line("No run yet. Ask something: proofthread ask QUESTION")]
    return [
        Line(_short(run.query), lead=f"{run.run_id}  {_at(run.created_at, zone)}  {run.verdict or run.status:<10}  ")
        for run in runs
    ]


def recorded_json(recorded: Recorded) -> dict[str, Any]:
    return {
        "run": _run(recorded.run),
        "steps": [asdict(step) for step in recorded.steps],
        "invocations": [asdict(invocation) for invocation in recorded.invocations],
    }


def recorded_lines(recorded: Recorded, zone: ZoneInfo, now: datetime) -> list[Line]:
    lines = [*_head(recorded.run, zone), *_unfinished(recorded.run, zone, now), *_path(recorded.run)]
    lines += [Line(), Line(f"Model calls ({len(recorded.steps)})", style="bold")]
    lines += [Line(_step(step), lead=f"  {step.step_index:>2} ") for step in recorded.steps]
    lines += [Line(), Line(f"Tool calls ({len(recorded.invocations)})", style="bold")]
    for invocation in recorded.invocations:
        lines += _invocation(invocation)
    return lines


def _head(run: Run, zone: ZoneInfo) -> Iterator[Line]:
    yield Line(run.query, lead=f"{run.verdict or run.status}  ", lead_style="bold")
    seconds = f"{run.total_duration_ms / 1000:.1f} s" if run.total_duration_ms is not None else ""
    tokens = f"{run.total_token_count} tokens" if run.total_token_count else ""
    parts = (f"run {run.run_id}", f"session {run.session_id}", _at(run.created_at, zone), run.status, seconds, tokens)
    yield Line(" · ".join(part for part in parts if part), style="dim")


def _unfinished(run: Run, zone: ZoneInfo, now: datetime) -> Iterator[Line]:
    """How a run whose process is gone can be finished."""
    if run.status not in ("QUEUED", "RUNNING"):
        return
    how = f"proofthread ask --resume {run.run_id} (with --sample for the sample incident)"
    if run.lease_until is not None and run.lease_until > now:
        text = f"A process works on it. If that is gone, from {_at(run.lease_until, zone)} on: {how}"
        yield Line(text, lead="! ", style="dim")
    else:
        late = " Its time is over, so it will end with what was proven." if run.deadline and run.deadline <= now else ""
        yield Line(f"Nobody works on it. To finish it: {how}.{late}", lead="! ", style="yellow")


def _path(run: Run) -> Iterator[Line]:
    transitions = (run.orchestration_trace or {}).get("transitions", [])
    if transitions:
        yield from (Line(), Line("Path", style="bold"))
    for transition in transitions:
        reason = "" if transition["reason"] == "ok" else f"  ({transition['reason']})"
        yield Line(f"{transition['source']} → {transition['target']}{reason}", lead="  ")


def _step(step: Step) -> str:
    outcome = "" if step.ok else f"failed: {step.error}"
    parts = (step.agent_name, f"round {step.round}", step.model_name, f"{step.duration_ms} ms", f"{step.token_count} tokens")
    return " · ".join(part for part in (*parts, outcome) if part)


def _invocation(invocation: StoredInvocation) -> Iterator[Line]:
    lead = f"  {invocation.id:>3} "
    yield Line(f"{invocation.tool_name}({arguments_text(invocation.input_params)})", lead=lead)
    status = invocation.retrieval_details.get("evidence_status", "unfinished" if not invocation.finished else "")
    refs = len(invocation.retrieval_details.get("evidence_refs", ()))
    found = invocation.error_message or invocation.output_preview
    words = f"{status}, {refs} refs, {invocation.duration_ms} ms: {_short(found)}"
    yield Line(words, lead=" " * len(lead), style="dim" if invocation.success else "yellow")


def _run(run: Run) -> dict[str, Any]:
    """The checkpoint's own state is left out: it repeats the steps."""
    return {name: value for name, value in asdict(run).items() if name != "state"}


def _at(moment: datetime, zone: ZoneInfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
