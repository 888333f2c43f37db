import json

import pytest
from offline_world import NOW, UTC_ZONE

from agents.contracts import (
    AllowedClaim,
    ClaimType,
    ComposerDraft,
    ComposerInput,
    GatekeeperResult,
    Verdict,
    Verification,
    VerifiedClaim,
    VerifiedEvidence,
    VerifiedOutput,
    VerifierDraft,
    VerifierInput,
)
from agents.errors import ModelRefused
from agents.llm.base import ModelRequest, ModelSettings
from agents.llm.offline import BACKEND, OfflineModel

AUDIT = GatekeeperResult(
    ruleset_version="1", checked_bindings=(), passed_claim_ids=(), rejected_claim_ids=(), failed_rules=()
)


def claim(claim_id: str, text: str, claim_type: ClaimType = "symptom") -> VerifiedClaim:
    return VerifiedClaim(claim_id=claim_id, claim_type=claim_type, claim_text=text, support_level="direct")


def proof(claim_id: str, span: str, tool: str = "query_logs", path: str = "$.logs[0]", **scope: str) -> VerifiedEvidence:
    return VerifiedEvidence(
        claim_id=claim_id,
        index=0,
        source_invocation_id=1,
        tool_name=tool,
        raw_path=path,
        span_text=span,
        span_start=0,
        span_end=len(span),
        evidence_sha256="",
        scope=scope,
    )


async def verified(question: str, claims: list[VerifiedClaim], evidence: list[VerifiedEvidence]) -> VerifierDraft:
    given = VerifierInput(
        original_query=question,
        verified_executor_output=VerifiedOutput(claims=tuple(claims)),
        verified_evidence=tuple(evidence),
        gatekeeper_audit=AUDIT,
    )
    request = ModelRequest("verifier", (), VerifierDraft, given, "en", NOW, UTC_ZONE)
    return VerifierDraft.model_validate_json((await OfflineModel().complete(request)).text)


async def composed(verdict: Verdict, allowed: list[AllowedClaim], language: str = "en") -> ComposerDraft:
    given = ComposerInput(
        question="Why?",
        allowed_claims=tuple(allowed),
        missing_info=("No model was used.",),
        recommended_actions=(),
        hypotheses=(),
        verdict=verdict,
        language=language,
    )
    request = ModelRequest("composer", (), ComposerDraft, given, language, NOW, UTC_ZONE)
    return ComposerDraft.model_validate_json((await OfflineModel().complete(request)).text)


async def test_a_fixed_sentence_is_direct_and_free_words_are_weighed() -> None:
    fixed = claim("c1", 'The log says: "disk is full on web-1"')
    near = claim("c2", "the disk is full on web-1")
    far = claim("c3", "the network was unplugged by somebody")
    span = "disk is full on web-1"
    draft = await verified("Why?", [fixed, near, far], [proof(name, span) for name in ("c1", "c2", "c3")])
    checks = {check.claim_id: check.verification for check in draft.claim_checks}
    assert checks == {"c1": Verification.DIRECT, "c2": Verification.INDIRECT, "c3": Verification.NONE}


async def test_since_when_is_answered_by_a_dated_first_sighting() -> None:
    dated = claim("c1", 'order-service has logged a new error since 08:43 UTC: "boom"')
    new, old = (proof("c1", f"status={status} first=2026-11-30T08:43:21Z boom") for status in ("new", "shifted"))
    assert (await verified("从什么时候开始？", [dated], [new])).question_answered
    assert not (await verified("从什么时候开始？", [dated], [old])).question_answered


async def test_a_why_is_answered_by_a_cause_alone() -> None:
    symptom, cause = claim("c1", 'The log says: "boom"'), claim("c2", 'The record states its own cause: "boom"', "root_cause")
    spans = [proof("c1", "boom", pod="web-1"), proof("c2", "boom", pod="web-1")]
    assert not (await verified("Why is web-1 down?", [symptom], spans)).question_answered
    assert (await verified("Why is web-1 down?", [symptom, cause], spans)).question_answered


@pytest.mark.parametrize(
    ("question", "evidence", "answered"),
    [
        ("How many pods are there?", proof("c1", "14 results", "kubernetes_count"), True),
        ("How many pods are there?", proof("c1", "apple-pod", "kubernetes_count"), False),
        ("since when?", proof("c1", "count=50 status=new first=2026-11-30T08:43:21Z"), False),
        ("How many orders failed?", proof("c1", "state=FAILED orders=50", "query_order", "$.rows[0]"), True),
        ("How many orders failed?", proof("c1", "order_id=7 cents=50", "query_order", "$.rows[0]"), False),
        ('logs with "ERROR" of web-1', proof("c1", "08:43 ERROR boom", "fetch_pod_logs", pod="web-1"), True),
        ('logs with "ERROR" of web-1', proof("c1", "08:43 INFO fine", "fetch_pod_logs"), False),
        ('logs with "ERROR" of web-1', proof("c1", "web-1 ERROR state", "describe"), False),
        ("list all clusterroles", proof("c1", "admin 10d", "list_by_kind", kind="clusterrole"), True),
        ("list all clusterroles", proof("c1", "db-password 10d", "list_by_kind", kind="secret"), False),
        ("Check rabbitmq's health", proof("c1", "rabbitmq-0 1/1 Running", "describe"), False),
    ],
)
async def test_a_fact_is_answered_by_a_quote_that_states_it(
    question: str, evidence: VerifiedEvidence, answered: bool
) -> None:
    text = f'The log says: "{evidence.span_text}"'
    draft = await verified(question, [claim("c1", text)], [evidence])
    assert draft.question_answered is answered
    assert draft.claim_checks[0].is_critical is answered


@pytest.mark.parametrize(
    "question",
    [
        "Why did order SO-20261130-4380 fail?",
        "订单 10023 为什么失败？",
        "What is wrong with billing-service?",
        "How many payments failed?",
        "Why is Redis slow?",
        "Kafka 消费延迟为什么升高？",
        "What happened to the frobnicator?",
    ],
)
async def test_the_cause_of_something_else_is_no_answer(question: str) -> None:
    cause = claim("c1", 'The record states its own cause: "OOMKilled"', "root_cause")
    elsewhere = proof("c1", "service=payments OOMKilled", service="payments")
    assert not (await verified(question, [cause], [elsewhere])).question_answered


async def test_a_gap_answers_nothing() -> None:
    text = 'A query came back empty: "no ERROR logs"'
    draft = await verified('logs with "ERROR"', [claim("c1", text, "gap")], [proof("c1", "no ERROR logs", "fetch_pod_logs")])
    assert not draft.question_answered


async def test_the_lead_is_cause_change_and_since_when_of_the_same_service() -> None:
    allowed = [
        AllowedClaim(number=1, claim=claim("c1", "cause", "root_cause"), evidence=(proof("c1", "x", service="order"),)),
        AllowedClaim(number=2, claim=claim("c2", "other"), evidence=(proof("c2", "x", service="noise"),)),
        AllowedClaim(number=3, claim=claim("c3", "onset"), evidence=(proof("c3", "x", service="order"),)),
        AllowedClaim(number=4, claim=claim("c4", "change", "change"), evidence=(proof("c4", "x", path="$.changes[0]"),)),
    ]
    sections = (await composed(Verdict.PASS, allowed)).sections
    assert sections.lead == "cause [1]. change [4]. onset [3]."
    assert sections.confirmed == ("other [2]",)
    assert (await composed(Verdict.PASS, allowed, "zh")).sections.lead == "cause [1]。change [4]。onset [3]。"


async def test_without_a_proof_the_lead_says_that_no_cause_is_proven() -> None:
    allowed = [AllowedClaim(number=1, claim=claim("c1", "odd line"), evidence=(proof("c1", "x"),))]
    sections = (await composed(Verdict.LOW_CONFID, allowed)).sections
    assert sections.lead.startswith("No cause is proven.")
    assert sections.confirmed == ("odd line [1]",)
    assert sections.gaps == ("No model was used.",)


async def test_an_answer_without_claims_is_not_empty() -> None:
    assert (await composed(Verdict.REJECT, [])).sections.lead


async def test_a_role_that_rules_cannot_play_is_refused() -> None:
    given = ComposerInput(
        question="", allowed_claims=(), missing_info=(), recommended_actions=(), hypotheses=(), verdict=Verdict.REJECT, language="en"
    )
    with pytest.raises(ModelRefused, match="aiops_planner"):
        await OfflineModel().complete(ModelRequest("aiops_planner", (), ComposerDraft, given, "en", NOW, UTC_ZONE))


async def test_the_backend_is_named_and_uses_no_model() -> None:
    model = BACKEND.build(ModelSettings(model="offline"))
    assert (BACKEND.name, model.name, model.uses_model) == ("offline", "offline", False)
    await model.close()


async def test_replies_are_json_of_the_contract_and_nothing_else() -> None:
    given = ComposerInput(
        question="?", allowed_claims=(), missing_info=(), recommended_actions=(), hypotheses=(), verdict=Verdict.REJECT, language="fr"
    )
    reply = await OfflineModel().complete(ModelRequest("composer", (), ComposerDraft, given, "fr", NOW, UTC_ZONE))
    assert set(json.loads(reply.text)) == {"used_claim_ids", "sections"}
