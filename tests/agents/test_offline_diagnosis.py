from dataclasses import replace

import pytest
from offline_world import BUILTIN, RUNBOOK, Answers, executor_request

from agents.contracts import ExecutorDraft, RetryContext
from agents.offline.claims import Statement, cite
from agents.offline.executor import turn
from agents.offline.own_check import provable
from agents.offline.quotes import message
from agents.offline.sentences import sentences_of
from tools.contracts import EvidenceRef

POOL = "order-service ERROR 50 0 08:43 ORD-5031 order not stored: no connection from the pool"
CALLER = "checkout-service ERROR 50 0 08:43 CHK-5042 call to order-service failed with ORD-5031"
NOISE = "recommendation-service WARN 557 0 08:30 feature cache miss for segment 975"
SHRUNK = "order-service 08:41 connection pool size 30 -> 8"
DEPLOY = "recommendation-service 08:30 deploy recommendation-service 2.14.0"


def drafted(question: str, answers: Answers, language: str = "en", retry: RetryContext | None = None) -> ExecutorDraft:
    """Tools are gone, so that the turn has to conclude."""
    reply = turn(executor_request(question, (), answers, language=language, retry=retry))
    assert isinstance(reply, ExecutorDraft)
    return reply


def causes(draft: ExecutorDraft) -> list[str]:
    return [claim.claim_text for claim in draft.claims if claim.claim_type == "root_cause"]


def test_a_code_that_a_runbook_explains_is_the_cause() -> None:
    answers = Answers().logs(POOL, CALLER, NOISE).changes(SHRUNK, DEPLOY).knowledge(RUNBOOK)
    draft = drafted("Why is checkout slow?", answers)
    (cause,) = causes(draft)
    assert "ORD-5031" in cause
    tools = {ref.ref for claim in draft.claims if claim.claim_type == "root_cause" for ref in claim.evidence}
    assert len(tools) == 2


def test_the_change_before_the_first_error_is_told_with_the_cause() -> None:
    draft = drafted("Why is checkout slow?", Answers().logs(POOL, CALLER).changes(DEPLOY, SHRUNK).knowledge(RUNBOOK))
    changes = [claim.claim_text for claim in draft.claims if claim.claim_type == "change"]
    assert len(changes) == 1
    assert "30 -> 8" in changes[0]


def test_what_is_loud_beside_the_asked_path_is_not_claimed() -> None:
    draft = drafted("Why is checkout slow?", Answers().logs(NOISE, POOL, CALLER).changes(DEPLOY, SHRUNK).knowledge(RUNBOOK))
    assert "recommendation" not in " ".join(claim.claim_text for claim in draft.claims)


def test_a_change_of_the_same_thing_just_before_the_error_is_a_cause_without_a_runbook() -> None:
    (cause,) = causes(drafted("Why is checkout slow?", Answers().logs(POOL, CALLER).changes(SHRUNK)))
    assert "30 -> 8" in cause


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ORD-5031 order not stored: no connection \u202efrom the pool", "ORD-5031 order not stored: no connection"),
        ("user \u202e4711\u202c order not stored: no connection from the pool", "order not stored: no connection from the pool"),
        ("ORD-5031 order no \u202e4711\u202c not stored: no connection from the pool", "not stored: no connection from the pool"),
        ("order not\u200b stored: no connection from the pool", "no connection from the pool"),
    ],
)
def test_an_error_is_quoted_round_characters_that_hide_words(line: str, told: str) -> None:
    claims = drafted("Why is order-service failing?", Answers().logs(f"order-service ERROR 50 0 08:43 {line}")).claims
    assert ["08:43" in claim.claim_text and told in claim.claim_text for claim in claims] == [True]
    assert "\u202e" not in claims[0].model_dump_json()


@pytest.mark.parametrize(
    "change",
    [
        "order-service 08:50 connection pool size 30 -> 8",
        "order-service 05:00 connection pool size 30 -> 8",
        "order-service 08:41 new invoice template",
        "recommendation-service 08:41 connection pool size 30 -> 8",
    ],
)
def test_a_change_after_the_error_long_before_it_or_of_something_else_is_no_cause(change: str) -> None:
    assert causes(drafted("Why is checkout slow?", Answers().logs(POOL, CALLER).changes(change))) == []


def test_without_a_runbook_or_a_change_the_error_is_a_hypothesis_and_says_what_it_needs() -> None:
    draft = drafted("Why is checkout slow?", Answers().logs(POOL, CALLER))
    assert causes(draft) == []
    assert "ORD-5031" in draft.hypotheses[0].hypothesis_text
    assert any("ORD-5031" in needed for needed in draft.hypotheses[0].needed_evidence)
    assert any("lookup_knowledge" in line for line in draft.missing_info)


def test_a_past_case_is_no_proof_of_todays_cause() -> None:
    answers = Answers().logs(POOL, CALLER).knowledge(RUNBOOK, domain="cases")
    assert causes(drafted("Why is checkout slow?", answers)) == []


def test_a_runbook_that_calls_the_code_a_symptom_names_no_cause() -> None:
    answers = Answers().logs(CALLER).knowledge("CHK-5042 means that the callee failed; it is only a symptom.")
    assert causes(drafted("Why is checkout slow?", answers)) == []


def test_an_error_that_was_there_before_at_the_same_rate_is_no_cause() -> None:
    answers = Answers().logs("checkout-service ERROR 50 49 08:11 PAY-2007 card declined")
    answers.knowledge("Cause: PAY-2007 means that the bank declined the card.")
    assert causes(drafted("Why is checkout slow?", answers)) == []


def test_claims_are_chinese_and_quotes_stay_verbatim_for_a_chinese_question() -> None:
    draft = drafted("结账为什么变慢了？", Answers().logs(POOL, CALLER).changes(SHRUNK).knowledge(RUNBOOK), "zh")
    text = " ".join(claim.claim_text for claim in draft.claims)
    assert "运行手册给出的原因" in text
    assert "the connection pool of order-service is exhausted" in text


def test_of_two_runbooks_the_one_in_the_readers_language_is_quoted() -> None:
    chinese = "原因：ORD-5031 表示 order-service 的连接池已耗尽，所有连接都被占用。"
    answers = Answers().logs(POOL, CALLER).knowledge(RUNBOOK, chinese)
    assert "连接池已耗尽" in causes(drafted("结账为什么变慢了？", answers, "zh"))[0]
    assert "connection pool" in causes(drafted("Why is checkout slow?", answers))[0]


def test_the_runbooks_advice_becomes_a_next_step() -> None:
    answers = Answers().logs(POOL, CALLER).knowledge(RUNBOOK, "Fix: for ORD-5031 set the pool size back to 30.")
    actions = [action.action_text for action in drafted("Why is checkout slow?", answers).recommended_actions]
    assert "for ORD-5031 set the pool size back to 30." in actions


def test_a_change_and_an_error_that_speak_of_one_thing_are_a_cause_and_others_are_not() -> None:
    changed = "+  tag: 1.15.0 # enables schema migrations on startup"
    locked = "web-1 FATAL: could not obtain migration lock"
    for log, expected in ((locked, 1), ("web-1 FATAL: disk quota of the tenant", 0)):
        answers = Answers().text("what_changed", {}, changed).text("pod_logs", {"pod_name": "web-1"}, log)
        assert len(causes(drafted("Why is web-1 failing?", answers))) == expected


@pytest.mark.parametrize(("path", "expected"), [("apps/web/values.yaml", 1), ("apps/promo-banner/values.yaml", 0)])
def test_a_change_in_another_workloads_file_is_no_cause_whatever_words_it_shares(path: str, expected: int) -> None:
    changed = f"--- {path}\n-  templates: v1\n+  templates: v2"
    answers = Answers().text("what_changed", {}, changed)
    answers.text("pod_logs", {"pod_name": "web-1"}, "web-1 ERROR template engine failed")
    assert len(causes(drafted("Why is web-1 failing?", answers))) == expected


def test_another_pod_in_the_list_of_the_namespace_states_no_cause_of_the_asked_one() -> None:
    rows = "web-1     0/1   CrashLoopBackOff   4\nbatch-9   0/1   OOMKilled   7"
    answers = Answers().text("get_pods", {"namespace": "shop"}, rows)
    assert causes(drafted("What is wrong with web-1 in namespace shop?", answers)) == []


def test_a_claim_that_the_gate_would_refuse_is_never_made() -> None:
    answers = Answers().logs(POOL)
    (cited,) = answers.exchanges[0].refs
    false = Statement("symptom", "order-service failed 99 times", (cite(cited),))
    weaker = Statement("symptom", "order-service has logged a new error since 08:43 UTC", (cite(cited),))
    assert provable([false], answers.exchanges) == ()
    bolder = Statement("root_cause", "order-service is the root cause", (cite(cited),), weaker)
    assert [claim.claim_text for claim in provable([bolder], answers.exchanges)] == [weaker.text]


def test_nothing_found_is_a_gap_and_never_health() -> None:
    draft = drafted("Why is checkout slow?", Answers().nothing("query_logs", {"compare": True}))
    assert {claim.claim_type for claim in draft.claims} == {"gap"}


def test_no_answers_at_all_still_give_a_draft_that_says_so() -> None:
    draft = drafted("Why is checkout slow?", Answers())
    assert draft.claims == ()
    assert draft.missing_info


def test_a_failed_tool_is_named_with_the_reason_in_plain_words() -> None:
    answers = Answers().failed("list_by_kind", {"kind": "secret"}, "Error (Forbidden): secrets is forbidden for user x")
    assert any("list_by_kind failed for secret: access is forbidden" in line for line in drafted("?", answers).missing_info)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Why did order SO-20261130-4380 fail?", "SO-20261130-4380"),
        ("What is wrong with billing-service?", "billing-service"),
        ("How many orders failed?", "counted"),
    ],
)
def test_what_was_asked_for_and_never_seen_is_missing(question: str, missing: str) -> None:
    draft = drafted(question, Answers().logs(POOL, CALLER).knowledge(RUNBOOK))
    assert any(missing in line for line in draft.missing_info)
    assert not any("Nothing that" in line for line in drafted("What is wrong with order-service?", Answers().logs(POOL)).missing_info)


@pytest.mark.parametrize(("lowest", "highest", "steady"), [("40", "44", True), ("0.054", "1.86", False)])
def test_a_slow_climb_is_not_called_steady(lowest: str, highest: str, steady: bool) -> None:
    text = (
        'rate(http_requests_total{service="web"}[5m]) {code="502",service="web"} from=2026-11-30T08:40:00Z '
        f"to=2026-11-30T08:50:00Z first={lowest} last={highest} min={lowest} max={highest} mean=1 change=none"
    )
    series = EvidenceRef(raw_path="$.series[0]", text=text, scope={"service": "web"})
    claims = drafted("Is web ok?", Answers().found("query_metrics", {"mode": "range"}, [series])).claims
    assert [claim.claim_text for claim in claims] == (
        [f"rate http_requests_total code=502 of web shows no change of level (change=none), last {highest}"] if steady else []
    )


def test_where_the_calls_are_spent_no_tool_is_called_unavailable() -> None:
    missing = " ".join(drafted("Why is checkout slow?", Answers().logs(POOL)).missing_info)
    assert "were spent" in missing
    assert "not available" not in missing


def test_log_files_that_could_not_be_read_are_missing() -> None:
    notes = ["svc.log was not read: binary, not text"]
    answers = Answers().found("query_logs", {}, [_ref(POOL)], notes=notes)
    assert any("could not be read" in line for line in drafted("Why is checkout slow?", answers).missing_info)
    assert not any("could not be read" in line for line in drafted("Why?", Answers().logs(POOL)).missing_info)


def _ref(text: str) -> EvidenceRef:
    return EvidenceRef(raw_path="$.logs[0]", text=text, scope={"service": "order-service"})


def test_the_second_round_adds_only_what_the_first_did_not_say() -> None:
    first = Answers()
    for name, arguments in _first_calls():
        first.nothing(name, arguments)
    first.logs(POOL, CALLER)
    retry = RetryContext(round=1, missing_evidence_facts=("x",), instruction="only these")
    assert drafted("Why is checkout slow?", first).claims
    request = executor_request("Why is checkout slow?", BUILTIN, first, retry=retry)
    second = turn(request)
    while not isinstance(second, ExecutorDraft):
        for call in second:
            first.nothing(call.name, call.arguments or {})
            first.exchanges[-1] = replace(first.exchanges[-1], node_round=2)
        second = turn(executor_request("Why is checkout slow?", BUILTIN, first, retry=retry))
    assert all(claim.claim_type == "gap" for claim in second.claims)


def _first_calls() -> list[tuple[str, dict[str, object]]]:
    reply = turn(executor_request("Why is checkout slow?", BUILTIN, Answers()))
    assert isinstance(reply, tuple)
    return [(call.name, dict(call.arguments or {})) for call in reply]


def test_a_question_about_changes_gets_them_and_nothing_else() -> None:
    draft = drafted("What changed this morning?", Answers().logs(POOL, CALLER).changes(DEPLOY, SHRUNK))
    assert [claim.claim_type for claim in draft.claims] == ["change", "change"]


def test_an_error_whose_age_is_not_known_is_no_cause() -> None:
    uncompared = POOL.replace(" 50 0 ", " 50 None ")
    draft = drafted("Why is checkout slow?", Answers().logs(uncompared, CALLER.replace(" 0 ", " None ")).knowledge(RUNBOOK))
    assert causes(draft) == []
    assert any("before the window" in line for line in draft.missing_info)


def test_both_languages_have_the_same_sentences() -> None:
    english, chinese = sentences_of("en").entries, sentences_of("zh").entries
    assert {group: set(entries) for group, entries in english.items()} == {
        group: set(entries) for group, entries in chinese.items()
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("2026-11-30T11:16:54.501746Z error tls handshake with a.example failed peer=a.example:443 code=PAY-7009", "tls handshake with a.example failed"),
        ("2026/11/30 11:17:01 [error] 31#31: *7003 connect() failed (111: Connection refused)", "connect() failed (111: Connection refused)"),
        ("2026-11-30 11:17:12,999 ERROR [exec-47] c.s.cart.PaymentClient - payment call failed for cart 7054", "payment call failed for cart 7054"),
    ],
)  # fmt: skip
def test_a_quoted_log_line_begins_with_its_message(line: str, said: str) -> None:
    assert message(line) == said


@pytest.mark.parametrize(
    ("question", "arguments", "is_told"),
    [
        ("Why do some orders fail?", {"mode": "range", "match": "cpu memory"}, False),
        ("Is everything healthy?", {"mode": "range", "match": "cpu memory"}, False),
        ("Why is order-service failing?", {"mode": "alerts"}, False),
        ("Why is order-service failing?", {"mode": "range", "match": "order-service"}, True),
        ("Is order-service healthy?", {"mode": "alerts"}, True),
    ],
)
def test_only_an_empty_look_up_that_the_question_needed_is_a_gap(
    question: str, arguments: dict[str, str], is_told: bool
) -> None:
    answers = Answers().logs(POOL).nothing("query_metrics", arguments)
    assert ["gap" for claim in drafted(question, answers).claims if claim.claim_type == "gap"] == ["gap"] * is_told


def test_that_no_model_was_used_is_no_gap_that_somebody_could_fill() -> None:
    answers = Answers().logs(POOL, CALLER, NOISE).changes(SHRUNK, DEPLOY).knowledge(RUNBOOK)
    told = " ".join(drafted("Why is checkout slow?", answers).missing_info)
    assert "model" not in told


def test_outside_look_ups_that_name_nothing_are_no_gap() -> None:
    answers = Answers().text("kube_events", {"namespace": "shop"}, "Warning Failed pod/eval-victim Error: ErrImagePull")
    answers.nothing("gitops_status", {}).nothing("kube_get", {"name": "eval-victim"})
    draft = drafted("Why does eval-victim not start?", answers)
    told = " ".join([*draft.missing_info, *(claim.claim_text for claim in draft.claims)])
    assert ("gitops_status" in told, "kube_get" in told) == (False, True)
    assert not [claim for claim in draft.claims if claim.claim_type == "gap"]
