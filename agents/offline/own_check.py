"""The engine's own claims, put to the Gatekeeper before they leave: what would not pass is not said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from agents.citations import expanded
from agents.contracts import DraftClaim, ExecutorDraft, InvocationEvidence
from agents.gate.check import check_claims
from agents.llm.base import Exchange
from agents.offline.claims import Statement, draft_claim

_RUN = "this run"


def provable(statements: Iterable[Statement], exchanges: Sequence[Exchange]) -> tuple[DraftClaim, ...]:
    """c1, c2, … in the order given, each sentence once. A cause that needs more proof is said as the symptom it shows."""
    candidates: list[DraftClaim] = []
    chains: list[list[str]] = []
    for number, statement in enumerate(_distinct(statements), 1):
        chain = list(_forms(statement))
        names = [f"c{number}" + "-weaker" * step for step in range(len(chain))]
        candidates += [draft_claim(form, name) for form, name in zip(chain, names, strict=True)]
        chains.append(names)
    passed = _passed(candidates, exchanges)
    chosen = [next((name for name in names if name in passed), None) for names in chains]
    kept = [claim for claim in candidates if claim.claim_id in chosen]
    return tuple(claim.model_copy(update={"claim_id": f"c{at}"}) for at, claim in enumerate(_unlike(kept), 1))


def _passed(claims: Sequence[DraftClaim], exchanges: Sequence[Exchange]) -> frozenset[str]:
    draft = ExecutorDraft(
        diagnosis_summary="",
        claims=tuple(claims),
        hypotheses=(),
        recommended_actions=(),
        missing_info=(),
        user_facing_answer="",
    )
    whole = expanded(draft, exchanges, 1)
    report = check_claims(whole.claims, [_evidence(exchange) for exchange in exchanges], _RUN)
    return frozenset(name.removeprefix("r1-") for name in report.result.passed_claim_ids)


def _evidence(exchange: Exchange) -> InvocationEvidence:
    return InvocationEvidence(
        id=exchange.invocation_id,
        run_id=_RUN,
        tool_name=exchange.call.name,
        evidence_status=exchange.evidence_status,
        evidence_refs=tuple(cited.ref for cited in exchange.refs),
    )


def _forms(statement: Statement | None) -> Iterator[Statement]:
    while statement is not None:
        yield statement
        statement = statement.weaker


def _distinct(statements: Iterable[Statement]) -> Iterable[Statement]:
    return {statement.text: statement for statement in statements}.values()


def _unlike(claims: Iterable[DraftClaim]) -> Iterable[DraftClaim]:
    """Drops a claim whose citations another one, which stands before it, has made already in the same words."""
    return {(claim.claim_text, claim.evidence): claim for claim in claims}.values()
