"""Verifier: does each genuine quote say what its claim says? The model votes, code decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.citations import exchanges_of
from agents.contracts import (
    GatekeeperResult,
    RefIndexEntry,
    VerifiedEvidence,
    VerifiedOutput,
    VerifierDraft,
    VerifierInput,
)
from agents.deps import RunDeps
from agents.model_call import NodeRequest, ask
from agents.prompts import as_json, block
from agents.state import RunState
from agents.trace_summary import trace_summary
from agents.verification import checks_by_code, decide

NODE = "VERIFIER"
NOTHING_PASSED = "no claim passed the gatekeeper"
BY_CODE = "the verifier model could not be reached; judged by the code's checks alone"


async def run(state: RunState, deps: RunDeps) -> RunState:
    draft = await _draft(state, deps)
    summary = trace_summary(deps.door.invocations(), deps.levels)
    decision = decide(draft, state.verified_claims, state.verified_evidence, state.question, summary, state.round)
    return replace(state, decision=decision)


async def _draft(state: RunState, deps: RunDeps) -> VerifierDraft:
    if not state.verified_claims:
        return VerifierDraft(claim_checks=(), question_answered=False, rationale=NOTHING_PASSED)
    if NODE in state.walk.taken_over:
        return checks_by_code(state.verified_claims, state.verified_evidence, BY_CODE)
    given = _input(state, deps)
    messages = deps.prompts.messages(
        "verifier",
        language=state.language,
        question=block("question", given.original_query, state.fence),
        claims=block("claims", as_json(given.verified_executor_output.claims), state.fence),
        evidence=block("quotes", as_json([_quote(proof) for proof in given.verified_evidence]), state.fence),
        audit=block("audit", as_json(_audit(given.gatekeeper_audit)), state.fence),
        ref_index=block("refs", as_json(_index(given.ref_index)), state.fence),
        retry_context=block("retry_context", as_json(given.retry_context), state.fence),
    )
    answered = await ask(NodeRequest("verifier", NODE, VerifierDraft, given, messages), state, deps)
    assert answered.value is not None
    return answered.value


def _input(state: RunState, deps: RunDeps) -> VerifierInput:
    assert state.gatekeeper_result is not None
    exchanges = exchanges_of(deps.door.invocations())
    return VerifierInput(
        original_query=state.question,
        verified_executor_output=VerifiedOutput(claims=state.verified_claims),
        verified_evidence=state.verified_evidence,
        gatekeeper_audit=state.gatekeeper_result,
        ref_index=tuple(
            RefIndexEntry(
                source_invocation_id=cited.invocation_id, tool_name=cited.tool_name, raw_path=cited.ref.raw_path
            )
            for exchange in exchanges
            for cited in exchange.refs
        ),
        retry_context=state.retry_context,
    )


def _quote(proof: VerifiedEvidence) -> dict[str, object]:
    """What the judge needs of a proof: the words and where they come from, not the offsets and hashes."""
    return {"claim_id": proof.claim_id, "tool": proof.tool_name, "quote": proof.span_text, "labels": proof.scope}


def _audit(result: GatekeeperResult) -> dict[str, object]:
    """What was let through, and why the rest was not."""
    return {
        "ruleset_version": result.ruleset_version,
        "passed_claim_ids": result.passed_claim_ids,
        "rejected": [
            {"claim_id": checked.claim_id, "rule": checked.rule}
            for checked in result.checked_bindings
            if checked.outcome == "rejected"
        ],
        "warnings": result.warnings,
        "errors": result.errors,
    }


def _index(entries: Sequence[RefIndexEntry]) -> dict[str, list[str]]:
    """Paths by the call that they belong to."""
    paths: dict[str, list[str]] = {}
    for entry in entries:
        paths.setdefault(f"{entry.tool_name} {entry.source_invocation_id}", []).append(entry.raw_path)
    return paths
