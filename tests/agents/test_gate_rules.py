"""The Gatekeeper's rules, one way to fail at a time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents.contracts import CheckedBinding, Claim, EvidenceBinding, InvocationEvidence
from agents.gate import RULES, RULESET_VERSION, GateReport, check_claims
from tools.contracts import EvidenceRef, EvidenceStatus

LINE = (
    "2026-11-30 08:43:12.345 ERROR [http-nio-8080-exec-3] HikariPool-1 - Connection is not available, "
    "request timed out after 30000ms (total=10, active=10, idle=0, waiting=187)"
)
SCOPE = {"service": "order-service", "pod": "order-service-5b67c48447-mv5hb"}


def invocation(text: str = LINE, **changes: Any) -> InvocationEvidence:
    given = {
        "id": 7,
        "run_id": "run-1",
        "tool_name": "query_logs",
        "evidence_status": EvidenceStatus.SUPPORTED,
        "evidence_refs": (EvidenceRef(raw_path="$.logs[0]", text=text, scope=SCOPE),),
    }
    return InvocationEvidence(**(given | changes))


def binding(excerpt: str = LINE, **changes: Any) -> EvidenceBinding:
    given = {"source_invocation_id": 7, "tool_name": "query_logs", "raw_path": "$.logs[0]"}
    return EvidenceBinding(evidence_excerpt=excerpt, **(given | changes))


def claim(text: str = "order-service could not get a connection", *bindings: EvidenceBinding, **changes: Any) -> Claim:
    given = {"claim_id": "c1", "claim_type": "symptom", "support_level": "direct"}
    return Claim(claim_text=text, evidence_bindings=bindings or (binding(),), **(given | changes))


def gate(one: Claim, *invocations: InvocationEvidence) -> GateReport:
    return check_claims([one], invocations or (invocation(),), "run-1")


def outcome(one: Claim, *invocations: InvocationEvidence) -> str:
    checked = gate(one, *invocations).result.checked_bindings[0]
    return checked.rule


def first(report: GateReport) -> CheckedBinding:
    return report.result.checked_bindings[0]


# ---------------------------------------------------------------- rules 1, 2, 8: the key and the call


def test_a_true_quote_passes_with_its_span_and_hash() -> None:
    report = gate(claim())
    assert report.result.passed_claim_ids == ("c1",)
    assert report.result.ruleset_version == RULESET_VERSION
    checked = first(report)
    assert LINE[checked.span_start : checked.span_end] == LINE
    assert checked.mode == "raw"
    assert len(checked.evidence_sha256 or "") == 64
    assert report.evidence[0].scope == SCOPE


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"source_invocation_id": 8}, "unknown_invocation"),
        ({"tool_name": "query_metrics"}, "wrong_tool"),
        ({"raw_path": "$.logs[1]"}, "path_mismatch"),
    ],
)
def test_a_wrong_key_is_rejected_with_its_own_rule(change: dict[str, Any], rule: str) -> None:
    assert outcome(claim("The pool was empty", binding(**change))) == rule


def test_another_runs_invocation_is_rejected_as_such() -> None:
    assert outcome(claim(), invocation(run_id="run-2")) == "other_run"


def test_an_id_written_as_text_is_the_same_id() -> None:
    assert outcome(claim("The pool was empty", binding(source_invocation_id="7"))) == "all_rules"


def test_the_right_path_is_a_hint_and_no_rebind() -> None:
    refs = (
        EvidenceRef(raw_path="$.logs[0]", text="another line entirely"),
        EvidenceRef(raw_path="$.logs[1]", text=LINE),
    )
    for path in ("$.logs[0]", "$.logs[9]"):
        checked = first(gate(claim("The pool was empty", binding(raw_path=path)), invocation(evidence_refs=refs)))
        assert (checked.outcome, checked.rule, checked.hint) == ("rejected", "path_mismatch", "$.logs[1]")


def test_a_failed_call_proves_nothing() -> None:
    assert outcome(claim(), invocation(evidence_status=EvidenceStatus.FAILED)) == "failed_call"


def test_a_deduped_call_points_at_the_earlier_one() -> None:
    repeated = invocation(id=8, evidence_status=EvidenceStatus.DEDUPED)
    checked = first(gate(claim("The pool was empty", binding(source_invocation_id=8)), invocation(), repeated))
    assert checked.rule == "deduped_call"
    assert "invocation 7" in (checked.hint or "")


@pytest.mark.parametrize("tool", ["date_time", "read_skill"])
def test_the_clock_and_a_skill_are_never_evidence(tool: str) -> None:
    assert outcome(claim("The pool was empty", binding(tool_name=tool)), invocation(tool_name=tool)) == "not_evidence"


NOTHING = (
    "query_logs found no line of service=pay-service from 2026-11-30T08:00:00Z to 2026-11-30T09:00:00Z in 4 files."
)


@pytest.mark.parametrize(
    ("kind", "text", "rule"),
    [
        ("gap", "No log lines of pay-service were found from 08:00 to 09:00", "all_rules"),
        ("gap", "08:00 到 09:00 未查到 pay-service 的日志", "all_rules"),
        ("healthy", "pay-service logged no errors", "no_evidence_as_proof"),
        ("symptom", "pay-service returned no log lines", "no_evidence_as_proof"),
        ("root_cause", "pay-service is down", "no_evidence_as_proof"),
        ("gap", "pay-service is healthy, no logs were found", "no_evidence_as_proof"),
        ("gap", "pay-service had no errors", "no_evidence_as_proof"),
        ("gap", "pay-service 正常，没有查到日志", "no_evidence_as_proof"),
    ],
)
def test_an_empty_result_proves_only_that_the_query_returned_nothing(kind: str, text: str, rule: str) -> None:
    refs = (EvidenceRef(raw_path="$.no_evidence", text=NOTHING),)
    empty = invocation(evidence_status=EvidenceStatus.NO_EVIDENCE, evidence_refs=refs)
    assert outcome(claim(text, binding(NOTHING, raw_path="$.no_evidence"), claim_type=kind), empty) == rule


# ---------------------------------------------------------------- rules 3 to 6: the words


@pytest.mark.parametrize(
    "excerpt",
    [
        "HikariPool-1 - Connection is not\n    available, request timed out",
        "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in LINE),
        "HikariPool-1\u00a0\u2013\u00a0Connection is not\u3000available",
        "\x1b[31mHikariPool-1\x1b[0m - Connection \x1b[1mis not\x1b[0m available",
        "Hikari\u200bPool-1 - Connec\u00adtion is not available",
    ],
)
def test_layout_and_look_alikes_do_not_matter(excerpt: str) -> None:
    assert outcome(claim("The pool was empty", binding(excerpt))) == "all_rules"


def test_a_json_escaped_excerpt_quotes_the_text_as_stored() -> None:
    text = 'dial failed: "db-1:5432"\n\tat C:\\app\\pool.go — 连接超时'
    for escaped in (json.dumps(text)[1:-1], json.dumps(text), json.dumps(text, ensure_ascii=False)[1:-1]):
        checked = first(gate(claim("The dial failed", binding(escaped)), invocation(text)))
        assert (checked.outcome, checked.mode) == ("passed", "unescaped"), checked.detail
        assert text[checked.span_start : checked.span_end] == text


def test_escapes_of_the_evidence_are_never_resolved() -> None:
    assert (
        outcome(claim("It broke", binding('a "b" went wrong badly')), invocation('a \\"b\\" went wrong badly'))
        == "not_found"
    )


@pytest.mark.parametrize(
    ("excerpt", "rule"),
    [
        ("request timed out after 30001ms (total=10", "not_found"),
        ("hikaripool-1 - connection is not available", "not_found"),
        ("Connection is not available ... (total=10, active=10", "spliced_excerpt"),
        ("Connection is not available … active=10, idle=0", "spliced_excerpt"),
        ("Connection is not available, request waiting=187", "not_found"),
        ("Connection is not available, request timed out after 3000", "token_boundary"),
        ("onnection is not available, request timed", "token_boundary"),
        ("(total=10, active=10, idle=0, waiting=18", "token_boundary"),
        ("", "information_floor"),
        (" \n ", "information_floor"),
        ("\u200b", "information_floor"),
        ("ERROR", "information_floor"),
        ("2026-11-30 08:43:12.345", "information_floor"),
        ("2026-11-30 08:43:12.345 ERROR", "information_floor"),
        ("is not", "information_floor"),
        ("timed out", "information_floor"),
        ("2026-11-30 08:43:12.34", "token_boundary"),
        ("Connection is not\u202e available, request", "forbidden_characters"),
        ("Connection is not\U000e0041 available, request", "forbidden_characters"),
        ("Connection is not \\u202eavailable, request", "forbidden_characters"),
        ("x" * 1001, "too_long"),
    ],
)
def test_a_misquoted_excerpt_is_rejected(excerpt: str, rule: str) -> None:
    checked = first(gate(claim("The pool was empty", binding(excerpt))))
    assert (checked.outcome, checked.rule) == ("rejected", rule)
    assert checked.detail.startswith(RULES[rule])


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [
        ("the rate is 93 % of all calls now", "the rate is 93"),
        ("the rate is 93% of all calls now", "the rate is 93"),
        ("took 11.5 seconds in the pool today", "5 seconds in the pool today"),
        ("took 1.5 seconds in the pool today", "took 1"),
        ("sold 1,200 tickets in one hour today", "200 tickets in one hour today"),
        ("balance is -500 for that account now", "500 for that account now"),
        ("共有 1.2万 条消息积压在队列里", "共有 1.2"),
        ("at 08:43:12 the pool was empty again", "12 the pool was empty again"),
        ("ready 3/5 replicas of the order set", "5 replicas of the order set"),
    ],
)
def test_no_quote_ends_inside_a_number(text: str, excerpt: str) -> None:
    assert outcome(claim("It changed", binding(excerpt)), invocation(text)) == "token_boundary"


def test_between_cjk_characters_is_always_a_boundary() -> None:
    text = "数据库连接池已经耗尽请求等待超时三十秒"
    assert outcome(claim("连接池耗尽", binding("连接池已经耗尽请求")), invocation(text)) == "all_rules"


def test_the_end_of_a_cut_text_is_no_boundary() -> None:
    text = "HikariPool-1 gave up after count=300"
    cut = invocation(text, truncated=True)
    assert outcome(claim("It gave up", binding(text)), cut) == "token_boundary"
    assert outcome(claim("It gave up", binding("HikariPool-1 gave up after")), cut) == "all_rules"
    assert outcome(claim("It gave up", binding(text)), invocation(text)) == "all_rules"


def test_only_the_marked_ref_of_a_cut_answer_is_uncertain() -> None:
    text = "HikariPool-1 gave up after count=300"
    refs = (
        EvidenceRef(raw_path="$.logs[0]", text=text),
        EvidenceRef(raw_path="$.logs[1]", text=text, scope={"truncated": "yes"}),
    )
    cut = invocation(truncated=True, evidence_refs=refs)
    assert outcome(claim("It gave up", binding(text)), cut) == "all_rules"
    assert outcome(claim("It gave up", binding(text, raw_path="$.logs[1]")), cut) == "token_boundary"


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [
        ("first line\n0.93\nlast line", "0.93"),
        ("0.93", "0.93"),
        ("Reason: OOMKilled\n  Exit Code: 137\nMore", "Exit Code: 137"),
        ("a=1 count=19 before=0 z=2", "count=19"),
        ('{"status": 504, "path": "/pay"}', '"status": 504'),
        ("Container said\nOOMKilled\nand stopped", "OOMKilled"),
    ],
)
def test_a_whole_line_or_pair_is_enough(text: str, excerpt: str) -> None:
    assert outcome(claim("It was seen", binding(excerpt)), invocation(text)) == "all_rules"


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [
        ("level=ERROR count=19", "level=ERROR"),
        ("ts=2026-11-30T08:43:12Z count=19", "ts=2026-11-30T08:43:12Z"),
        ("error: connection refused by the host", "error: connection"),
        ("first\n2026-11-30 08:43:12 ERROR\nlast", "2026-11-30 08:43:12 ERROR"),
        ("first\n---\nlast", "---"),
    ],
)
def test_a_piece_that_says_nothing_is_not(text: str, excerpt: str) -> None:
    assert outcome(claim("It was seen", binding(excerpt)), invocation(text)) == "information_floor"


def test_ten_to_the_second_is_not_one_hundred_and_two() -> None:
    assert (
        outcome(claim("It is large", binding("limit is 102 units per pool")), invocation("limit is 10² units per pool"))
        == "not_found"
    )


# ---------------------------------------------------------------- claims as a whole


def test_a_fabricated_binding_does_not_ride_along_with_a_true_one() -> None:
    report = gate(claim("The pool was empty", binding(), binding("this line never was logged by anyone")))
    assert report.result.passed_claim_ids == ()
    assert [one.outcome for one in report.result.checked_bindings] == ["passed", "rejected"]
    assert report.evidence == ()


@pytest.mark.parametrize(
    "text",
    [
        "The pool was empty. The database was down",
        "连接池已经耗尽。数据库也不可用",
        "word " * 50,
        "10 total, 10 active and 187 waiting connections",
    ],
)
def test_a_claim_that_says_more_than_one_thing_is_rejected(text: str) -> None:
    assert outcome(claim(text)) == "atomicity"


def test_what_a_claim_quotes_does_not_make_it_long() -> None:
    assert outcome(claim(f"order-service logged: {LINE}")) == "all_rules"


def test_hidden_characters_in_a_claim_are_rejected() -> None:
    assert outcome(claim("The pool\u202e was empty")) == "forbidden_characters"


def test_two_claims_of_one_id_are_both_rejected() -> None:
    result = check_claims([claim(), claim("The pool was empty")], [invocation()], "run-1").result
    assert (result.passed_claim_ids, result.failed_rules) == ((), ("duplicate_claim_id",))
    assert result.errors


@pytest.mark.parametrize(
    ("text", "said", "rule"),
    [
        ("POST /pay done rt=60.001", "The request took 60 s", "all_rules"),
        ("POST /pay done rt=60.001", "The request took 60 ms", "number_not_in_evidence"),
        ("POST /pay done cost=4270", "The request took 4270 ms", "all_rules"),
        ("POST /pay done cost=4270", "The request took 4270 s", "number_not_in_evidence"),
        ("POST /pay done cost=4270", "The request took 4.3 s", "number_not_in_evidence"),
        ("POST /pay done size=4270", "The request took 4270 ms", "number_not_in_evidence"),
        ("POST /pay took 4270ms", "The request took 4 s", "number_not_in_evidence"),
        ("POST /pay took 4000ms", "The request took 4 s", "all_rules"),
        ("success of POST /pay 99.8%", "POST /pay succeeded 100 % of the time", "number_not_in_evidence"),
        ("POST /pay took 4.27s", "POST /pay took 4.3 s", "all_rules"),
        ("POST /pay took 4.27s", "POST /pay took 4.2 s", "number_not_in_evidence"),
    ],
)
def test_a_number_keeps_its_unit_and_its_precision(text: str, said: str, rule: str) -> None:
    assert outcome(claim(said, binding(text)), invocation(text)) == rule


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("It failed at 08:43", "all_rules"),
        ("It failed at 08:43:12 UTC", "all_rules"),
        ("It failed at 16:43 (UTC+8)", "all_rules"),
        ("北京时间 16:43 发生失败", "all_rules"),
        ("It failed on 2026-11-30", "all_rules"),
        ("It failed at 16:43", "time_not_in_evidence"),
        ("It failed at 08:44", "time_not_in_evidence"),
        ("It failed at 08:43:13", "time_not_in_evidence"),
        ("It failed at 08:43 (UTC+8)", "time_not_in_evidence"),
        ("It failed on 2026-11-29", "time_not_in_evidence"),
        ("It failed at 8:43 PM", "time_not_in_evidence"),
    ],
)
def test_stamps_with_a_zone_compare_as_instants(said: str, rule: str) -> None:
    text = "2026-11-30T08:43:12.345Z worker stopped with failure"
    assert outcome(claim(said, binding(text)), invocation(text)) == rule


def test_a_stamp_without_a_zone_compares_literally() -> None:
    text = "2026-11-30 16:43:12 worker stopped with failure"
    assert outcome(claim("It failed at 16:43", binding(text)), invocation(text)) == "all_rules"
    assert outcome(claim("It failed at 16:43 UTC", binding(text)), invocation(text)) == "time_not_in_evidence"
