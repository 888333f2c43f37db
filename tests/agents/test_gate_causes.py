"""Rule 9: a cause needs more than one kind of evidence, or a record that states it for its own event."""

from __future__ import annotations

import pytest

from agents.contracts import Claim, EvidenceBinding, InvocationEvidence
from agents.gate import GateReport, check_claims
from tools.contracts import EvidenceRef, EvidenceStatus

TIMEOUT = "order-service request timed out after 30000ms, pool HikariPool-1 has no free connection"
POOL = 'hikaricp_connections_pending{service="order-service"} first=0 last=187 max=187'
OOM = "Last State: Terminated\n  Reason: OOMKilled\n  Exit Code: 137"
RUNBOOK = "When request timed out appears, pool exhaustion is the usual cause; check the pool size"


def record(id: int, tool: str, text: str, **scope: str) -> InvocationEvidence:
    ref = EvidenceRef(raw_path="$.x[0]", text=text, scope=scope)
    return InvocationEvidence(
        id=id, run_id="r", tool_name=tool, evidence_status=EvidenceStatus.SUPPORTED, evidence_refs=(ref,)
    )


def gate(text: str, *records: InvocationEvidence, kind: str = "root_cause") -> GateReport:
    bindings = tuple(
        EvidenceBinding(
            source_invocation_id=one.id,
            tool_name=one.tool_name,
            raw_path="$.x[0]",
            evidence_excerpt=one.evidence_refs[0].text,
        )
        for one in records
    )
    claim = Claim(claim_id="c", claim_type=kind, claim_text=text, support_level="direct", evidence_bindings=bindings)  # type: ignore[arg-type]
    return check_claims([claim], records, "r")


def passes(text: str, *records: InvocationEvidence, kind: str = "root_cause") -> bool:
    return bool(gate(text, *records, kind=kind).result.passed_claim_ids)


LOGS = record(1, "query_logs", TIMEOUT, service="order-service")
MORE_LOGS = record(2, "query_logs", f"again {TIMEOUT}", service="order-service")
METRICS = record(3, "query_metrics", POOL, service="order-service")
BOOK = record(4, "lookup_knowledge", RUNBOOK, domain="runbooks")
CASE = record(5, "lookup_knowledge", RUNBOOK, domain="cases")
ADDED = record(7, "added_context", TIMEOUT, service="order-service", source="added by Ana")
ADDED_POD = record(8, "added_context", OOM, pod="payments-api-7f9dd8b6c4-x7gr9")
POD = record(6, "kubectl_describe", OOM, pod="payments-api-7f9dd8b6c4-x7gr9")


@pytest.mark.parametrize("second", [METRICS, BOOK])
def test_two_kinds_of_evidence_prove_a_cause(second: InvocationEvidence) -> None:
    assert passes("order-service timed out because the pool was exhausted", LOGS, second)


@pytest.mark.parametrize("others", [(), (MORE_LOGS,), (CASE,), (ADDED,)])
def test_one_kind_of_evidence_does_not(others: tuple[InvocationEvidence, ...]) -> None:
    assert not passes("order-service timed out because the pool was exhausted", LOGS, *others)


def test_what_a_person_added_proves_no_cause_even_where_it_states_one() -> None:
    assert passes("payments-api was OOMKilled", POD)
    assert not passes("payments-api was OOMKilled", ADDED_POD)


def test_a_runbook_alone_proves_no_cause() -> None:
    assert not passes("Pool exhaustion is the cause", BOOK)


@pytest.mark.parametrize(
    "text",
    [
        "order-service timed out due to an empty pool",
        "The empty pool led to time-outs",
        "An empty pool caused the time-outs",
        "The root cause is the pool",
        "由于连接池耗尽，order-service 超时",
        "连接池耗尽导致 order-service 超时",
        "order-service 超时的原因是连接池耗尽",
        "因连接池耗尽而超时",
    ],
)
def test_causal_wording_counts_in_any_type_of_claim(text: str) -> None:
    assert gate(text, LOGS, kind="symptom").result.failed_rules == ("cause_needs_more",)


@pytest.mark.parametrize(
    "text",
    [
        "order-service requests timed out after 30 s",
        "order-service 在等待连接时超时",
        'order-service logged "request timed out after 30000ms"',
        "order-service 的内因尚不清楚",
    ],
)
def test_plain_wording_does_not(text: str) -> None:
    assert passes(text, LOGS, kind="symptom")


def test_causal_words_inside_a_quote_do_not_trigger_the_rule() -> None:
    line = record(1, "query_logs", "job 7 stopped because of quota; see the docs of the batch system")
    assert passes('The job logged "stopped because of quota"', line, kind="symptom")
    assert not passes(
        'The job stopped because of "the docs"',
        record(1, "query_logs", "see the docs of the batch system"),
        kind="symptom",
    )


@pytest.mark.parametrize(
    "text",
    [
        "payments-api was OOMKilled",
        "payments-api was killed because it ran out of memory",
        "payments-api 因内存不足被终止",
    ],
)
def test_a_record_may_state_the_cause_of_its_own_event(text: str) -> None:
    assert passes(text, POD)


@pytest.mark.parametrize(
    "text",
    [
        "Checkout latency was caused by payments-api being OOMKilled",
        "payments-api crashed because of a bad deploy",
        "支付接口超时是因为 payments-api 被 OOMKilled",
    ],
)
def test_it_states_the_cause_of_no_other_event(text: str) -> None:
    assert not passes(text, POD)


@pytest.mark.parametrize(
    "line",
    [
        'Failed to pull image "shop/api:1.2": pull access denied for shop/api, repository does not exist',
        'Failed to pull image "shop/api:1.2": unexpected status from HEAD request: 401 Unauthorized',
        'failed to resolve reference "shop/api:v9.9.9": not found',
        "x509: certificate signed by unknown authority",
        'pods "api-7d5" is forbidden: exceeded quota: team-quota, requested: pods=1, used: pods=10',
        '0/3 nodes are available: persistentvolumeclaim "orders-data" not found.',
        'MountVolume.SetUp failed for volume "cfg" : configmap "orders-config" not found',
        'storageclass.storage.k8s.io "fast-ssd" not found',
        "couldn't find key DB_URL in ConfigMap shop/orders-config",
        "dial tcp: lookup orders-db on 10.96.0.10:53: no such host",
        "open /etc/app/config.yaml: permission denied",
        "exec /app/run: exec format error",
        "listen tcp :8080: bind: address already in use",
    ],
)
def test_a_record_that_says_why_it_failed_states_its_cause(line: str) -> None:
    event = record(1, "kube_events", line)
    assert passes(f"The record states its own cause: «{line}»", event)
    assert not passes("Checkout latency was caused by this record", event)


@pytest.mark.parametrize(
    "line",
    [
        "dial tcp 10.0.0.7:5432: connect: connection refused",
        "the request to orders timed out after 30000 ms",
        "Warning Failed kubelet Error: ImagePullBackOff",
        'Error from server (Forbidden): pods is forbidden: User "bot" cannot list resource "pods"',
        'Error from server (NotFound): secrets "db-password" not found',
        "GET /api/orders/4711 404 not found",
    ],
)
def test_a_record_that_only_says_that_it_failed_does_not(line: str) -> None:
    assert not passes(f"The record states its own cause: «{line}»", record(1, "kube_events", line))


def test_a_cause_without_proof_becomes_a_hypothesis_and_its_facts_stay() -> None:
    report = gate("order-service timed out because the pool was exhausted", LOGS)
    (demotion,) = report.demoted
    assert demotion.hypothesis.hypothesis_text == "order-service timed out because the pool was exhausted"
    assert [fact.claim_type for fact in demotion.facts] == ["symptom"]
    assert TIMEOUT in demotion.facts[0].claim_text
    assert demotion.evidence[0].claim_id == demotion.facts[0].claim_id
    assert report.evidence == ()
    assert report.result.warnings


def test_a_cause_whose_numbers_are_wrong_is_rejected_outright() -> None:
    report = gate("order-service timed out after 31 s because the pool was exhausted", LOGS)
    assert (report.demoted, report.result.failed_rules) == ((), ("number_not_in_evidence",))
