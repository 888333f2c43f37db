"""Discovery: a patrol's first look-up, made by code. What fires in Prometheus now becomes the run's alerts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from agents.alert_interest import is_of_interest
from agents.citations import exchanges_of
from agents.contracts import Alert, Claim, EvidenceBinding, ExecutorEvidence, ParseStatus, Severity
from agents.deps import RunDeps
from agents.events import RunEvent
from agents.state import RunState
from agents.tool_loop import found
from tools.contracts import EvidenceStatus
from tools.invocation import CallKey, Invocation, arguments_hash

NODE = "DISCOVERY"
TOOL = "query_metrics"
ARGUMENTS = {"mode": "alerts", "limit": 50}
DONE = ParseStatus(status="valid", detail="no alert to look into: the claims were written by code")
_NO_LABELS = ("state", "activeAt", "value", "summary")
_SEVERITIES: Mapping[str, Severity] = {
    "critical": "critical", "page": "critical", "error": "high", "high": "high", "major": "high", "warning": "warning",
    "info": "info",
}  # fmt: skip
_ORDER: tuple[Severity | None, ...] = ("critical", "high", "warning", None, "info")


async def run(state: RunState, deps: RunDeps) -> RunState:
    """Where nothing fires, the report is all that is left to do."""
    # In round 0: the executor is shown it as an earlier look-up, whose refs it may quote.
    key = CallKey(NODE, 0, 1)
    deps.tell(RunEvent(state.run_id, "tool_started", TOOL, "mode=alerts", call=NODE))
    made = await deps.door.call(key, TOOL, dict(ARGUMENTS))
    deps.tell(RunEvent(state.run_id, "tool_finished", TOOL, found(made), made.error is None, NODE))
    alerts = sorted(_alerts(made.payload, deps.ignored_alerts), key=lambda alert: _ORDER.index(alert.severity))
    if alerts:
        return replace(state, alerts=tuple(alerts))
    return replace(state, executor_output=_nothing(made, state.language, deps), executor_parse_status=DONE)


def _alerts(payload: Mapping[str, Any], ignored: Iterable[str]) -> Iterable[Alert]:
    for fields in payload.get("alerts", ()):
        texts = {str(key): str(value) for key, value in fields.items()}
        if is_of_interest(texts, ignored):
            yield _alert(texts)


def _alert(fields: Mapping[str, str]) -> Alert:
    labels = {key: value for key, value in fields.items() if key not in _NO_LABELS}
    severity = fields.get("severity")
    return Alert(
        sender="prometheus",
        alert_name=fields.get("alertname") or None,
        status="firing",
        severity=_SEVERITIES.get((severity or "").lower()),
        severity_raw=severity,
        labels=labels,
        annotations={"summary": fields["summary"]} if "summary" in fields else {},
        value=fields.get("value"),
        starts_at=fields.get("activeAt"),
        fingerprint=arguments_hash("prometheus", dict(labels))[:16],
    )


def _nothing(made: Invocation, language: str, deps: RunDeps) -> ExecutorEvidence:
    """That the look-up came back empty is the one thing to state, and no more than that."""
    refs = [cited for one in exchanges_of([made]) for cited in one.refs]
    empty = made.evidence_status is EvidenceStatus.NO_EVIDENCE
    return ExecutorEvidence(
        diagnosis_summary="",
        claims=tuple(
            Claim(
                claim_id="r1-c1",
                claim_type="gap",
                claim_text=deps.replies.text(language, "claim_nothing", text=cited.ref.text),
                support_level="direct",
                evidence_bindings=(
                    EvidenceBinding(
                        source_invocation_id=made.id,
                        tool_name=made.tool_name,
                        raw_path=cited.ref.raw_path,
                        evidence_excerpt=cited.ref.text,
                    ),
                ),
            )
            for cited in refs[:1]
            if empty
        ),
    )
