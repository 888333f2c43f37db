"""What must never fail: a true excerpt passes, any change of it or of its key does not."""

from __future__ import annotations

import json

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agents.contracts import CheckedBinding, Claim, EvidenceBinding, InvocationEvidence
from agents.gate import check_claims
from agents.gate.normalise import normalise
from agents.gate.tokens import informative_tokens
from tools.contracts import EvidenceRef, EvidenceStatus

WORDS = st.sampled_from(
    [
        "order-service",
        "timed",
        "out",
        "after",
        "30000ms",
        "waiting=187",
        "HikariPool-1",
        "连接池耗尽",
        "失败",
        "code=504",
        "/api/pay",
        "(total=10)",
        '"msg":"reset"',
        "10.0.0.7:8080",
        "ERR_X",
        "1.25",
        "93%",
        "G1237",
        "café",
        "C:\\app",
        "[Seat]",
        "２次",
        "10²",
        "—",
        "“quoted”",
        "2026-11-30T08:43:12Z",
    ]
)
TEXT = st.lists(
    st.one_of(WORDS, st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=6)),
    min_size=1,
    max_size=25,
)
GAPS = st.sampled_from([" ", "\n", "  ", "\t", "\u00a0", "\r\n  ", "\u3000"])


def check(text: str, excerpt: str, *, run: str = "r", path: str = "$.x[0]", tool: str = "query_logs") -> CheckedBinding:
    ref = EvidenceRef(raw_path="$.x[0]", text=text)
    call = InvocationEvidence(
        id=1, run_id="r", tool_name="query_logs", evidence_status=EvidenceStatus.SUPPORTED, evidence_refs=(ref,)
    )
    binding = EvidenceBinding(source_invocation_id=1, tool_name=tool, raw_path=path, evidence_excerpt=excerpt)
    claim = Claim(
        claim_id="c",
        claim_type="symptom",
        claim_text="The record shows this event",
        support_level="direct",
        evidence_bindings=(binding,),
    )
    return check_claims([claim], [call], run).result.checked_bindings[0]


@settings(deadline=None)  # shared machines are slow at times
@given(st.lists(WORDS, min_size=5, max_size=25), st.data(), GAPS)
def test_a_true_excerpt_passes_however_it_is_laid_out(words: list[str], data: st.DataObject, gap: str) -> None:
    start = data.draw(st.integers(0, len(words) - 3))
    end = data.draw(st.integers(start + 3, len(words)))
    excerpt = " ".join(words[start:end])
    assume(len(informative_tokens(normalise(excerpt).text)) >= 3)
    text = gap.join(words)
    coloured = " ".join(f"\x1b[31m{word}\x1b[0m" for word in words[start:end])
    for form in (excerpt, gap.join(words[start:end]), coloured, json.dumps(excerpt)[1:-1]):
        checked = check(text, form)
        assert checked.outcome == "passed", (form, checked.rule)
        shown = text[checked.span_start : checked.span_end]
        assert normalise(shown).text == normalise(excerpt).text


@settings(deadline=None)  # shared machines are slow at times
@given(st.lists(WORDS, min_size=5, max_size=25), st.data())
def test_a_changed_character_is_rejected(words: list[str], data: st.DataObject) -> None:
    excerpt = " ".join(["order", *words])
    at = data.draw(st.sampled_from([at for at, one in enumerate(excerpt) if one.isalnum()]))
    other = data.draw(st.sampled_from("0123456789abcXYZ连"))
    changed = excerpt[:at] + other + excerpt[at + 1 :]
    assume(normalise(changed).text not in normalise(excerpt).text)
    assert check(excerpt, changed).outcome == "rejected"


@settings(deadline=None)  # shared machines are slow at times
@given(st.lists(WORDS, min_size=5, max_size=25), st.sampled_from(["run", "path", "tool"]))
def test_a_true_excerpt_under_a_wrong_key_is_rejected(words: list[str], wrong: str) -> None:
    text = " ".join(words)
    keys = {"run": {"run": "another"}, "path": {"path": "$.x[1]"}, "tool": {"tool": "query_metrics"}}
    assert check(text, text, **keys[wrong]).outcome == "rejected"


@settings(deadline=None)  # shared machines are slow at times
@given(TEXT, GAPS)
def test_offsets_of_the_normal_form_lead_back_to_the_stored_text(words: list[str], gap: str) -> None:
    stored = gap.join(words)
    normal = normalise(stored)
    if not normal.text:
        return
    start, end = normal.stored_range(0, len(normal.text))
    assert 0 <= start < end <= len(stored)
    assert normalise(stored[start:end]).text == normal.text
    assert normalise(normal.text).text == normal.text


@settings(deadline=None)  # shared machines are slow at times
@given(st.text(max_size=300), st.text(max_size=120))
def test_no_text_breaks_the_gate(text: str, excerpt: str) -> None:
    checked = check(text, excerpt)
    if checked.outcome == "passed":
        assert checked.span_start is not None
        assert normalise(text[checked.span_start : checked.span_end]).text


@settings(deadline=None)  # shared machines are slow at times
@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_no_other_number_passes_for_the_one_recorded(recorded: int, claimed: int) -> None:
    assume(recorded != claimed)
    ref = EvidenceRef(raw_path="$.x[0]", text=f"queue orders.created depth={recorded} consumers=unknown")
    call = InvocationEvidence(
        id=1, run_id="r", tool_name="t", evidence_status=EvidenceStatus.SUPPORTED, evidence_refs=(ref,)
    )
    for number, expected in ((claimed, False), (recorded, True)):
        claim = Claim(
            claim_id="c",
            claim_type="symptom",
            claim_text=f"The queue depth was {number}",
            support_level="direct",
            evidence_bindings=(
                EvidenceBinding(source_invocation_id=1, tool_name="t", raw_path="$.x[0]", evidence_excerpt=ref.text),
            ),
        )
        assert bool(check_claims([claim], [call], "r").result.passed_claim_ids) is expected
