"""When two records are one story: the same thing, near in time, and one of them says why."""

import pytest
from offline_alerts import OF_DATABASE, OF_POD, POD, SIBLING, alert, drafted, event, outside, pod, said, series
from offline_world import Answers

from agents.contracts import AiopsDraft

CRASHED = pod(POD, False, 5, reason="CrashLoopBackOff", exit_code=1)
BACK_OFF = event("BackOff", f"Back-off restarting failed container payments-api in pod {POD}")
PROBE = event("Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500")
AT = "2026-11-30T09:05:10Z"


def crashed_beside(*lines: str, of: str = POD) -> AiopsDraft:
    answers = outside(Answers(), "get_pods", pods=[CRASHED])
    outside(answers, "get_events", warning_events=[BACK_OFF])
    return drafted(outside(answers, "get_pod_logs", pod_name=of, logs="\n".join([*lines, f"{AT} INFO bye"])), OF_POD)


def log_list(*lines: tuple[str, str, str]) -> AiopsDraft:
    """`lines` are (moment, service, message) of a list of all services' logs."""
    answers = outside(Answers(), "get_pods", pods=[CRASHED])
    outside(answers, "get_events", warning_events=[PROBE])
    logs = [{"timestamp": at, "service": of, "message": text, "status": "error"} for at, of, text in lines]
    return drafted(outside(answers, "get_logs", logs=logs), OF_POD)


def test_a_back_off_and_a_crashed_pod_are_the_same_trouble_told_twice_and_no_cause() -> None:
    answers = outside(Answers(), "get_pods", pods=[CRASHED])
    draft = drafted(outside(answers, "get_events", warning_events=[BACK_OFF]), OF_POD)
    assert said(draft, "root_cause") == []
    assert any("Back-off restarting" in text for text in said(draft, "symptom"))


@pytest.mark.parametrize(
    "chatter",
    [
        "ERROR recommendations took too long, page served without them",
        "ERROR could not send newsletter 8841: mailbox full",
        "ERROR template monthly.html cannot be rendered: key footer is undefined",
        "ERROR connection refused by metrics-sink:9091, sample dropped",
        "ERROR x509: certificate has expired for telemetry.example, span dropped",
    ],
)
def test_an_unrelated_error_in_the_log_of_a_crashed_pod_is_not_its_cause(chatter: str) -> None:
    draft = crashed_beside(f"{AT} {chatter}")
    assert said(draft, "root_cause") == []
    assert any(chatter[6:30] in text for text in said(draft, "symptom"))


@pytest.mark.parametrize(
    "last_words",
    [
        "FATAL config validation failed: unknown field retryPolicy",
        "panic: runtime error: index out of range",
        "ERROR missing required environment variable DATABASE_URL",
        'Exception in thread "main" java.lang.IllegalStateException: no schema',
    ],
)
def test_what_a_process_writes_as_it_dies_is_the_cause_of_its_pods_crash(last_words: str) -> None:
    (cause, *_) = said(crashed_beside(f"{AT} {last_words}"), "root_cause")
    assert last_words.split()[-1] in cause


def test_last_words_of_hours_before_are_not_the_cause_of_this_crash() -> None:
    assert said(crashed_beside("2026-11-30T02:05:10Z FATAL config validation failed: unknown field retryPolicy"), "root_cause") == []


def test_a_sibling_that_died_is_not_the_cause() -> None:
    draft = crashed_beside(f"{AT} panic: runtime error: index out of range", of=SIBLING)
    assert not any("panic" in text for text in said(draft, "root_cause"))


@pytest.mark.parametrize(
    ("at", "service", "message"),
    [
        ("2026-11-30T09:04:00Z", "report-builder", "ERROR x509: certificate has expired for smtp.partner.example"),
        ("2026-11-30T09:04:00Z", "report-builder", "liveness probe failed: statuscode 500, gave up"),
        ("2026-11-30T01:00:00Z", "payments-api", "liveness probe endpoint answered 500 in a smoke test"),
    ],
)
def test_an_error_of_another_service_or_another_hour_is_in_no_cause(at: str, service: str, message: str) -> None:
    causes = said(log_list((at, service, message)), "root_cause")
    assert not any(message[:20] in text or service == "report-builder" and service in text for text in causes)


def test_a_record_of_another_thing_does_not_state_this_alerts_cause() -> None:
    answers = outside(Answers(), "get_events", warning_events=[BACK_OFF])
    logs = [{"service": "report-builder", "message": "x509: certificate has expired for smtp.partner.example"}]
    draft = drafted(outside(answers, "get_logs", logs=logs), OF_POD)
    assert said(draft, "root_cause") == []
    assert "Back-off" in said(draft, "symptom")[0]


def test_a_failed_call_and_the_bad_state_of_what_was_called_are_the_cause() -> None:
    answers = outside(Answers(), "get_pods", pods=[pod("redis-cart-0", False, 3, reason="CrashLoopBackOff")])
    line = f"{AT} ERROR dial tcp redis-cart:6379: connect: connection refused"
    draft = drafted(outside(answers, "get_pod_logs", pod_name=POD, logs=f"{line}\n{AT} INFO bye"), OF_POD)
    assert "redis-cart-0" in said(draft, "root_cause")[0]


def test_a_line_that_only_mentions_a_thing_in_trouble_is_no_failed_call() -> None:
    answers = outside(Answers(), "get_pods", pods=[pod("redis-cart-0", False, 3, reason="CrashLoopBackOff")])
    line = f"{AT} ERROR price of redis-cart sticker is negative"
    draft = drafted(outside(answers, "get_pod_logs", pod_name=POD, logs=f"{line}\n{AT} INFO bye"), OF_POD)
    assert said(draft, "root_cause") == []


def test_trouble_that_its_thing_has_outlived_is_told_as_over_and_not_as_a_cause() -> None:
    late = event("FailedScheduling", "0/2 nodes are available: 2 Insufficient cpu", at="2026-11-30T08:00:00Z")
    answers = outside(Answers(), "get_events", warning_events=[late])
    ready = pod(POD, True, since="2026-11-30T08:03:00Z")
    draft = drafted(outside(answers, "get_pods", pods=[ready]), alert("PodPending", {"pod": POD, "namespace": "payments"}))
    assert said(draft, "root_cause") == []
    assert any(text.startswith("This is over") for text in said(draft, "symptom"))
    assert said(draft, "healthy")


def test_what_a_silent_monitor_would_say_is_no_symptom() -> None:
    monitors = [{"name": "payments-api p95", "overall_state": "OK", "message": "payments-api p95 latency above 2s"}]
    answers = outside(outside(Answers(), "get_pods", pods=[CRASHED]), "get_monitors", monitors=monitors)
    assert not any("above 2s" in text for text in said(drafted(answers, OF_POD), "symptom"))


def test_a_level_that_moved_hours_before_the_line_is_not_its_second_source() -> None:
    def cause(at: str) -> list[str]:
        line = {"date": at, "message": "orders-prod: too many connections, slots are reserved", "source_identifier": "orders-prod"}
        answers = outside(Answers(), "get_events", events=[line])
        outside(answers, "get_metrics", results=[series("DatabaseConnections", [100.0] * 5 + [900.0] * 10)])
        return said(drafted(answers, OF_DATABASE), "root_cause")

    assert cause("2026-11-30T08:20:00Z")
    assert cause("2026-11-30T15:20:00Z") == []


def test_a_record_of_days_ago_states_no_cause_of_todays_alert() -> None:
    def causes(at: str) -> list[str]:
        line = {"date": at, "message": "DB instance restarted due to an engine patch.", "source_identifier": "orders-prod"}
        answers = outside(Answers(), "get_events", events=[line])
        outside(answers, "get_metrics", results=[series("DatabaseConnections", [100.0] * 15)])
        return said(drafted(answers, OF_DATABASE), "root_cause")

    assert causes("2026-11-30T08:10:00Z")
    assert causes("2026-11-20T08:10:00Z") == []


def test_an_event_that_says_what_it_is_due_to_is_told_as_an_event_and_no_change() -> None:
    line = {"date": "2026-11-30T08:10:00Z", "message": "orders-prod was restarted due to an engine patch."}
    draft = drafted(outside(Answers(), "get_events", events=[line]), alert("DatabaseRestarted", {"db_instance": "orders-prod"}))
    assert not any("A change reads" in claim.claim_text for claim in draft.claims)


def test_trouble_of_days_ago_is_not_told_beside_todays() -> None:
    killed = event("OOMKilling", "Memory cgroup out of memory: Killed process 91", at="2026-11-20T03:00:00Z")
    answers = outside(Answers(), "get_pods", pods=[CRASHED])
    outside(answers, "get_events", warning_events=[killed, BACK_OFF])
    log = outside(answers, "get_pod_logs", pod_name=POD, logs=f"{AT} FATAL cannot parse rates.yaml\n{AT} INFO bye")
    claims = [claim.claim_text for claim in drafted(log, OF_POD).claims]
    assert "rates.yaml" in claims[0]
    assert not any("out of memory" in text for text in claims)


def test_a_threshold_that_was_crossed_and_the_level_itself_are_one_symptom() -> None:
    line = {"date": "2026-11-30T08:10:00Z", "message": "orders-prod: replication lag has exceeded 600 seconds."}
    answers = outside(Answers(), "get_events", events=[line])
    outside(answers, "get_metrics", results=[series("ReplicaLag", [2.0] * 5 + [900.0] * 10)])
    draft = drafted(answers, OF_DATABASE)
    assert said(draft, "root_cause") == []
    assert any("ReplicaLag" in text for text in said(draft, "symptom"))


def test_what_a_registry_answered_is_quoted_to_its_end() -> None:
    long = f"Failed to pull image \"registry.example.com/{'team/' * 12}cart:1.9.9\": rpc error: code = NotFound desc = "
    told = "failed to pull and unpack image: registry.example.com/cart:1.9.9: not found"
    answers = outside(Answers(), "get_events", warning_events=[event("Failed", long + told)])
    assert told in said(drafted(answers, OF_POD), "root_cause")[0]
