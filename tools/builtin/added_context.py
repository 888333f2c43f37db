"""What people added to this run by hand: words or a log. Quotable like any answer, and attributed to who added it."""

from __future__ import annotations

from typing import Any

from tools.contracts import Addition, CallContext, Contract, EvidenceRef, EvidenceStatus, ToolDeps, ToolResult, ToolSpec
from tools.errors import ToolFailed
from tools.external import wrap_text
from tools.window import stamp


class AddedContextInput(Contract):
    """Nothing to choose: all that was added comes back."""


async def run(_: AddedContextInput, deps: ToolDeps, __: CallContext) -> ToolResult:
    wrapped = [_wrapped(one, number) for number, one in enumerate(deps.additions)]
    refs = tuple(ref for _, refs in wrapped for ref in refs)
    if not refs:
        raise ToolFailed("what was added holds no line that could be quoted: go on without it")
    return ToolResult(
        payload={"additions": [payload for payload, _ in wrapped]},
        evidence_status=EvidenceStatus.SUPPORTED,
        evidence_refs=refs,
    )


def _wrapped(addition: Addition, number: int) -> tuple[dict[str, Any], list[EvidenceRef]]:
    """One ref a line, with whose words they are in its scope: a person may be wrong, or have pasted another day's log."""
    scope = {"source": f"added by {addition.by}", "added_at": stamp(addition.at)}
    result = wrap_text(addition.text, scope | ({"file": addition.name} if addition.name else {}))
    within = f"$.additions[{number}]"
    refs = [ref.model_copy(update={"raw_path": within + ref.raw_path[1:]}) for ref in result.evidence_refs]
    return result.payload, refs


def _unavailable(deps: ToolDeps) -> str | None:
    if deps.additions:
        return None
    return "for Slack only, nothing to set: it serves a run once somebody adds words or a log to its answer there"


def _told(deps: ToolDeps) -> str:
    return f"Added by: {', '.join(dict.fromkeys(one.by for one in deps.additions))}."


TOOL = ToolSpec(
    name="added_context",
    description="Returns what people added to this run by hand, words or a pasted log, line by line. Call it first.",
    input_model=AddedContextInput,
    run=run,
    evidence_level="indirect",
    timeout_seconds=5.0,
    # Its lines are laid out as those of an outside tool: nobody knows their form.
    origin="external",
    unavailable=_unavailable,
    told=_told,
)
