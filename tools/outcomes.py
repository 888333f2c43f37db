"""What leaves the door: a tool's result capped, then redacted; a failure; a repetition of an earlier answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tools.caps import Budget, ToolLimits, bounded, bounded_refs, cut_text
from tools.contracts import EvidenceRef, EvidenceStatus, ToolResult, ToolSpec
from tools.invocation import CallKey, Invocation
from tools.redaction import Redactor

ReplayKey = tuple[str, int, int, str]


@dataclass(frozen=True)
class RecordedCall:
    """A call as it is recorded: redacted arguments, and the hash by which a resumed run finds it."""

    key: CallKey
    tool_name: str
    arguments: dict[str, Any]
    hash: str
    step_id: int | None

    @property
    def replay_key(self) -> ReplayKey:
        return self.key.node, self.key.round, self.key.sequence, self.hash


class Outcomes:
    """Makes the finished Invocation of a call. All text in it is redacted."""

    def __init__(self, limits: ToolLimits, redactor: Redactor) -> None:
        self._limits, self._redactor = limits, redactor

    def of_result(
        self, call: RecordedCall, spec: ToolSpec, row_id: int, result: ToolResult, duration_ms: int
    ) -> Invocation:
        """The result as it may leave the door: capped first, then redacted."""
        limits = self._limits
        budget = Budget(limits.max_output_bytes)
        payload = bounded(result.payload, budget)
        offered = result.evidence_refs if spec.gives_evidence else ()
        refs, cut = bounded_refs(
            offered,
            max_refs=limits.max_refs,
            max_bytes=limits.max_output_bytes,
            max_ref_chars=limits.max_ref_chars,
        )
        details = bounded(result.retrieval_details, Budget(limits.max_output_bytes // 4))
        note = _truncation(len(offered) - len(refs), len(offered), cut, budget.cut)
        if note:
            details["truncation"] = note
        masked = self._redactor.value(
            {
                "payload": payload,
                "texts": [ref.text for ref in refs],
                "scopes": [ref.scope for ref in refs],
                "details": details,
            }
        )
        return Invocation(
            id=row_id,
            key=call.key,
            tool_name=call.tool_name,
            arguments=call.arguments,
            evidence_status=result.evidence_status,
            refs=_with_texts(refs, masked["texts"], masked["scopes"]),
            payload=masked["payload"],
            truncated=result.truncated or note is not None,
            duration_ms=duration_ms,
            details=masked["details"],
        )

    def of_failure(
        self, call: RecordedCall, row_id: int, message: str, duration_ms: int, exception: str = ""
    ) -> Invocation:
        """`exception` is where an unexpected error came from; it stays in the row."""
        error = cut_text(self._redactor.text(message[: 4 * self._limits.max_error_chars]), self._limits.max_error_chars)
        details = {"exception": self._redactor.text(exception[-4_000:])} if exception else {}
        return Invocation(
            id=row_id,
            key=call.key,
            tool_name=call.tool_name,
            arguments=call.arguments,
            evidence_status=EvidenceStatus.FAILED,
            payload={"error": error},
            error=error,
            duration_ms=duration_ms,
            details=details,
        )


def _with_texts(refs: list[EvidenceRef], texts: list[str], scopes: list[dict[str, str]]) -> tuple[EvidenceRef, ...]:
    return tuple(
        ref if text == ref.text and scope == ref.scope else ref.model_copy(update={"text": text, "scope": scope})
        for ref, text, scope in zip(refs, texts, scopes, strict=True)
    )


def deduped(call: RecordedCall, row_id: int, earlier: Invocation) -> Invocation:
    """The earlier refs again, quotable under the earlier invocation."""
    same = "same arguments" if call.arguments == earlier.arguments else "same query and window"
    reason = f"{same} as invocation {earlier.id}: quote its refs, or ask something else"
    return Invocation(
        id=row_id,
        key=call.key,
        tool_name=call.tool_name,
        arguments=call.arguments,
        evidence_status=EvidenceStatus.DEDUPED,
        refs=earlier.refs,
        payload={"deduped_of": earlier.id, "dedup_reason": reason},
        truncated=earlier.truncated,
        details={"dedup_reason": reason, "deduped_of": earlier.id},
    )


def _truncation(left_out: int, offered: int, ref_cut: bool, payload_cut: bool) -> str | None:
    notes = [
        f"{left_out} of {offered} results left out at the end" if left_out else "",
        "an over-long result was cut at its end" if ref_cut else "",
        "the raw output was cut" if payload_cut else "",
    ]
    said = "; ".join(note for note in notes if note)
    return f"{said}. Narrow the query to see the rest." if said else None
