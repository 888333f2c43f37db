"""A stored run as a scenario: its tool answers become the world, its quotes become what must be found again."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from agents.answer import allowed_claims
from agents.contracts import RunOutcome
from agents.state import RunState
from bot.errors import ConfigError
from bot.evaluation.scenarios import SCENARIO_FILE, Scenario, read_scenario
from storage.trace import Run, StoredInvocation
from storage.types import encodable
from tools.contracts import EvidenceStatus

# They answer from the run's clock and from our own files: nothing of them need be recorded.
LIVE_TOOLS = frozenset({"date_time", "read_skill"})


class Differences(BaseModel):
    """What the replay did otherwise. Calls are `tool(arguments)`, quotes the verified words."""

    model_config = ConfigDict(frozen=True)

    verdict: tuple[str, str] | None
    answer_changed: bool
    quotes_lost: tuple[str, ...]
    quotes_new: tuple[str, ...]
    calls_lost: tuple[str, ...]
    calls_new: tuple[str, ...]

    @property
    def none(self) -> bool:
        return not (self.verdict or self.answer_changed or self.quotes_lost or self.quotes_new or self.calls_new)


class Recording(BaseModel):
    """A stored run as scenario.json, and what it found: a replay starts from the one and is compared with the other."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    document: dict[str, Any]
    verdict: str | None
    answer: str
    quotes: tuple[str, ...]
    calls: tuple[str, ...]


def recording(run: Run, state: RunState, invocations: Sequence[StoredInvocation]) -> Recording:
    """Raises ConfigError for a run that never ended."""
    if run.finished_at is None:
        raise ConfigError(f"Run {run.run_id} has not ended ({run.status}): only an ended run can be replayed.")
    return Recording(
        run_id=run.run_id,
        document=_document(run, state, invocations),
        verdict=run.verdict,
        answer=run.answer or "",
        quotes=tuple(quotes_of_state(state)),
        calls=tuple(map(encodable, _calls(invocations))),
    )


def write_scenario(recorded: Recording, folder: Path) -> Scenario:
    """Writes the folder's scenario.json and reads it back."""
    folder.mkdir(parents=True, exist_ok=True)
    text = encodable(json.dumps(recorded.document, ensure_ascii=False, indent=1))
    (folder / SCENARIO_FILE).write_text(text, encoding="utf-8")
    return read_scenario(folder)


def differences(before: Recording, outcome: RunOutcome, invocations: Sequence[StoredInvocation]) -> Differences:
    quotes, calls = _quotes_of(outcome), tuple(map(encodable, _calls(invocations)))
    return Differences(
        verdict=None if before.verdict == outcome.verdict.value else (str(before.verdict), outcome.verdict.value),
        answer_changed=before.answer != outcome.answer,
        quotes_lost=_missing(before.quotes, quotes),
        quotes_new=_missing(quotes, before.quotes),
        calls_lost=_missing(before.calls, calls),
        calls_new=_missing(calls, before.calls),
    )


def _document(run: Run, state: RunState, invocations: Sequence[StoredInvocation]) -> dict[str, Any]:
    """`expected_statements` are for readers: the claims that the answer could state."""
    return {
        "id": f"run-{run.run_id}",
        "source": f"recorded run {run.run_id} of {run.created_at:%Y-%m-%d}",
        "licence": "",
        "language": run.language,
        "now": state.now.isoformat(),
        "input": _input(run, state),
        "world": {"tools": _tools(invocations), "knowledge_domains": _domains(invocations)},
        "expect": {"verdict_in": [run.verdict] if run.verdict else [], "must_quote": quotes_of_state(state)},
        "expected_statements": [allowed.claim.claim_text for allowed in allowed_claims(state)],
    }


def _input(run: Run, state: RunState) -> dict[str, Any]:
    """An alert's run is asked again with its alerts as they were read; a patrol finds them anew."""
    if state.mode is None:
        history = [{"role": turn.role, "text": turn.text} for turn in state.history]
        return {"kind": "question", "text": run.query, "history": history}
    alerts = state.alerts if state.mode == "PAYLOAD_TARGETED" else ()
    given = [alert.model_dump(mode="json") for alert in alerts]
    return {"kind": "alert", "text": run.query, "mode": state.mode, "alerts": given}


def quotes_of_state(state: RunState) -> list[str]:
    """The quotes behind the claims that the answer could state."""
    allowed = state.allowed_claim_ids
    return list(dict.fromkeys(item.span_text for item in state.verified_evidence if item.claim_id in allowed))


def _tools(invocations: Sequence[StoredInvocation]) -> list[dict[str, Any]]:
    calls: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for invocation in invocations:
        call = _call(invocation)
        if invocation.tool_name not in LIVE_TOOLS and call is not None:
            calls[invocation.tool_name].append(call)
    return [{"name": name, "description": "", "calls": recorded} for name, recorded in calls.items()]


def _domains(invocations: Sequence[StoredInvocation]) -> list[str]:
    """Without a domain the look-up would not be offered. Which ones the run saw, its rows tell by what they searched."""
    lookups = [one for one in invocations if one.tool_name == "lookup_knowledge"]
    found = {str(name) for one in lookups for name in one.retrieval_details.get("searched_domains", ())}
    return sorted(found) or (["knowledge"] if lookups else [])


def _call(invocation: StoredInvocation) -> dict[str, Any] | None:
    """None for a repeated call, which the first one answers, and for one whose answer nobody knows."""
    details = dict(invocation.retrieval_details)
    status = details.pop("evidence_status", None)
    if not invocation.finished or status == EvidenceStatus.DEDUPED:
        return None
    if status == EvidenceStatus.FAILED:
        return {"args": invocation.input_params, "status": "error", "error": invocation.error_message or "failed"}
    result = {
        "payload": invocation.payload,
        "evidence_status": status,
        "evidence_refs": details.pop("evidence_refs", []),
        "retrieval_details": details,
        "truncated": invocation.is_truncated,
    }
    known = "no_data" if status == EvidenceStatus.NO_EVIDENCE else "success"
    return {"args": invocation.input_params, "status": known, "output": invocation.output_preview, "result": result}


def _calls(invocations: Iterable[StoredInvocation]) -> list[str]:
    return [f"{one.tool_name}({json.dumps(one.input_params, ensure_ascii=False, sort_keys=True)})" for one in invocations]


def _quotes_of(outcome: RunOutcome) -> list[str]:
    quotes = (evidence.span_text for allowed in outcome.claims for evidence in allowed.evidence)
    return list(dict.fromkeys(quotes))


def _missing(these: Sequence[str], there: Sequence[str]) -> tuple[str, ...]:
    return tuple(text for text in dict.fromkeys(these) if text not in there)
