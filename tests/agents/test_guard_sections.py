"""The composer's guard: nothing stays in an answer that no allowed claim bears."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.contracts import AllowedClaim, AnswerSections, ClaimType, VerifiedClaim, VerifiedEvidence
from agents.guard import GuardResult, GuardVocabulary, guard_sections
from agents.guard_sentences import sentences

SPAN = "Connection is not available, request timed out after 30000ms (total=10, active=10, idle=0, waiting=187)"
SCOPE = {"service": "order-service", "window_from": "2026-11-30T08:40:00Z", "window_to": "2026-11-30T09:10:00Z"}


def allowed(text: str = "order-service requests timed out after 30 s", kind: ClaimType = "symptom") -> AllowedClaim:
    proof = VerifiedEvidence(
        claim_id="c1",
        index=0,
        source_invocation_id=1,
        tool_name="query_logs",
        raw_path="$.logs[0]",
        span_text=SPAN,
        span_start=0,
        span_end=len(SPAN),
        evidence_sha256="0" * 64,
        scope=SCOPE,
    )
    claim = VerifiedClaim(claim_id="c1", claim_type=kind, claim_text=text, support_level="direct")
    return AllowedClaim(number=1, claim=claim, evidence=(proof,))


def guard(vocabulary: GuardVocabulary | None = None, claim: AllowedClaim | None = None, **given: object) -> GuardResult:
    empty = {"lead": "", "confirmed": (), "gaps": (), "next_steps": ()}
    sections = AnswerSections(**(empty | given))  # type: ignore[arg-type]
    return guard_sections(sections, [claim or allowed()], vocabulary or GuardVocabulary())


@pytest.mark.parametrize(
    "sentence",
    [
        "order-service requests timed out after 30 s [1].",
        "1. order-service 的请求在 30 秒后超时 [1]。",
        "187 threads were waiting for a connection [1].",
        "All 10 connections were active from 08:40 UTC on.",
        'The log says "request timed out after 30000ms" [1].',
        "日志原文是「request timed out after 30000ms」。",
        "Requests timed out, e.g. those of order-service.",
    ],
)
def test_what_claims_spans_and_scope_bear_stays(sentence: str) -> None:
    result = guard(lead=sentence, confirmed=(sentence,))
    assert result.sections.lead == sentence
    assert (result.cut, result.must_rebuild) == ((), False)


@pytest.mark.parametrize(
    "sentence",
    [
        "order-service requests timed out after 31 s [1].",
        "payment-service requests timed out after 30 s [1].",
        "178 threads were waiting for a connection.",
        "It began at 08:44 UTC.",
        "The host 10.0.0.7 was unreachable.",
        "See /var/log/order.log for the rest.",
        'The log says "request timed out after 3000ms".',
        "日志原文是「请求超时」。",
        "The pool was empty [2].",
        "It is slow because the pool was empty [1].",
        "由于连接池耗尽，请求变慢 [1]。",
        "Idle connections numbered 187.",
        "Errors rose 3 times over.",
        "The pool was\u202e empty.",
    ],
)
def test_what_nothing_bears_is_cut_as_a_whole_sentence(sentence: str) -> None:
    good = "order-service requests timed out after 30 s [1]."
    result = guard(lead=good, confirmed=(good, good, f"{good} {sentence}"))
    assert result.sections.confirmed == (good, good, good)
    assert [cut.sentence for cut in result.cut] == [sentence]
    assert not result.must_rebuild


def test_a_cause_may_be_stated_where_a_claim_states_one() -> None:
    cause = allowed("order-service timed out because the pool was exhausted", "root_cause")
    assert guard(claim=cause, lead="Requests time out because the pool was exhausted [1].").cut == ()


@pytest.mark.parametrize("tag", ["v9.9.9-does-not-exist", "1.2.3-rc.1+build-5.x86"])
def test_a_version_is_one_name_to_its_end(tag: str) -> None:
    text = f"The image is shop/api:{tag}"
    claim = allowed(text)
    assert guard(claim=claim, lead=f"The tag is {tag}.").cut == ()
    assert guard(claim=claim, lead=f"{text}.").cut == ()
    assert guard(claim=claim, lead=f"The tag is {tag}-either.").cut


def test_an_unproven_cause_may_be_called_unproven() -> None:
    assert guard(lead="The root cause is not proven yet.").cut == ()


def test_gaps_and_steps_may_name_what_was_asked_and_what_can_be_looked_at() -> None:
    words = GuardVocabulary("why is payment-service slow since 14:00?", ("query_metrics", "prometheus_url"))
    gap, step = (
        "No metrics of payment-service since 14:00.",
        "Ask query_metrics for payment-service; set prometheus_url.",
    )
    result = guard(words, lead="order-service timed out.", gaps=(gap, "No data of cart-service."), next_steps=(step,))
    assert (result.sections.gaps, result.sections.next_steps) == ((gap,), (step,))
    assert guard(words, lead="payment-service timed out.").must_rebuild


def test_the_answer_is_rebuilt_where_the_lead_or_over_a_third_goes() -> None:
    good, bad = "order-service timed out.", "cart-service timed out."
    assert guard(lead=f"{bad} {good}", confirmed=(good,) * 8).must_rebuild
    assert not guard(lead=f"{good} {bad}", confirmed=(good,) * 8).must_rebuild
    assert guard(lead=good, confirmed=(good, bad, bad)).must_rebuild


@settings(deadline=None)
@given(st.text('aAé连接池. 。!？?;；\n`"「」()[]10,', max_size=80))
def test_sentences_joined_give_the_text_again(text: str) -> None:
    assert "".join(sentences(text)) == text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("It took 4.3 s. Then v1.2.3 failed.", 2),
        ("连接池耗尽。[1] 随后超时；恢复了！", 2),
        ('Use `a. b` or "c. d" here.', 1),
        ("See e.g. the log. Done.", 2),
        ("Nothing was returned for job app-12; job default: nothing of that name is there.", 1),
        ("连接池耗尽；随后超时。", 1),
        ("1. First thing. 2. Second thing.", 2),
    ],
)
def test_no_sentence_ends_inside_a_number_a_quote_or_code(text: str, pieces: int) -> None:
    assert len(sentences(text)) == pieces


@settings(deadline=None)
@given(
    st.integers(0, 10**7),
    st.sampled_from(
        ["{} errors were seen.", "见到 {} 次错误。", "It took {} ms.", "耗时 {} 秒。", "- {}% of calls failed"]
    ),
)
def test_no_unproven_number_survives(number: int, template: str) -> None:
    sentence = template.format(number)
    kept = guard(lead=sentence, confirmed=(sentence,), gaps=(sentence,), next_steps=(sentence,)).sections
    text = " ".join((kept.lead, *kept.confirmed, *kept.gaps, *kept.next_steps))
    proven = {30000, 30, 10, 0, 187}
    assert str(number) not in text or number in proven
