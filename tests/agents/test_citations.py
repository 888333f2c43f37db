"""Handles for evidence, and what a model reads of a tool's answer."""

from typing import Any

import pytest
from small_incident import ROOT

from agents.citations import exchanges_of, expanded, merged
from agents.contracts import DraftCitation, DraftClaim, ExecutorDraft
from agents.llm.base import Exchange
from agents.prompts import Prompts
from agents.tool_text import MAX_CHARS, tool_text
from tools.contracts import EvidenceRef, EvidenceStatus
from tools.invocation import CallKey, Invocation

SUPPORTED, NOTHING, DEDUPED, FAILED = EvidenceStatus


def call(number: int, status: EvidenceStatus = SUPPORTED, lines: tuple[str, ...] = ("a line",), **rest: Any) -> Invocation:
    scopes = rest.pop("scopes", [{"service": "order-service"}] * len(lines))
    refs = tuple(
        EvidenceRef(raw_path=f"$.logs[{index}]", text=line, scope=scope)
        for index, (line, scope) in enumerate(zip(lines, scopes, strict=True))
    )
    return Invocation(
        id=number,
        key=CallKey("EXECUTOR", rest.pop("round", 1), number),
        tool_name="query_logs",
        arguments={},
        evidence_status=status,
        refs=refs,
        **rest,
    )


def claim(ref: str, excerpt: str = "a line", claim_id: str = "c1") -> DraftClaim:
    return DraftClaim(
        claim_id=claim_id,
        claim_type="symptom",
        claim_text="text",
        support_level="direct",
        evidence=(DraftCitation(ref=ref, excerpt=excerpt),),
    )


def draft(*claims: DraftClaim) -> ExecutorDraft:
    return ExecutorDraft(
        diagnosis_summary="",
        claims=claims,
        hypotheses=(),
        recommended_actions=(),
        missing_info=("gap",),
        user_facing_answer="",
    )


def handles(exchanges: tuple[Exchange, ...]) -> list[list[str]]:
    return [[cited.handle for cited in exchange.refs] for exchange in exchanges]


def test_handles_count_through_the_run_and_skip_failed_and_deduped_calls() -> None:
    calls = [call(4, lines=("a", "b")), call(5, FAILED, ()), call(6, DEDUPED, ("a", "b")), call(7, NOTHING), call(8)]
    assert handles(exchanges_of(calls)) == [["E1", "E2"], [], [], ["E3"], ["E4"]]


@pytest.mark.parametrize("written", ["E2", "[E2]", "e2", "E2:", "handle E2"])
def test_a_handle_becomes_the_full_binding(written: str) -> None:
    found = expanded(draft(claim(written)), exchanges_of([call(4), call(5, lines=("x",))]), 1)
    [binding] = found.claims[0].evidence_bindings
    assert (binding.source_invocation_id, binding.tool_name, binding.raw_path) == (5, "query_logs", "$.logs[0]")


def test_an_unknown_handle_stays_what_the_model_wrote() -> None:
    [binding] = expanded(draft(claim("E9")), exchanges_of([call(4)]), 1).claims[0].evidence_bindings
    assert (binding.source_invocation_id, binding.raw_path, binding.tool_name) == ("E9", "E9", "")


def test_a_claim_without_a_citation_is_kept_for_the_gate_to_reject() -> None:
    bare = claim("E1").model_copy(update={"evidence": ()})
    [binding] = expanded(draft(bare), exchanges_of([call(4)]), 1).claims[0].evidence_bindings
    assert (binding.source_invocation_id, binding.evidence_excerpt) == ("", "")


def test_claim_ids_carry_their_round_and_never_repeat() -> None:
    exchanges = exchanges_of([call(4)])
    first = expanded(draft(claim("E1"), claim("E1")), exchanges, 1)
    both = merged(first, expanded(draft(claim("E1")), exchanges, 2))
    assert [one.claim_id for one in both.claims] == ["r1-c1", "r1-c1#2", "r2-c1"]


# ---------------------------------------------------------------- tool text


@pytest.fixture
def prompts() -> Prompts:
    return Prompts.load(ROOT / "prompts")


def shown(calls: list[Invocation], prompts: Prompts, index: int = -1) -> str:
    exchanges = exchanges_of(calls)
    return tool_text(exchanges[index], exchanges, prompts, "mark77")


def test_labels_that_all_lines_share_are_said_once(prompts: Prompts) -> None:
    scopes = [{"service": "order-service", "pod": "a"}, {"service": "order-service", "pod": "b"}]
    text = shown([call(4, lines=("x one", "x two"), scopes=scopes)], prompts)
    assert text.count("order-service") == 1
    assert "E1 [pod=a]: x one\nE2 [pod=b]: x two" in text
    assert text.startswith("query_logs: supported\n<<<query_logs mark77\n")


def test_an_error_is_told_as_an_error(prompts: Prompts) -> None:
    text = shown([call(4, FAILED, (), error="Prometheus answered 422: bad query")], prompts)
    assert "query_logs failed: Prometheus answered 422: bad query" in text
    assert "E1" not in text


def test_a_repeated_call_is_answered_by_its_first_handles(prompts: Prompts) -> None:
    calls = [call(4, lines=("a", "b")), call(5, DEDUPED, ("a", "b"), payload={"deduped_of": 4})]
    assert "E1-E2" in shown(calls, prompts)


def test_a_long_answer_is_cut_by_whole_references(prompts: Prompts) -> None:
    lines = tuple(f"line {index} " + "x" * 900 for index in range(40))
    text = shown([call(4, lines=lines)], prompts)
    assert len(text) < MAX_CHARS + 500
    assert "more references are not shown" in text


def test_a_result_without_refs_is_shown_as_it_is(prompts: Prompts) -> None:
    text = shown([call(4, lines=(), payload={"now": "2026-11-30T09:10:00Z"})], prompts)
    assert '{"now":"2026-11-30T09:10:00Z"}' in text
