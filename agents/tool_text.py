"""What a model reads of a tool's answer: its refs under handles, between fences, with common labels said once."""

from __future__ import annotations

from collections.abc import Sequence

from agents.fences import fenced, shortened
from agents.llm.base import CitedRef, Exchange
from agents.prompts import Prompts, as_json
from tools.contracts import EvidenceStatus

MAX_CHARS = 6_000
MAX_REF_CHARS = 800


def tool_text(exchange: Exchange, earlier: Sequence[Exchange], prompts: Prompts, mark: str) -> str:
    """`earlier` are the run's other exchanges: a repeated call is answered by the handles it got the first time."""
    name = exchange.call.name
    if exchange.error is not None:
        return fenced("error", prompts.note("call_failed", tool=name, error=exchange.error), mark)
    if exchange.evidence_status is EvidenceStatus.DEDUPED:
        return prompts.note("call_deduped", tool=name, handles=_handles_of(exchange, earlier))
    head = prompts.note("call_answered", tool=name, status=exchange.evidence_status.value)
    if not exchange.refs:
        return f"{head}\n{fenced(name, shortened(as_json(exchange.payload), MAX_CHARS), mark)}"
    return f"{head}\n{_refs_text(exchange, prompts, mark)}"


def _refs_text(exchange: Exchange, prompts: Prompts, mark: str) -> str:
    common = _common_labels(exchange.refs)
    lines: list[str] = []
    room = MAX_CHARS
    for cited in exchange.refs:
        line = _ref_line(cited, common)
        room -= len(line)
        if room < 0 and lines:
            break
        lines.append(line)
    parts = [prompts.note("call_labels", labels=_labels(common))] if common else []
    if len(lines) < len(exchange.refs):
        parts.append(prompts.note("call_cut", count=str(len(exchange.refs) - len(lines))))
    return fenced(exchange.call.name, "\n".join([*parts, *lines]), mark)


def _ref_line(cited: CitedRef, common: dict[str, str]) -> str:
    own = {name: value for name, value in cited.ref.scope.items() if common.get(name) != value}
    labels = f" [{_labels(own)}]" if own else ""
    return f"{cited.handle}{labels}: {shortened(cited.ref.text, MAX_REF_CHARS)}"


def _common_labels(refs: Sequence[CitedRef]) -> dict[str, str]:
    first, *others = (cited.ref.scope for cited in refs)
    return {name: value for name, value in first.items() if all(scope.get(name) == value for scope in others)}


def _labels(labels: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in labels.items())


def _handles_of(exchange: Exchange, earlier: Sequence[Exchange]) -> str:
    origin = exchange.payload.get("deduped_of")
    handles = [cited.handle for other in earlier if other.invocation_id == origin for cited in other.refs]
    if not handles:
        return "-"
    return handles[0] if len(handles) == 1 else f"{handles[0]}-{handles[-1]}"
