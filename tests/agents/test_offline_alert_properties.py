"""Whatever an alert says and a tool returns: the engine drafts, and what it claims passes the Gatekeeper."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from offline_alerts import NOW, drafted, rejected
from offline_world import Answers

from agents.contracts import Alert
from agents.offline.alert_subject import MAX_NAMES, entities_of
from tools.external import wrap_text

WORDS = st.sampled_from(
    ["ready", "name", "message", "status", "reason", "last_time", "started_at", "overall_state", "statement", "db_load_avg", "pods",
     "values", "timestamps", "NodeNotReady", "OOMKilled", "recovered", "is available", "Ready True", "0/1 Error", "due to disk full",
     "payments-api", "worker-3", "UPDATE x SET y = 1", "IO:WALWrite", "2026-11-30T09:00:00Z", "exit code 137", "false", "", "\u202e", "«»\"'"]
)  # fmt: skip
TEXT = st.one_of(WORDS, st.text(max_size=40), st.lists(WORDS, max_size=6).map(" ".join))
LEAF = st.one_of(TEXT, st.booleans(), st.none(), st.integers(-5, 10**12), st.floats(allow_nan=False, allow_infinity=False))
VALUE = st.recursive(
    LEAF, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=5)), max_leaves=25
)
LABELS = st.dictionaries(st.sampled_from(["pod", "service", "instance", "node", "namespace", "db_instance", "job", "x"]), TEXT, max_size=5)
ALERT = st.builds(
    lambda name, labels, notes, start: Alert(
        sender="s", alert_name=name, status="firing", labels=labels, annotations=notes, starts_at=start, fingerprint="f"
    ),
    st.one_of(st.none(), TEXT, st.sampled_from(["KubePodNotReady", "RDSReplicationLagHigh", "CPUUtilizationHigh"])),
    LABELS,
    st.dictionaries(TEXT, TEXT, max_size=4),
    st.one_of(st.none(), TEXT, st.just(NOW.isoformat())),
)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def answers_of(outputs: list[tuple[str, Any]]) -> Answers:
    answers = Answers()
    for tool, value in outputs:
        result = wrap_text(json.dumps(value) if not isinstance(value, str) else value, {"source": tool})
        answers.found(tool, {}, list(result.evidence_refs), **result.payload)
    return answers


TOOL = st.sampled_from(["get_events", "get_pods", "get_node_health", "get_metrics", "fetch_pod_logs", "config_changes"])


@given(st.lists(ALERT, max_size=4), st.lists(st.tuples(TOOL, VALUE), max_size=4), st.sampled_from(["en", "zh"]))
@QUICK
def test_any_alert_and_any_answer_give_a_draft_that_passes(
    alerts: list[Alert], outputs: list[tuple[str, Any]], language: str
) -> None:
    answers = answers_of(outputs)
    draft = drafted(answers, *alerts, language=language)
    assert rejected(draft, answers) == []
    stated = {claim.claim_id for claim in draft.claims}
    assert all(set(one.claim_ids) <= stated and one.claim_ids for one in draft.blast_radius)
    assert len({one.entity for one in draft.blast_radius}) == len(draft.blast_radius)


@given(st.lists(ALERT, max_size=60))
@QUICK
def test_any_storm_names_a_few_things(alerts: list[Alert]) -> None:
    names = entities_of(alerts)
    assert len(names) == len(set(names)) <= MAX_NAMES
