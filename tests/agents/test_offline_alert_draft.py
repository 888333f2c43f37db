import pytest
from offline_alerts import (
    OF_DATABASE,
    OF_POD,
    POD,
    alert,
    drafted,
    event,
    group,
    outside,
    pod,
    rejected,
    said,
    series,
    statement,
)
from offline_world import RUNBOOK, Answers

from agents.contracts import Alert, RetryContext

OOM = event("BackOff", f"Back-off restarting failed container in pod {POD} (reason: OOMKilled, exit code: 137)")
KILLED = "2026-11-30T09:05:10Z [kernel] Memory cgroup out of memory: Killed process 1 (payments-api)"
LAG = {"date": "2026-11-30T09:00:00Z", "message": "Read replica of orders-prod: replication lag has exceeded 900 seconds."}
WRITES = statement("UPDATE orders SET status = $1 WHERE batch_id = $2", 5.9, "IO:WALWrite")
READS = statement("SELECT COUNT(*) FROM sales_fact GROUP BY region_id", 1.8, "CPU:user")
STEP = [20.0] * 5 + [95.0] * 10


def with_logs(answers: Answers, *lines: str) -> Answers:
    return outside(answers, "get_pod_logs", pod_name=POD, logs="\n".join([*lines, "INFO bye"]))


def lag(*statements: dict[str, object]) -> Answers:
    answers = outside(Answers(), "get_events", events=[LAG])
    return outside(answers, "get_load", db_instance_identifier="orders-prod", top_sql=list(statements))


def worlds() -> list[tuple[Answers, Alert]]:
    pods = outside(Answers(), "get_pods", pods=[pod(POD, False, 8, reason="CrashLoopBackOff")])
    moved = outside(Answers(), "get_metrics", results=[series("CPUUtilization", STEP, unit="Percent")])
    return [
        (with_logs(outside(pods, "get_events", warning_events=[OOM]), KILLED), OF_POD),
        (lag(WRITES, READS), OF_DATABASE),
        (outside(moved, "get_load", top_sql=[READS]), alert("CPUUtilizationHigh", {"db_instance": "orders-prod"})),
        (Answers().logs("order-service ERROR 50 0 08:43 ORD-5031 no connection").knowledge(RUNBOOK), alert("OrdersFail")),
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("number", range(4))
def test_every_claim_passes_the_gatekeeper(number: int, language: str) -> None:
    answers, fired = worlds()[number]
    draft = drafted(answers, fired, language=language)
    assert said(draft, "root_cause")
    assert rejected(draft, answers) == []


def test_an_event_and_a_log_of_another_tool_that_agree_are_the_cause() -> None:
    (cause, *_) = said(drafted(with_logs(outside(Answers(), "get_events", warning_events=[OOM]), KILLED), OF_POD), "root_cause")
    assert cause.startswith("Independent sources agree")
    assert "exit code: 137" in cause
    assert "Killed process" in cause


def test_one_line_that_two_tools_show_is_one_source() -> None:
    line = "ERROR All host(s) tried for query failed (tried: prod-db:3333), no available connection"
    answers = with_logs(Answers(), line)
    outside(answers, "get_all_logs", pod_name=POD, logs=f"{line}\nINFO bye")
    draft = drafted(answers, OF_POD)
    assert said(draft, "root_cause") == []
    assert "prod-db:3333" in draft.hypotheses[0].hypothesis_text


def test_a_log_error_and_the_crashed_state_of_the_same_pod_are_the_cause() -> None:
    answers = outside(Answers(), "get_pods", pods=[pod(POD, False, 5, reason="CrashLoopBackOff", exit_code=1)])
    draft = drafted(with_logs(answers, "ERROR missing required environment variable DATABASE_URL"), OF_POD)
    assert "DATABASE_URL" in said(draft, "root_cause")[0]
    assert "configuration" in draft.recommended_actions[0].action_text


def test_an_error_that_names_a_third_thing_is_borne_out_by_that_things_monitor() -> None:
    answers = with_logs(Answers(), "ERROR upstream ledger-db.internal:5432 connection refused")
    monitors = [{"name": "payments-api latency", "overall_state": "Alert"}, {"name": "ledger-db up", "overall_state": "Alert"}]
    draft = drafted(outside(answers, "get_monitors", monitors=monitors), alert("ErrorRateHigh", {"service": "payments-api"}))
    assert "ledger-db up" in said(draft, "root_cause")[0]


def test_a_node_that_is_down_comes_before_what_ran_on_it() -> None:
    down = event("NodeNotReady", "Node worker-3 status is now: NodeNotReady", "Node/worker-3")
    answers = outside(Answers(), "get_events", warning_events=[OOM, down])
    outside(answers, "get_node_health", nodes=[{"name": "worker-3", "ready": "False"}, {"name": "worker-1", "ready": "True"}])
    storm = [alert(f"Down{n}", {"pod": POD, "node": "worker-3"}) for n in range(40)]
    draft = drafted(answers, *storm)
    assert "worker-3" in said(draft, "root_cause")[0]
    assert "worker-3" in group(draft, "affected")
    assert group(draft, "healthy") == {"worker-1"}


def test_replication_lag_and_the_statement_that_writes_are_the_cause() -> None:
    draft = drafted(lag(WRITES, READS), OF_DATABASE)
    (cause,) = said(draft, "root_cause")
    assert "UPDATE orders" in cause
    assert any("write-heavy workload" in text for text in said(draft, "symptom"))


def test_a_second_load_is_to_be_looked_at_apart_and_is_no_cause() -> None:
    draft = drafted(lag(WRITES, READS), OF_DATABASE)
    assert "SELECT COUNT" not in " ".join(said(draft, "root_cause"))
    assert any("may be another problem" in one.action_text for one in draft.recommended_actions)


def test_a_statement_that_does_not_write_drives_no_replication_lag() -> None:
    assert said(drafted(lag(READS), OF_DATABASE), "root_cause") == []


def test_the_alerts_series_and_what_uses_up_the_same_are_the_cause() -> None:
    answers, fired = worlds()[2]
    (cause,) = said(drafted(answers, fired), "root_cause")
    assert "20 before and 95 after" in cause
    assert "SELECT COUNT" in cause


def test_a_series_of_another_database_is_not_told() -> None:
    answers = outside(Answers(), "get_metrics", results=[series("CPUUtilization", STEP, of="billing-prod")])
    assert drafted(answers, OF_DATABASE).claims == ()


def test_the_questions_engine_serves_an_alert_of_our_own_tools() -> None:
    answers = Answers().logs("order-service ERROR 50 0 08:43 ORD-5031 order not stored: no connection from the pool")
    answers.changes("order-service 08:41 connection pool size 30 -> 8").knowledge(RUNBOOK)
    draft = drafted(answers, alert("OrdersFailing", {"service": "order-service"}))
    assert "ORD-5031" in said(draft, "root_cause")[0]
    assert "30 -> 8" in said(draft, "change")[0]
    assert group(draft, "affected") == {"order-service"}


def test_what_ails_other_things_has_another_reason_and_is_no_cause() -> None:
    answers = Answers().logs("order-service ERROR 50 0 08:43 ORD-5031 no connection from the pool").knowledge(RUNBOOK)
    draft = drafted(answers, alert("DiskFull", {"instance": "db-3:9100"}))
    assert said(draft, "root_cause") == []
    assert group(draft, "other_reason") == {"order-service"}
    assert draft.not_checked == ("db-3",)
    assert "db-3" in draft.recommended_actions[0].action_text


@pytest.mark.parametrize(
    ("language", "look", "usual"),
    [("en", "Check db-slave-2 itself", "not a finding of this run"), ("zh", "请直接检查 db-slave-2", "并非本次查证的结论")],
)
def test_where_nothing_is_proven_the_alerts_usual_remedy_comes_last_and_reads_as_no_finding(
    language: str, look: str, usual: str
) -> None:
    lagging = alert("MySQL: Replication lag is too high", {"component": "replication", "host": "db-slave-2"})
    draft = drafted(Answers(), lagging, language=language)
    assert draft.claims == ()
    first, last = [action.action_text for action in draft.recommended_actions]
    assert first.startswith(look)
    assert usual in last


def test_a_remedy_of_something_proven_stands_as_it_is() -> None:
    texts = [action.action_text for action in drafted(lag(WRITES, READS), OF_DATABASE).recommended_actions]
    assert texts[0] == "Slow down or split the bulk writes until the replica has caught up."
    assert not any("not a finding" in text for text in texts)


def test_an_earlier_case_is_no_evidence() -> None:
    answers = Answers().knowledge(f"{RUNBOOK} CheckoutSlow", domain="cases")
    assert drafted(answers, alert("CheckoutSlow", {"service": "checkout"})).claims == ()


def test_the_alerts_runbook_gives_the_first_step() -> None:
    answers = Answers().knowledge("CheckoutSlow\n\nFix: Raise the pool size of checkout.")
    (first, *_) = drafted(answers, alert("CheckoutSlow", {"service": "checkout"})).recommended_actions
    assert first.action_text == "Raise the pool size of checkout."


def test_of_a_storms_many_names_few_are_reported_as_unseen() -> None:
    storm = [alert("Down", {"service": f"svc-{n}", "node": "worker-3"}) for n in range(40)]
    draft = drafted(Answers().logs("order-service ERROR 5 0 08:43 boom happened here"), *storm)
    assert sum("speaks of" in line for line in draft.missing_info) == 2


def test_a_later_round_says_only_what_is_new() -> None:
    first = outside(Answers(), "get_events", warning_events=[OOM])
    retry = RetryContext(round=1, missing_evidence_facts=(), instruction="")
    assert drafted(first, OF_POD, retry=retry).claims == ()


def test_the_change_just_before_is_told_where_it_is_no_proven_cause() -> None:
    answers = Answers().logs("billing-service WARN 50 0 08:43 cache miss, computing it again")
    answers.changes("billing-service 08:30 deploy 2.14.0", "billing-service 08:50 deploy 2.15.0", "other-service 08:30 deploy 1")
    draft = drafted(answers, alert("CpuHigh", {"service": "billing-service"}))
    (change,) = said(draft, "change")
    assert "2.14.0" in change
    assert said(draft, "root_cause") == []
