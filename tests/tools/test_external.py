"""Foreign output becomes quotable lines with stable paths.

The kubectl and argocd texts are cut from HolmesGPT's test fixtures (Apache-2.0), the JSON from OpenSRE's (Apache-2.0).
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_paths import resolves

from tools.contracts import EvidenceRef, EvidenceStatus, ToolResult
from tools.external import MAX_JSON_CHARS, MAX_REFS, wrap_json, wrap_text

DESCRIBE = """stdout:
Name:             payment-processing-worker-747ccfb9db-78qds
Namespace:        default
Labels:           app=payment-processing-worker
                  pod-template-hash=747ccfb9db
Containers:
  payment-processing-container:
    Image:         bash
    Args:
      -c
      echo Environment variable DEPLOY_ENV is undefined
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       Completed
      Exit Code:    0
Conditions:
  Type                        Status
  Ready                       False
Events:
  Type     Reason     Age   From     Message
  ----     ------     ----  ----     -------
  Warning  BackOff    2s    kubelet  Back-off restarting failed container

stderr:
"""
TABLE = """NAME                     READY   STATUS             RESTARTS   AGE
java-api-checker-mdr44   0/1     CrashLoopBackOff   21 (8s)    12s
logging-agent            1/1     Running            0          3d
"""
YAML = """spec:
  containers:
  - name: app
    resources:
      limits:
        memory: 512Mi
status:
  phase: Pending
"""


def lines(result: ToolResult) -> dict[str, EvidenceRef]:
    return {ref.text: ref for ref in result.evidence_refs}


def test_a_line_carries_the_section_it_stands_under() -> None:
    found = lines(wrap_text(DESCRIBE, {"tool": "kubectl_describe"}))
    assert found["Reason:       CrashLoopBackOff"].scope == {
        "tool": "kubectl_describe",
        "section": "Containers > payment-processing-container > State",
    }
    assert found["Exit Code:    0"].scope["section"] == "Containers > payment-processing-container > Last State"
    assert found["pod-template-hash=747ccfb9db"].scope["section"] == "Labels"
    assert "section" not in found["Namespace:        default"].scope
    assert found["echo Environment variable DEPLOY_ENV is undefined"].scope["section"].endswith("> Args")


def test_a_row_carries_the_names_of_its_tables_columns() -> None:
    row = lines(wrap_text(TABLE, {}))["java-api-checker-mdr44   0/1     CrashLoopBackOff   21 (8s)    12s"]
    assert row.scope == {"columns": "NAME, READY, STATUS, RESTARTS, AGE"}
    event = lines(wrap_text(DESCRIBE, {}))["Warning  BackOff    2s    kubelet  Back-off restarting failed container"]
    assert event.scope == {"section": "Events", "columns": "Type, Reason, Age, From, Message"}


def test_yaml_lists_keep_the_key_they_belong_to() -> None:
    found = lines(wrap_text(YAML, {}))
    assert found["memory: 512Mi"].scope["section"] == "spec > containers > resources > limits"
    assert found["phase: Pending"].scope["section"] == "status"


def test_blank_lines_rules_headings_and_wrappers_are_not_evidence() -> None:
    texts = list(lines(wrap_text(DESCRIBE + "\n=======\n───\n", {})))
    assert not {"stdout:", "stderr:", "Containers:", "Events:", "----     ------     ----  ----     -------"} & set(
        texts
    )
    assert "Type     Reason     Age   From     Message" not in texts
    assert all(text.strip() for text in texts)


def test_paths_count_the_lines_as_they_came() -> None:
    result = wrap_text("first\n\nthird", {})
    assert [(ref.raw_path, ref.text) for ref in result.evidence_refs] == [
        ("$.lines[0]", "first"),
        ("$.lines[2]", "third"),
    ]
    assert result.payload["lines"][2] == "third"


@pytest.mark.parametrize("output", ["", "\n\n", "stdout:\n\nstderr:\n", "-----"])
def test_an_empty_output_gives_no_refs(output: str) -> None:
    result = wrap_text(output, {})
    assert (result.evidence_status, result.evidence_refs) == (EvidenceStatus.NO_EVIDENCE, ())


def test_each_object_of_an_array_is_one_ref() -> None:
    value = {
        "warning_events": [
            {"reason": "BackOff", "message": "Back-off restarting failed container payments-api", "count": 8},
            {"reason": "FailedMount", "message": 'failed for volume "kube-api"', "count": 1},
        ]
    }
    refs = wrap_json(value, {"tool": "events"}).evidence_refs
    assert [ref.raw_path for ref in refs] == ["$.warning_events[0]", "$.warning_events[1]"]
    assert refs[0].text == 'reason=BackOff message="Back-off restarting failed container payments-api" count=8'
    assert refs[1].text == 'reason=FailedMount message="failed for volume \\"kube-api\\"" count=1'
    assert refs[0].scope == {"tool": "events", "field": "warning_events"}


def test_records_inside_records_are_labelled_with_what_they_belong_to() -> None:
    pod = {"name": "payments-x7gr9", "phase": "Running", "containers": [{"name": "api", "state": {"exit_code": 137}}]}
    refs = wrap_json({"pods": [pod]}, {}).evidence_refs
    assert [(ref.raw_path, ref.text) for ref in refs] == [
        ("$.pods[0]", "name=payments-x7gr9 phase=Running"),
        ("$.pods[0].containers[0]", 'name=api state={"exit_code":137}'),
    ]
    assert refs[1].scope == {"field": "containers", "name": "payments-x7gr9"}


def test_a_log_inside_json_is_quotable_line_by_line() -> None:
    value = {"pod_name": "payments", "logs": "INFO start\nWARN heap in use 496Mi / 512Mi\n\n[exit code 137]\n"}
    result = wrap_text(json.dumps(value), {})
    assert [(ref.raw_path, ref.text) for ref in result.evidence_refs] == [
        ("$", "pod_name=payments"),
        ("$.logs[0]", "INFO start"),
        ("$.logs[1]", "WARN heap in use 496Mi / 512Mi"),
        ("$.logs[3]", "[exit code 137]"),
    ]
    assert result.payload["logs"][1] == "WARN heap in use 496Mi / 512Mi"


def test_times_and_values_are_summed_up_in_one_line() -> None:
    value = {
        "label": "ReplicaLag",
        "unit": "Seconds",
        "timestamps": [f"2026-03-26T11:{minute:02}:00Z" for minute in range(20, 32)],
        "values": [1.25, 1.2, 1.3, 1.25, 1.2, 1.3, 812, 820, 815, 822, 817, 1140],
    }
    (ref,) = wrap_json({"metric_data_results": [value]}, {}).evidence_refs
    assert ref.raw_path == "$.metric_data_results[0].values"
    assert ref.text.startswith(
        "label=ReplicaLag unit=Seconds from=2026-03-26T11:20:00Z to=2026-03-26T11:31:00Z first=1.25"
    )
    assert "max=1140 max_at=2026-03-26T11:31:00Z" in ref.text
    assert "change_at=2026-03-26T11:26:00Z before=1.25 after=818.5" in ref.text


def test_text_that_is_json_lines_is_taken_as_records() -> None:
    result = wrap_text('{"level": "error", "msg": "boom now"}\n{"level": "info", "msg": "fine"}\n', {})
    assert [ref.text for ref in result.evidence_refs] == ['level=error msg="boom now"', "level=info msg=fine"]
    assert result.evidence_refs[0].raw_path == "$.items[0]"


def test_text_that_only_begins_like_json_stays_text() -> None:
    assert [ref.text for ref in wrap_text("[ERROR] pool exhausted\n{not json", {}).evidence_refs] == [
        "[ERROR] pool exhausted",
        "{not json",
    ]


@pytest.mark.parametrize("depth", [100, 400, 5_000])
def test_json_nested_beyond_reason_stays_text(depth: int) -> None:
    output = '{"a":' * depth + "1" + "}" * depth
    assert [ref.raw_path for ref in wrap_text(output, {}).evidence_refs] == ["$.lines[0]"]


@pytest.mark.parametrize(
    ("value", "path", "text"),
    [
        ([1, 2], "$", "items=[1,2]"),
        ("text", "$", "value=text"),
        (7, "$", "value=7"),
        ({"a-b c": [{"x": 1}]}, '$["a-b c"][0]', "x=1"),
    ],
)
def test_values_of_any_kind_are_rooted_in_the_payload(value: Any, path: str, text: str) -> None:
    result = wrap_json(value, {})
    assert [(ref.raw_path, ref.text) for ref in result.evidence_refs] == [(path, text)]
    assert resolves(path, result.payload)


def test_of_long_output_each_shape_is_shown_with_its_count() -> None:
    log = [f"2026-06-20T10:37:{n % 60:02}Z INFO request {n} done" for n in range(400)]
    log.insert(120, "2026-06-20T10:39:00Z ERROR pool exhausted after 30000 ms")
    result = wrap_text("\n".join(log), {})
    texts = [ref.text for ref in result.evidence_refs]
    assert texts == [log[0], log[120], log[-1]]
    assert result.evidence_refs[0].scope["similar_lines"] == "400"
    assert result.truncated
    assert result.retrieval_details == {"truncation": "398 of 401 lines are not shown"}


def test_of_an_output_too_long_to_keep_the_shown_lines_stay_at_their_places() -> None:
    log = [f"2026-06-20T10:37:{n % 60:02}Z INFO request {n} done and nothing else to say" for n in range(3_000)]
    log[2_500] = "disk full"
    result = wrap_text("\n".join(log), {})
    assert all(resolves(ref.raw_path, result.payload) for ref in result.evidence_refs)
    assert result.payload["lines"][2_500] == "disk full"
    assert sum(bool(line) for line in result.payload["lines"]) == len(result.evidence_refs) == 3


def test_of_many_shapes_those_that_speak_of_trouble_are_kept() -> None:
    plain = [f"{chr(97 + n % 26) * (n // 26 + 1)} step finished" for n in range(200)]
    result = wrap_text("\n".join([*plain, "database connection refused"]), {})
    assert len(result.evidence_refs) == MAX_REFS
    assert result.evidence_refs[-1].text == "database connection refused"


def test_a_key_over_many_lines_is_masked_before_it_is_split() -> None:
    pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----"
    for result in (wrap_text(f"config:\n{pem}\nend", {}), wrap_json({"config": pem, "n": 1}, {})):
        assert "MIIEvQIBADANBg" not in result.model_dump_json()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=30)
    | st.just("a\nb\n" * 3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_every_path_of_any_json_leads_into_the_payload(value: Any) -> None:
    result = wrap_json(value, {})
    paths = [ref.raw_path for ref in result.evidence_refs]
    assert all(resolves(path, result.payload) for path in paths)
    assert len(set(paths)) == len(paths)
    assert all(len(ref.text) <= MAX_JSON_CHARS for ref in result.evidence_refs)


@given(st.text(max_size=300))
def test_every_path_of_any_text_leads_into_the_payload(output: str) -> None:
    result = wrap_text(output, {})
    paths = [ref.raw_path for ref in result.evidence_refs]
    assert all(resolves(path, result.payload) for path in paths)
    assert len(set(paths)) == len(paths)
