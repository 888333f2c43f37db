"""Focus, health, cause and the blast radius by code, on states made by hand."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from small_alert import ALERT
from small_incident import ROOT

from agents.aiops_blast import blast_radius
from agents.aiops_evaluation import evaluated
from agents.alert_headline import headline
from agents.alert_subject import Subject, main_entity, names
from agents.answer import allowed_claims
from agents.contracts import (
    Alert,
    BlastGroup,
    ClaimType,
    DraftBlast,
    ExecutorEvidence,
    RecommendedAction,
    Verdict,
    VerifiedClaim,
    VerifiedEvidence,
)
from agents.replies import Replies
from agents.state import RunState, Walk
from tools.contracts import EvidenceRef, EvidenceStatus
from tools.invocation import CallKey, Invocation

ANSWERED = Invocation(
    1,
    CallKey("AIOPS_EXECUTOR", 1, 1),
    "query_logs",
    {},
    EvidenceStatus.SUPPORTED,
    refs=(EvidenceRef(raw_path="$.logs[0]", text="ledger-db talks to order-service", scope={}),),
)


def proven(*claims: tuple[ClaimType, str, str], alerts: tuple[Alert, ...] = (ALERT,), steps: bool = True, ending: str = "") -> RunState:
    """A state after the gate: (type, words of claim and quote, service in the quote's scope)."""
    made = tuple(
        VerifiedClaim(claim_id=f"c{number}", claim_type=kind, claim_text=text, support_level="direct")
        for number, (kind, text, _) in enumerate(claims, 1)
    )
    quotes = tuple(
        VerifiedEvidence(
            claim_id=f"c{number}",
            index=0,
            source_invocation_id=1,
            tool_name="query_logs",
            raw_path=f"$.logs[{number}]",
            span_text=text,
            span_start=0,
            span_end=len(text),
            evidence_sha256="",
            scope={"service": service} if service else {},
        )
        for number, (_, text, service) in enumerate(claims, 1)
    )
    actions = (RecommendedAction(action_text="look", reason="why not"),) if steps else ()
    return RunState(
        run_id="r",
        session_id="s",
        question="CheckoutSlow",
        language="en",
        zone="Asia/Shanghai",
        now=datetime(2026, 11, 30, 9, 10, tzinfo=UTC),
        deadline_seconds=300,
        fence="f",
        walk=Walk(next_node="RULE_EVALUATION", ending=ending),
        executor_output=ExecutorEvidence(diagnosis_summary="", claims=(), recommended_actions=actions),
        verified_claims=made,
        verified_evidence=quotes,
        mode="PAYLOAD_TARGETED",
        alerts=alerts,
    )


OWN: tuple[ClaimType, str, str] = ("symptom", "requests wait for a connection", "order-service")
CAUSE: tuple[ClaimType, str, str] = ("root_cause", "ledger-db locked by order-service batch", "ledger-db")
FAR: tuple[ClaimType, str, str] = ("symptom", "cache miss on every call", "recommendation-service")


@pytest.mark.parametrize(
    ("claims", "verdict", "flags"),
    [
        ((), Verdict.REJECT, (False, False, False)),
        ((FAR,), Verdict.REJECT, (False, False, False)),
        ((OWN,), Verdict.LOW_CONFID, (True, True, False)),
        ((OWN, CAUSE), Verdict.PASS, (True, True, True)),
        ((OWN, ("root_cause", "host rebooted: kernel panic", "auth-db")), Verdict.LOW_CONFID, (False, True, False)),
        ((OWN, CAUSE, FAR, FAR, FAR), Verdict.LOW_CONFID, (False, True, True)),
        ((("healthy", "all replicas are ready", "order-service"),), Verdict.PASS, (True, True, True)),
        ((OWN, ("healthy", "all replicas are ready", "auth-db")), Verdict.LOW_CONFID, (True, True, False)),
        ((("gap", "nothing found", "order-service"),), Verdict.REJECT, (False, False, False)),
    ],
)
def test_the_verdict_follows_from_focus_own_claims_and_cause(
    claims: tuple[tuple[ClaimType, str, str], ...], verdict: Verdict, flags: tuple[bool, bool, bool]
) -> None:
    found = evaluated(proven(*claims), [ANSWERED])
    assert (found.focused, found.claims_verified, found.cause_verified) == flags
    assert found.verdict is verdict
    met = sum((*flags, found.tools_answered, found.actions_present))
    assert found.score == met / 5


def test_a_cause_is_near_when_an_own_claim_names_its_thing() -> None:
    own: tuple[ClaimType, str, str] = ("symptom", "call to ledger-db timed out", "order-service")
    cause: tuple[ClaimType, str, str] = ("root_cause", "disk is full", "ledger-db")
    assert evaluated(proven(own, cause), [ANSWERED]).verdict is Verdict.PASS


WELL: tuple[ClaimType, str, str] = ("healthy", "all replicas are ready", "order-service")


@pytest.mark.parametrize(
    ("trouble", "verdict"),
    [
        ("error ratio 0.5", Verdict.LOW_CONFID),
        ('the event says "BackOff (x23) is over 6m33s"', Verdict.LOW_CONFID),
        ("the error ratio has recovered", Verdict.PASS),
        ("错误率已恢复", Verdict.PASS),
        ('This is over: "BackOff (x23)"', Verdict.PASS),
    ],
)
def test_health_is_no_finding_beside_trouble_that_goes_on(trouble: str, verdict: Verdict) -> None:
    assert evaluated(proven(WELL, ("symptom", trouble, "order-service")), [ANSWERED]).verdict is verdict


def test_the_health_of_a_sibling_pod_proves_nothing_for_the_alerts_own() -> None:
    alert = ALERT.model_copy(update={"labels": {"pod": "pay-7f9dd8b6c4-x7gr9"}, "annotations": {}})
    sibling: tuple[ClaimType, str, str] = ("healthy", "ready since an hour", "pay-7f9dd8b6c4-k2m4p")
    own: tuple[ClaimType, str, str] = ("healthy", "ready since an hour", "pay-7f9dd8b6c4-x7gr9")
    assert evaluated(proven(sibling, alerts=(alert,)), [ANSWERED]).verdict is Verdict.LOW_CONFID
    assert evaluated(proven(own, alerts=(alert,)), [ANSWERED]).verdict is Verdict.PASS


def test_steps_and_answers_move_the_score_alone() -> None:
    found = evaluated(proven(OWN, CAUSE, steps=False), [])
    assert (found.tools_answered, found.actions_present, found.score, found.verdict) == (False, False, 0.6, Verdict.PASS)


def test_a_cause_in_other_words_than_its_quotes_carries_no_pass() -> None:
    state = proven(OWN, CAUSE)
    overreach = state.verified_claims[1].model_copy(update={"claim_text": "Marketing campaign overloaded every regional gateway"})
    state = replace(state, verified_claims=(state.verified_claims[0], overreach))
    assert evaluated(state, [ANSWERED]).verdict is Verdict.LOW_CONFID


def test_a_run_that_was_cut_short_or_degraded_is_no_pass() -> None:
    assert evaluated(proven(OWN, CAUSE, ending="seconds"), [ANSWERED]).verdict is Verdict.REJECT
    state = proven(OWN, CAUSE)
    degraded = state.with_walk(replace(state.walk, taken_over=("AIOPS_EXECUTOR",)))
    found = evaluated(degraded, [ANSWERED])
    assert found.verdict is Verdict.LOW_CONFID
    assert "a step was done by rules in place of the model" in found.reasons


def test_an_alert_that_names_no_thing_is_matched_by_its_words_where_nothing_else_is_named() -> None:
    alert = Alert(sender="generic", alert_name="Replication lag high", status="firing", fingerprint="x")
    about: tuple[ClaimType, str, str] = ("symptom", "replication lag 900 s", "")
    elsewhere: tuple[ClaimType, str, str] = ("symptom", "replication lag 900 s", "ledger-db")
    assert evaluated(proven(about, alerts=(alert,)), [ANSWERED]).claims_verified
    assert not evaluated(proven(elsewhere, alerts=(alert,)), [ANSWERED]).claims_verified


# ---------------------------------------------------------------- what an alert is about


@pytest.mark.parametrize(
    ("name", "text", "held"),
    [
        ("order-service", "order-service is slow", True),
        ("order-service", "pod order-service-7f9dd8b6c4-x7gr9 restarted", True),
        ("order-service", "pod order-service-0 restarted", True),
        ("order", "order-service is slow", False),
        ("order-service", "my-order-service is slow", False),
        ("db-1", "db-10 is down", False),
        ("Order-Service", "order-service is slow", True),
    ],
)
def test_a_name_is_found_as_a_whole_or_as_its_pods_prefix(name: str, text: str, held: bool) -> None:
    assert names(name, text) is held


@pytest.mark.parametrize(
    ("labels", "annotations", "main"),
    [
        ({"pod": "pay-7f9dd8b6c4-x7gr9", "service": "pay"}, {}, "pay-7f9dd8b6c4-x7gr9"),
        ({"service": "rds"}, {"db_instance_identifier": "payments-prod"}, "payments-prod"),
        ({"service": "redis"}, {}, "redis"),
        ({"instance": "10.0.3.17:9100", "job": "node"}, {}, "10.0.3.17:9100"),
        ({"severity": "warning", "alertname": "X-1"}, {}, None),
        ({"farm": "web-7"}, {}, "web-7"),
    ],
)
def test_the_most_telling_name_of_an_alert_is_its_subject(
    labels: dict[str, str], annotations: dict[str, str], main: str | None
) -> None:
    alert = ALERT.model_copy(update={"labels": labels, "annotations": annotations})
    assert main_entity((alert,)) == main


def test_a_pod_is_also_known_by_its_workload_and_a_host_without_its_port() -> None:
    alert = ALERT.model_copy(update={"labels": {"pod": "pay-7f9dd8b6c4-x7gr9", "instance": "db-1.example:9100"}})
    assert {"pay", "db-1.example"} <= set(Subject.of((alert,)).entities)


# ---------------------------------------------------------------- blast radius


def blast(entity: str, group: BlastGroup, *ids: str) -> DraftBlast:
    return DraftBlast(entity=entity, group=group, claim_ids=ids)


@pytest.mark.parametrize(
    ("drafted", "affected", "healthy", "not_checked"),
    [
        (blast("order-service", "affected", "c1"), ["order-service"], [], []),
        (blast("order-service", "healthy", "c1"), ["order-service"], [], []),
        (blast("ledger-db", "affected", "c1"), ["order-service"], [], ["ledger-db"]),
        (blast("ledger-db", "affected", "c2"), ["ledger-db", "order-service"], [], []),
        (blast("ghost-db", "affected", "c1"), ["order-service"], [], []),
        (blast("auth-api", "healthy", "c3"), ["order-service"], ["auth-api"], []),
        (blast("auth-api", "affected", "c3"), ["order-service"], [], []),
        (blast("a=b", "affected", "c1"), ["order-service"], [], []),
    ],
)
def test_an_entity_stands_in_a_group_with_its_own_claim_alone(
    drafted: DraftBlast, affected: list[str], healthy: list[str], not_checked: list[str]
) -> None:
    state = proven(OWN, CAUSE, ("healthy", "all replicas are ready", "auth-api"))
    state = replace(state, blast_radius=(drafted,))
    found = blast_radius(state, allowed_claims(state), [ANSWERED])
    assert [one.entity for one in found.affected] == affected
    assert [one.entity for one in found.healthy] == healthy
    assert list(found.not_checked) == not_checked


def test_an_alert_whose_thing_nobody_looked_at_has_it_among_the_unchecked() -> None:
    state = proven(FAR)
    assert blast_radius(state, allowed_claims(state), [ANSWERED]).not_checked == ("order-service",)


# ---------------------------------------------------------------- headline


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "Alertmanager reports: CheckoutSlow is firing (critical) on order-service, since 2026-11-30 16:44 (08:44 UTC)"),
        ({"starts_at": "2026-11-30T08:44:00"}, "Alertmanager reports: CheckoutSlow is firing (critical) on order-service, since 2026-11-30 08:44"),
        ({"starts_at": None, "status": "no_data"}, "Alertmanager reports: CheckoutSlow has no data (critical) on order-service"),
        ({"sender": "generic", "alert_name": None, "starts_at": None, "severity": None, "severity_raw": "none"}, "An alert post reports: an alert without a name is firing on order-service"),
        ({"sender": "aws_chatbot", "starts_at": "soon\u202e"}, "AWS Chatbot reports: CheckoutSlow is firing (critical) on order-service, since soon"),
    ],
)  # fmt: skip
def test_the_headline_says_what_fires_where_and_since_when_as_its_sender_does(changes: dict[str, object], line: str) -> None:
    state = proven(alerts=(ALERT.model_copy(update=changes),))
    assert headline(state, Replies.load(ROOT / "prompts" / "replies")) == line
