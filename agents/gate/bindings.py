"""Rules 1 to 6 and 8, one binding at a time."""

from __future__ import annotations

from dataclasses import dataclass

from agents.contracts import Claim, EvidenceBinding, InvocationEvidence
from agents.gate.causes import claims_absence
from agents.gate.evidence import Evidence, Record
from agents.gate.once import once
from agents.gate.rules import RULES
from agents.gate.spans import Span
from tools.contracts import NO_EVIDENCE_PATH, EvidenceStatus

NOT_EVIDENCE = frozenset({"date_time", "read_skill"})


@dataclass(frozen=True)
class Found:
    """A binding that quotes what it says it quotes."""

    binding: EvidenceBinding
    record: Record
    span: Span

    @property
    def text(self) -> str:
        """The quoted words in their normal form."""
        return self.record.normal.text[self.span.start : self.span.end]

    @once
    def stored_range(self) -> tuple[int, int]:
        return self.record.normal.stored_range(self.span.start, self.span.end)


@dataclass(frozen=True)
class Refusal:
    rule: str
    detail: str
    hint: str | None = None


def check_binding(claim: Claim, binding: EvidenceBinding, evidence: Evidence) -> Found | Refusal:
    invocation = evidence.invocation(binding.source_invocation_id)
    if invocation is None:
        known = evidence.is_foreign(binding.source_invocation_id)
        return _refuse("other_run" if known else "unknown_invocation", f"invocation {binding.source_invocation_id}")
    refused = _invocation_refusal(claim, binding, invocation, evidence)
    if refused is not None:
        return refused
    record = evidence.record(binding)
    if record is None:
        return _mismatch(binding, evidence, f"invocation {invocation.id} has no {binding.raw_path}")
    span = record.find(binding.evidence_excerpt)
    if isinstance(span, Span):
        return Found(binding, record, span)
    if span == "not_found" and evidence.right_path(binding) is not None:
        return _mismatch(binding, evidence, f"at {binding.raw_path}")
    return _refuse(span, f'invocation {invocation.id}, {binding.raw_path}: "{_short(binding.evidence_excerpt)}"')


def _invocation_refusal(
    claim: Claim, binding: EvidenceBinding, invocation: InvocationEvidence, evidence: Evidence
) -> Refusal | None:
    name = f"invocation {invocation.id}"
    if binding.tool_name != invocation.tool_name:
        return _refuse("wrong_tool", f"{name} is {invocation.tool_name}, not {binding.tool_name}")
    if invocation.evidence_status is EvidenceStatus.FAILED:
        return _refuse("failed_call", name)
    if invocation.evidence_status is EvidenceStatus.DEDUPED:
        earlier = evidence.earlier(binding)
        hint = None if earlier is None else f"{binding.raw_path} of invocation {earlier.invocation.id}"
        return _refuse("deduped_call", name if hint is None else f"{name}: the same words are {hint}", hint)
    if invocation.tool_name in NOT_EVIDENCE:
        return _refuse("not_evidence", invocation.tool_name)
    is_empty = invocation.evidence_status is EvidenceStatus.NO_EVIDENCE or binding.raw_path == NO_EVIDENCE_PATH
    if is_empty and (claim.claim_type != "gap" or claims_absence(claim.claim_text)):
        return _refuse("no_evidence_as_proof", f"{name} found nothing, and the claim is of type {claim.claim_type}")
    return None


def _mismatch(binding: EvidenceBinding, evidence: Evidence, where: str) -> Refusal:
    hint = evidence.right_path(binding)
    return _refuse("path_mismatch", where if hint is None else f"{where}; they stand at {hint}", hint)


def _refuse(rule: str, detail: str, hint: str | None = None) -> Refusal:
    return Refusal(rule, f"{RULES[rule]}: {detail}", hint)


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"
