"""One tool call and its answer, as the run sees them and as the trace stores them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tools.contracts import EvidenceRef, EvidenceStatus

if TYPE_CHECKING:
    from storage.trace import StoredInvocation

PREVIEW_CHARS = 600


@dataclass(frozen=True)
class CallKey:
    """Where a call stands in its run; with the hash of its arguments, what a resumed run finds it by."""

    node: str
    round: int
    sequence: int


@dataclass(frozen=True)
class Invocation:
    """A finished call. All text in it is redacted. `error` says what to do; it is set exactly where the call failed.

    `details` is the row's retrieval_details without the refs: retrieval_layer, dedup_reason, deduped_of (the earlier
    invocation's id), truncation (what was left out, in words) and what the tool added.
    """

    id: int
    key: CallKey
    tool_name: str
    arguments: dict[str, Any]
    evidence_status: EvidenceStatus
    refs: tuple[EvidenceRef, ...] = ()
    payload: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    truncated: bool = False
    duration_ms: int = 0
    replayed: bool = False
    details: dict[str, Any] = field(default_factory=dict)


def canonical(value: Any) -> str:
    """JSON with one spelling: sorted keys, no spaces; what JSON does not know becomes its str()."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def arguments_hash(tool_name: str, arguments: dict[str, Any]) -> str:
    return hashlib.sha256(f"{tool_name}\n{canonical(arguments)}".encode()).hexdigest()


def retrieval_details(invocation: Invocation) -> dict[str, Any]:
    return {
        **invocation.details,
        "evidence_status": invocation.evidence_status.value,
        "evidence_refs": [ref.model_dump() for ref in invocation.refs],
    }


def from_stored(row: StoredInvocation) -> Invocation:
    """What a finished row says, for a replay."""
    details = dict(row.retrieval_details)
    status = EvidenceStatus(details.pop("evidence_status"))
    refs = tuple(EvidenceRef.model_validate(ref) for ref in details.pop("evidence_refs", ()))
    return Invocation(
        id=row.id,
        key=CallKey(row.node, row.round, row.sequence),
        tool_name=row.tool_name,
        arguments=row.input_params,
        evidence_status=status,
        refs=refs,
        payload=row.payload,
        error=row.error_message,
        truncated=row.is_truncated,
        duration_ms=row.duration_ms,
        replayed=True,
        details=details,
    )


def preview(invocation: Invocation) -> str:
    """The seeds' output_preview: the first refs, or what went wrong."""
    if invocation.error:
        return invocation.error[:PREVIEW_CHARS]
    text = "\n".join(ref.text for ref in invocation.refs[:8]) or canonical(invocation.payload)
    return text[:PREVIEW_CHARS]
