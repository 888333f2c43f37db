import pytest
from offline_alerts import OF_POD, POD, SIBLING, alert, drafted, event, group, outside, pod, said, series, statement
from offline_world import Answers

from agents.contracts import Alert
from agents.offline.records import records
from tools.external import wrap_text

FLAT = [120.0, 121.0, 119.0] * 5
RECOVERED = "Node worker-3 status is now: NodeNotReady (recovered after 30s)"


def moods(**output: object) -> list[str]:
    return [one.mood for one in records((), outside(Answers(), "get_x", **output).exchanges)]


@pytest.mark.parametrize(
    ("record", "mood"),
    [
        ({"name": "m", "overall_state": "OK"}, "good"),
        ({"name": "m", "overall_state": "Alert"}, "bad"),
        ({"name": "n", "ready": "True", "memory_pressure": "False"}, "good"),
        ({"name": "n", "ready": "True", "memory_pressure": "True"}, "bad"),
        ({"name": "d", "ready": 3, "unavailable": 0}, "good"),
        ({"name": "d", "ready": 1, "unavailable": 2}, "bad"),
        ({"date": "2026-11-30T09:00:00Z", "message": "DB instance orders-prod is available."}, "back"),
        ({"date": "2026-11-30T09:00:00Z", "message": "DB instance ran out of storage space."}, "trouble"),
        ({"date": "2026-11-30T09:00:00Z", "message": "Backup of orders-prod"}, "plain"),
    ],
)
def test_a_record_is_read_as_good_bad_over_or_trouble(record: dict[str, object], mood: str) -> None:
    assert moods(items=[record]) == [mood]


def test_an_empty_list_of_trouble_says_that_there_is_none() -> None:
    assert moods(warning_events=[]) == ["none"]
    assert moods(pods=[]) == ["plain"]


def test_pods_that_are_ready_and_no_event_are_health() -> None:
    answers = outside(outside(Answers(), "get_pods", pods=[pod(POD, True)]), "get_events", warning_events=[])
    draft = drafted(answers, OF_POD)
    assert "is healthy: state normal, no failure found" in said(draft, "healthy")[0]
    assert group(draft, "healthy") >= {POD}
    assert group(draft, "affected") == set()


def test_trouble_that_the_record_calls_over_is_told_as_over() -> None:
    answers = outside(Answers(), "get_events", warning_events=[event("NodeNotReady", RECOVERED, "Node/worker-3")])
    outside(answers, "get_node_health", nodes=[{"name": "worker-3", "ready": "True"}])
    draft = drafted(answers, alert("KubernetesWarningEventBurst", {"namespace": "payments"}))
    assert "has recovered" in said(draft, "healthy")[0]
    assert group(draft, "affected") == set()
    assert "Nothing to do now" in draft.recommended_actions[0].action_text


def test_an_event_after_the_pods_last_start_still_stands() -> None:
    late = event("BackOff", "Back-off restarting failed container", at="2026-11-30T09:09:00Z")
    for start, is_well in (("2026-11-30T09:00:00Z", False), ("2026-11-30T09:09:30Z", True)):
        # one restart: a loop would have to stay up for a while first
        answers = outside(Answers(), "get_pods", pods=[pod(POD, True, 1, since=start)])
        draft = drafted(outside(answers, "get_events", warning_events=[late]), OF_POD)
        assert bool(said(draft, "healthy")) is is_well


def test_a_ready_pod_is_no_answer_to_an_alert_about_its_cpu() -> None:
    throttled = alert("CPUThrottlingHigh", {"namespace": "payments", "pod": POD})
    draft = drafted(outside(Answers(), "get_pods", pods=[pod(POD, True)]), throttled)
    assert said(draft, "healthy") == []
    assert "CPU limit" in draft.recommended_actions[-1].action_text


def test_a_monitor_that_alerts_stands_against_health() -> None:
    answers = outside(Answers(), "get_pods", pods=[pod(POD, True)])
    outside(answers, "get_monitors", monitors=[{"name": "payments-api error rate", "overall_state": "Alert"}])
    draft = drafted(answers, OF_POD)
    assert not any("no failure found" in text for text in said(draft, "healthy"))


def connections(values: list[float], unit: str = "Count") -> Answers:
    answers = outside(Answers(), "get_metrics", results=[series("DatabaseConnections", values, unit=unit)])
    return outside(answers, "get_events", events=[])


CONNECTIONS: Alert = alert("DatabaseConnectionsHigh", {"db_instance": "orders-prod"})


def test_the_alerts_metric_at_its_level_and_no_event_are_health() -> None:
    (first, *_) = said(drafted(connections(FLAT), CONNECTIONS), "healthy")
    assert first.startswith("DatabaseConnections of orders-prod keeps its normal level")


def test_another_metric_at_its_level_is_no_health_of_the_alerts() -> None:
    latency = alert("WriteLatencyHigh", {"db_instance": "orders-prod"})
    assert said(drafted(connections(FLAT), latency), "healthy") == []


def test_a_level_that_moved_or_is_nearly_full_is_no_health() -> None:
    assert said(drafted(connections([100.0] * 5 + [480.0] * 10), CONNECTIONS), "healthy") == []
    assert said(drafted(connections([97.0] * 15, unit="Percent"), CONNECTIONS), "healthy") == []


def test_free_space_that_came_back_is_no_trouble() -> None:
    answers = outside(Answers(), "get_metrics", results=[series("FreeStorageSpace", [9.0] * 5 + [200.0] * 10)])
    done = {"date": "2026-11-30T09:00:00Z", "message": "Storage autoscaling completed for DB instance orders-prod."}
    outside(answers, "get_events", events=[{**done, "source_identifier": "orders-prod"}])
    draft = drafted(answers, alert("LowFreeStorageSpace", {"db_instance": "orders-prod"}))
    assert "orders-prod has recovered, no active failure" in said(draft, "healthy")[0]


def test_an_alert_that_is_meant_to_fire_is_no_failure() -> None:
    page = "This alert is always firing, to show that the entire alerting pipeline is functional."
    answers = Answers().text("fetch_webpage", {"url": "https://runbooks.example.com/watchdog"}, page)
    (first,) = said(drafted(answers, alert("Watchdog")), "healthy")
    assert "meant to fire all the time" in first


def test_the_alerts_own_words_prove_no_health() -> None:
    calm = alert("Watchdog", summary="This alert is always firing. All is healthy, no failure.")
    assert drafted(Answers(), calm).claims == ()


def test_a_pod_beside_a_broken_one_is_told_as_well() -> None:
    answers = outside(Answers(), "get_pods", pods=[pod(POD, False, 8, reason="CrashLoopBackOff"), pod(SIBLING, True)])
    draft = drafted(answers, OF_POD)
    assert (group(draft, "affected") >= {POD}, group(draft, "healthy")) == (True, {SIBLING})


def test_health_is_said_in_chinese_round_verbatim_quotes() -> None:
    answers = outside(outside(Answers(), "get_pods", pods=[pod(POD, True)]), "get_events", warning_events=[])
    first = said(drafted(answers, OF_POD, language="zh"), "healthy")[0]
    assert "状态正常，没有故障" in first
    assert "ready=true" in first


def test_a_heavy_statement_at_its_usual_load_stands_not_against_health() -> None:
    answers = outside(connections(FLAT), "get_load", top_sql=[statement("SELECT 1", 0.4, "CPU")])
    assert said(drafted(answers, CONNECTIONS), "healthy")


def table(answers: Answers, *rows: str) -> Answers:
    text = "\n".join(["NAME                            READY   STATUS             RESTARTS   AGE", *rows])
    result = wrap_text(text, {"source": "get_by_kind", "kind": "pod", "namespace": "payments"})
    return answers.found("get_by_kind", {"kind": "pod", "namespace": "payments"}, list(result.evidence_refs))


def test_a_broken_pod_of_something_else_stands_not_against_health() -> None:
    rows = (f"{POD}    1/1     Running            0          3d", "other-worker-747ccfb9db-4wrhh   0/1     CrashLoopBackOff   85         22h")
    draft = drafted(table(Answers(), *rows), OF_POD)
    assert POD in said(draft, "healthy")[0]
    assert "other-worker" not in " ".join(claim.claim_text for claim in draft.claims)


def test_a_row_of_a_table_is_of_the_pod_that_it_names() -> None:
    draft = drafted(table(Answers(), f"{POD}    0/1     CrashLoopBackOff   8          3d"), OF_POD)
    assert POD in group(draft, "affected")
    assert said(draft, "healthy") == []


def test_a_completed_job_is_no_trouble() -> None:
    row = "report-29481-abcde              0/1     Completed          0          3d"
    assert [one.mood for one in records((), table(Answers(), row).exchanges)] == ["plain"]


def test_a_pod_that_is_up_between_two_crashes_is_not_well() -> None:
    def healthy(start: str, restarts: int) -> list[str]:
        answers = outside(Answers(), "get_pods", pods=[pod(POD, True, restarts, since=start)])
        back_off = event("BackOff", f"Back-off restarting failed container in pod {POD}", at="2026-11-30T09:00:00Z")
        later = event("Pulled", "Container image is already present", at="2026-11-30T09:30:00Z")
        return said(drafted(outside(answers, "get_events", warning_events=[back_off, later]), OF_POD), "healthy")

    assert healthy("2026-11-30T09:00:30Z", 14)
    assert healthy("2026-11-30T09:29:30Z", 1)
    assert healthy("2026-11-30T09:29:30Z", 14) == []


def test_ready_pods_are_no_answer_to_an_autoscaler_at_its_maximum() -> None:
    fired = alert("KubernetesHPAMaxedOut", {"namespace": "payments", "service": "payments-api"})
    scaled = event("SuccessfulRescale", "New size: 4; reason: cpu resource utilization above target", "HorizontalPodAutoscaler/payments-api")
    answers = outside(outside(Answers(), "get_pods", pods=[pod(POD, True)]), "get_events", warning_events=[scaled])
    draft = drafted(answers, fired)
    assert said(draft, "healthy") == []
    assert any("New size: 4" in claim.claim_text for claim in draft.claims)
