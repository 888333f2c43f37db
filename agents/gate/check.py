"""The Gatekeeper: pure functions over claims and this run's recorded tool calls. No model, no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.contracts import (
    CheckedBinding,
    Claim,
    GatekeeperResult,
    Hypothesis,
    InvocationEvidence,
    VerifiedClaim,
    VerifiedEvidence,
)
from agents.gate.bindings import Found, Refusal, check_binding
from agents.gate.claims import ClaimReading, check_cause, check_words
from agents.gate.evidence import Evidence
from agents.gate.rules import PASSED, RULES, RULESET_VERSION
from agents.gate.wording import fact_text, hypothesis_basis, needed_evidence


@dataclass(frozen=True)
class Demotion:
    """A cause with too little proof: the claim as a hypothesis, and what its quotes do show as symptom claims."""

    claim_id: str
    hypothesis: Hypothesis
    facts: tuple[VerifiedClaim, ...]
    evidence: tuple[VerifiedEvidence, ...]


@dataclass(frozen=True)
class GateReport:
    result: GatekeeperResult
    evidence: tuple[VerifiedEvidence, ...]
    demoted: tuple[Demotion, ...] = ()


@dataclass
class _Ledger:
    checked: list[CheckedBinding] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    evidence: list[VerifiedEvidence] = field(default_factory=list)
    demoted: list[Demotion] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def check_claims(claims: Sequence[Claim], invocations: Sequence[InvocationEvidence], run_id: str) -> GateReport:
    """Check every binding of every claim against the invocations of `run_id`.

    A claim passes only if all of its bindings pass: a fabricated binding must not ride along with a true one. Time is
    linear in the claims' and evidences' length.
    """
    evidence = Evidence.of(invocations, run_id)
    repeated = {claim_id for claim_id, times in Counter(claim.claim_id for claim in claims).items() if times > 1}
    ledger = _Ledger(errors=[f"claim id {claim_id} is used more than once" for claim_id in sorted(repeated)])
    for claim in claims:
        refused = Refusal("duplicate_claim_id", RULES["duplicate_claim_id"]) if claim.claim_id in repeated else None
        _check_claim(claim, evidence, ledger, refused)
    return GateReport(_result(ledger), tuple(ledger.evidence), tuple(ledger.demoted))


def _check_claim(claim: Claim, evidence: Evidence, ledger: _Ledger, refused: Refusal | None) -> None:
    outcomes = [check_binding(claim, binding, evidence) for binding in claim.evidence_bindings]
    found = [one for one in outcomes if isinstance(one, Found)]
    reading = ClaimReading(claim, found)
    if refused is None and len(found) == len(outcomes):
        refused = check_words(reading)
        if refused is None and (refused := check_cause(reading)) is not None:
            _demote(reading, ledger)
    passed = refused is None and len(found) == len(outcomes)
    for index, outcome in enumerate(outcomes):
        ledger.checked.append(_checked(claim, index, outcome, refused))
        if passed and isinstance(outcome, Found):
            ledger.evidence.append(_verified(claim.claim_id, index, outcome))
    (ledger.passed if passed else ledger.rejected).append(claim.claim_id)


def _checked(claim: Claim, index: int, outcome: Found | Refusal, refused: Refusal | None) -> CheckedBinding:
    """A binding's own failure, else the claim's; a quote that was found keeps its span either way."""
    if isinstance(outcome, Refusal):
        return CheckedBinding(
            claim_id=claim.claim_id,
            index=index,
            outcome="rejected",
            rule=outcome.rule,
            detail=outcome.detail,
            hint=outcome.hint,
        )
    start, end = outcome.stored_range
    return CheckedBinding(
        claim_id=claim.claim_id,
        index=index,
        outcome="passed" if refused is None else "rejected",
        rule=PASSED if refused is None else refused.rule,
        detail=RULES[PASSED] if refused is None else refused.detail,
        span_start=start,
        span_end=end,
        mode=outcome.span.mode,
        evidence_sha256=outcome.record.sha256,
    )


def _verified(claim_id: str, index: int, found: Found) -> VerifiedEvidence:
    start, end = found.stored_range
    return VerifiedEvidence(
        claim_id=claim_id,
        index=index,
        source_invocation_id=found.record.invocation.id,
        tool_name=found.record.invocation.tool_name,
        raw_path=found.record.ref.raw_path,
        span_text=found.record.ref.text[start:end],
        span_start=start,
        span_end=end,
        evidence_sha256=found.record.sha256,
        scope=found.record.ref.scope,
    )


def _demote(reading: ClaimReading, ledger: _Ledger) -> None:
    """Each quote becomes a symptom claim in the record's own words, so that it is entailed by construction."""
    claim = reading.claim
    facts, evidence = [], []
    for index, found in enumerate(reading.found):
        fact_id = f"{claim.claim_id}.{index + 1}"
        verified = _verified(fact_id, 0, found)
        text = fact_text(claim.claim_text, found.binding.tool_name, verified.span_text)
        facts.append(
            VerifiedClaim(claim_id=fact_id, claim_type="symptom", claim_text=text, support_level=claim.support_level)
        )
        evidence.append(verified)
    tools = sorted({found.binding.tool_name for found in reading.found})
    hypothesis = Hypothesis(
        hypothesis_text=claim.claim_text,
        basis=hypothesis_basis(claim.claim_text, tools),
        needed_evidence=(needed_evidence(claim.claim_text, tools),),
    )
    ledger.demoted.append(Demotion(claim.claim_id, hypothesis, tuple(facts), tuple(evidence)))
    ledger.warnings.append(f"claim {claim.claim_id} became a hypothesis: {RULES['cause_needs_more']}")


def _result(ledger: _Ledger) -> GatekeeperResult:
    failed = [checked.rule for checked in ledger.checked if checked.outcome == "rejected"]
    return GatekeeperResult(
        ruleset_version=RULESET_VERSION,
        checked_bindings=tuple(ledger.checked),
        passed_claim_ids=tuple(dict.fromkeys(ledger.passed)),
        rejected_claim_ids=tuple(dict.fromkeys(ledger.rejected)),
        failed_rules=tuple(dict.fromkeys(failed)),
        warnings=tuple(ledger.warnings),
        errors=tuple(ledger.errors),
    )
