import pytest
from offline_world import NOW, UTC_ZONE, Answers, executor_request, offer

from agents.contracts import ExecutorDraft
from agents.llm.base import ToolOffer
from agents.offline.executor import turn
from agents.offline.external_calls import MAX_CALLS, PlannedCall, next_calls, unfilled
from agents.offline.question import read
from agents.offline.telling import Telling, telling_lines
from tools.external import wrap_text

FIND = offer("find_resource", "kind", "keyword")
DESCRIBE = offer("describe", "kind", "name", "namespace")
LOGS = offer("fetch_pod_logs", "pod_name", "namespace", optional=("filter", "limit", "start_time"))
FOUND = "default   web-6f9c-abcde   0/1   CrashLoopBackOff   3   12s"


def calls(question: str, offers: tuple[ToolOffer, ...], answers: Answers) -> list[PlannedCall]:
    return next_calls(read(question, NOW, UTC_ZONE), offers, answers.exchanges)


def telling(question: str, offers: tuple[ToolOffer, ...], answers: Answers) -> list[Telling]:
    return telling_lines(read(question, NOW, UTC_ZONE), offers, answers.exchanges)


def test_a_named_workload_is_searched_before_anything_is_asked_about_it() -> None:
    first = calls("What is the issue with web?", (DESCRIBE, FIND, LOGS), Answers())
    assert (first[0].tool, first[0].arguments) == ("find_resource", {"kind": "pod", "keyword": "web"})


def test_the_pods_name_and_namespace_come_from_the_search() -> None:
    answers = Answers().text("find_resource", {"kind": "pod", "keyword": "web"}, FOUND)
    made = [(call.tool, call.arguments) for call in calls("What is the issue with web?", (FIND, DESCRIBE, LOGS), answers)]
    assert made == [
        ("describe", {"kind": "pod", "name": "web-6f9c-abcde", "namespace": "default"}),
        ("fetch_pod_logs", {"pod_name": "web-6f9c-abcde", "namespace": "default"}),
    ]


def test_another_kind_is_tried_when_a_search_finds_nothing() -> None:
    answers = Answers().nothing("find_resource", {"kind": "pod", "keyword": "web"})
    found = [call.arguments for call in calls("What is the issue with web?", (FIND,), answers)]
    assert found == [{"kind": "deployment", "keyword": "web"}]


def test_another_named_namespace_is_tried_when_the_first_is_empty() -> None:
    question = 'What is wrong with << {"type": "pod", "name": "web-1", "namespace": "app-2"} >> in the other-1 namespace?'
    answers = Answers().nothing("describe", {"kind": "pod", "name": "web-1", "namespace": "app-2"})
    assert [call.arguments["namespace"] for call in calls(question, (DESCRIBE,), answers)] == ["other-1"]


def test_the_questions_text_number_and_time_narrow_a_look_at_logs() -> None:
    answers = Answers().text("find_resource", {"kind": "pod", "keyword": "web"}, FOUND)
    question = 'post the last 5 logs that contain "ERROR" from web in the default namespace since 08:00'
    made = calls(question, (FIND, LOGS), answers)
    assert made[0].arguments["filter"] == "ERROR"
    assert made[0].arguments["limit"] == 5
    assert made[0].arguments["start_time"] == "2026-11-30T08:00:00Z"


def test_a_tool_without_parameters_is_called_with_none() -> None:
    assert [call.arguments for call in calls("what broke?", (offer("incident_timeline"),), Answers())] == [{}]


def test_an_id_is_taken_from_the_subject() -> None:
    made = calls('Explain << {"type": "issue", "id": "a1b2c3"} >>', (offer("fetch_finding_by_id", "id"),), Answers())
    assert [call.arguments for call in made] == [{"id": "a1b2c3"}]


def test_a_tool_whose_required_field_means_nothing_to_us_is_left_alone_and_named() -> None:
    strange = offer("launch_probe", "trajectory")
    assert calls("What is wrong?", (strange,), Answers()) == []
    assert unfilled(read("What is wrong?", NOW, UTC_ZONE), (strange,), ()) == ("launch_probe",)


def test_no_call_is_made_twice_and_the_share_of_calls_is_bounded() -> None:
    answers, made = Answers(), 0
    while batch := calls("What is the issue with web?", (FIND, DESCRIBE, LOGS), answers):
        for call in batch:
            assert (call.tool, call.arguments) not in [(one.call.name, one.call.arguments) for one in answers.exchanges]
            answers.text(call.tool, call.arguments, FOUND)
            made += 1
    assert 0 < made <= MAX_CALLS


def test_a_count_is_answered_by_the_line_that_holds_it() -> None:
    count = offer("kubernetes_count", "kind", "jq_expr")
    question = "How many pods are in the test-1 namespace?"
    (call,) = calls(question, (count,), Answers())
    assert '"test-1"' in call.arguments["jq_expr"]
    answers = Answers().text("kubernetes_count", call.arguments, "      14 results\nshown below (up to 10 results)\n1 apple")
    (line,) = telling(question, (count,), answers)
    assert line.answers
    assert line.cited.ref.text == "14 results"


def test_a_record_that_states_its_cause_comes_first() -> None:
    described = "Status: Running\nRestart Count:  16\nReason:       OOMKilled\nTolerations: node.kubernetes.io/not-ready"
    answers = Answers().text("describe", {"kind": "pod", "name": "web-1", "namespace": "a"}, described)
    lines = telling("What is wrong with web-1?", (DESCRIBE,), answers)
    assert lines[0].states_cause
    assert [line.cited.ref.text for line in lines] == ["Reason:       OOMKilled", "Restart Count:  16"]


def test_other_peoples_pods_in_a_list_are_not_quoted() -> None:
    listed = "web-1   1/1   Running   0   1d\nbilling-7   0/1   CrashLoopBackOff   99   1d"
    answers = Answers().text("list_pods", {"namespace": "default"}, listed)
    texts = [line.cited.ref.text for line in telling("What is wrong with web-1?", (offer("list_pods", "namespace"),), answers)]
    assert texts == ["web-1   1/1   Running   0   1d"]


def test_log_lines_that_say_the_same_stand_once() -> None:
    output = "\n".join(f"08:43:{at:02d} ERROR user u{at} could not log in: redis timeout" for at in range(30))
    answers = Answers().text("fetch_pod_logs", {"pod_name": "web-1", "namespace": "a"}, output)
    assert len(telling("Show me the errors in the logs of web-1", (LOGS,), answers)) == 1


def test_lines_asked_for_by_text_are_shown_up_to_the_number_asked_for() -> None:
    output = "\n".join(f"08:43:{at:02d} ERROR attempt {at} failed" for at in range(30))
    answers = Answers().text("fetch_pod_logs", {"pod_name": "web-1", "namespace": "a"}, output)
    assert len(telling('post the last 12 logs with "ERROR" from web-1', (LOGS,), answers)) == 12


def test_a_fact_is_answered_by_the_line_whose_key_was_asked_for() -> None:
    described = "Name:   web-1\nNode:   worker-2\n    Image:   busybox:1.35\n    Port:   <none>"
    answers = Answers().text("describe", {"kind": "pod", "name": "web-1", "namespace": "a"}, described)
    (line,) = telling("Which image does web-1 run?", (DESCRIBE,), answers)
    assert (line.answers, line.cited.ref.text) == (True, "Image:   busybox:1.35")


def test_a_changed_line_is_told_though_it_does_not_name_the_workload() -> None:
    answers = Answers().text("what_changed", {}, "--- apps/web/values.yaml\n-  tag: 1.14.2\n+  tag: 1.15.0 # runs migrations")
    texts = [line.cited.ref.text for line in telling("web-1 is failing", (offer("what_changed"),), answers)]
    assert texts == ["+  tag: 1.15.0 # runs migrations", "-  tag: 1.14.2"]


@pytest.mark.parametrize(
    ("question", "field", "name"),
    [
        ("Pods on node worker-5 get evicted, why?", "node_name", "worker-5"),
        ("Why does invoice-render time out?", "function_name", "invoice-render"),
        ("Why is orders-db full?", "db_instance_identifier", "orders-db"),
    ],
)
def test_nodes_functions_and_databases_are_asked_about_by_their_own_fields(question: str, field: str, name: str) -> None:
    made = calls(question, (offer("look_at", field),), Answers())
    assert [call.arguments for call in made] == [{field: name}]


def test_a_kind_is_spelled_as_the_tools_manual_spells_it() -> None:
    described = offer("describe", "kind", "name", "namespace")
    described.parameters["properties"]["kind"]["enum"] = ["pod", "hpa"]
    made = calls("Why does the HPA of web-front not scale in namespace web?", (described,), Answers())
    assert made[0].arguments == {"kind": "hpa", "name": "web-front", "namespace": "web"}


@pytest.mark.parametrize(
    ("question", "state"),
    [
        ("How many jobs are in the batch namespace?", ""),
        ("How many failed jobs are in the batch namespace?", "select((.status.failed // 0) > 0) | "),
        ("How many pending pods are in the batch namespace?", 'select(.status.phase == "Pending") | '),
        ("How many evicted pods are in the batch namespace?", None),
    ],
)
def test_a_count_counts_the_state_that_was_asked_for_or_is_not_made(question: str, state: str | None) -> None:
    made = calls(question, (offer("count", "kind", "namespace", "jq_expr"),), Answers())
    where = 'select(.metadata.namespace == "batch") | '
    assert [call.arguments["jq_expr"] for call in made] == (
        [] if state is None else [f".items[] | {where}{state}.metadata.name"]
    )
    assert all(call.arguments["namespace"] == "batch" for call in made)


def test_an_empty_answer_names_nothing_to_ask_about() -> None:
    answers = Answers().nothing("describe", {"kind": "pod", "name": "apps", "namespace": "default"})
    names = {str(call.arguments["name"]) for call in calls("Why is apps not ready?", (DESCRIBE,), answers)}
    assert names <= {"apps", "ready"}


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ('{"msg":"dial tcp: lookup db.prod on 10.0.0.10:53: no such host"}', "no such host"),
        ("DiskPressure  True  KubeletHasDiskPressure", "DiskPressure"),
        ("DB instance has exhausted its storage", "exhausted"),
        ("Suspend:    True", "Suspend"),
        (
            'Failed to pull image "x": failed to pull and unpack image "x": failed to resolve reference "x": not found',
            "failed to resolve reference",
        ),
    ],
)
def test_trouble_of_other_kinds_is_told_from_where_it_is_said(line: str, start: str) -> None:
    answers = Answers().text("describe", {"kind": "pod", "name": "web-1", "namespace": "default"}, line)
    (told,) = telling("Why is web-1 down?", (DESCRIBE,), answers)
    assert told.cited.ref.text[told.at :].startswith(start)


def test_a_bare_total_is_a_count() -> None:
    (told,) = telling("How many nodes are there?", (offer("list_nodes"),), Answers().text("list_nodes", {}, "total=3\nn1 Ready"))
    assert (told.cited.ref.text, told.answers) == ("total=3", True)


def test_a_refused_look_up_is_no_lead_to_a_cause() -> None:
    arguments = {"kind": "deployment", "name": "ledger", "namespace": "books"}
    refused = Answers().text("describe", arguments, 'Error from server (NotFound): deployments.apps "ledger" not found')
    crashed = Answers().text("describe", arguments, "ValueError: REDIS_URL is not set")
    drafts = [turn(executor_request("Why does the deployment ledger fail?", (), one)) for one in (refused, crashed)]
    assert [len(draft.hypotheses) for draft in drafts if isinstance(draft, ExecutorDraft)] == [0, 1]


def test_the_last_line_of_a_long_log_is_not_lost() -> None:
    rows = "\n".join(f"INFO row {number} ok" for number in range(5_000))
    result = wrap_text(f"{rows}\nUniqueViolation: duplicate key value violates unique constraint", {})
    answers = Answers().found("fetch_pod_logs", {"pod_name": "etl-1", "namespace": "etl"}, list(result.evidence_refs))
    (told,) = telling("Why did etl-1 fail?", (LOGS,), answers)
    assert "duplicate key" in told.cited.ref.text
