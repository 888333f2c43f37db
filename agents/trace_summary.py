"""tool_trace_summary: one item per evidence tool of a run. An index for auditors, not a source of evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from agents.contracts import ToolTraceItem
from agents.fences import shortened
from agents.prompts import as_json
from tools.contracts import EvidenceStatus
from tools.invocation import Invocation

Level = Literal["direct", "indirect", "none"]

SUMMARY_CHARS = 240
SAMPLES = 5
NO_HIT = (EvidenceStatus.NO_EVIDENCE, EvidenceStatus.DEDUPED)


def trace_summary(invocations: Iterable[Invocation], levels: Mapping[str, Level]) -> tuple[ToolTraceItem, ...]:
    """`levels` is each tool's evidence level; those of level none (date_time, read_skill) are left out, and so are
    names that no tool has."""
    by_tool: dict[str, list[Invocation]] = {}
    for invocation in invocations:
        if levels.get(invocation.tool_name, "none") != "none":
            by_tool.setdefault(invocation.tool_name, []).append(invocation)
    return tuple(
        _item(f"trace-{number}", name, calls, levels[name]) for number, (name, calls) in enumerate(by_tool.items(), 1)
    )


def _item(trace_ref: str, name: str, calls: Sequence[Invocation], level: Level) -> ToolTraceItem:
    found = [call for call in calls if call.evidence_status is EvidenceStatus.SUPPORTED]
    queries = tuple(dict.fromkeys(shortened(as_json(call.arguments), SUMMARY_CHARS) for call in calls))[:SAMPLES]
    return ToolTraceItem(
        trace_ref=trace_ref,
        tool_name=name,
        success=bool(found),
        input_summary=shortened("; ".join(queries), SUMMARY_CHARS),
        output_summary=_output(calls, found),
        evidence_level=level if found else "none",
        topic_domain=", ".join(_details(calls, "retrieved_domains")) or "general",
        source_invocation_ids=tuple(call.id for call in calls),
        invocation_count=len(calls),
        failed_invocation_count=sum(call.evidence_status is EvidenceStatus.FAILED for call in calls),
        no_hit_invocation_count=sum(call.evidence_status in NO_HIT for call in calls),
        query_samples=queries,
        retrieval_layers=_details(calls, "retrieval_layer"),
        relevance_levels=_details(calls, "relevance_level"),
        source_documents=_details(calls, "source_documents"),
    )


def _output(calls: Sequence[Invocation], found: Sequence[Invocation]) -> str:
    refs = [ref for call in found for ref in call.refs]
    if refs:
        return shortened(f"{len(refs)} refs: {refs[0].text}", SUMMARY_CHARS)
    last = calls[-1]
    return shortened(last.error or next((ref.text for ref in last.refs), last.evidence_status.value), SUMMARY_CHARS)


def _details(calls: Iterable[Invocation], key: str) -> tuple[str, ...]:
    """The values that the calls' details hold under a key, one text or a list of them, each once."""
    values = [value for call in calls for value in _listed(call.details.get(key))]
    return tuple(dict.fromkeys(values))


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]
