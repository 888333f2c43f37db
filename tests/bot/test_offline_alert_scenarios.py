"""The offline backend through the whole pipeline of an alert: the recorded alerts of others, and the sample's."""

import json
from pathlib import Path

import pytest

from agents.contracts import RunOutcome
from bot.evaluate import run_scenario
from bot.evaluation.grading import Grade, grade
from bot.evaluation.scenarios import RecordedTool, Scenario, read_scenario, read_scenarios
from bot.settings import load_settings

ROOT = Path(__file__).parent.parent.parent
SAMPLE = ROOT / "bot" / "emulator" / "scenarios" / "checkout-slow"
SHARED = ROOT.parent / "shared" / "scenarios"
SHARED_ALERTS = 16
MET_EVERYTHING = 14


async def triaged(scenario: Scenario, folder: Path) -> RunOutcome:
    loaded = load_settings({"PROOFTHREAD_MODEL": "offline"}, folder)
    return (await run_scenario(scenario, loaded, folder)).outcome


def fired(name: str, service: str, language: str = "en") -> Scenario:
    """The sample incident with one of its alerts in place of the question."""
    scenario = read_scenario(SAMPLE)
    labels = {"alertname": name, "service": service, "severity": "critical"}
    one = {"status": "firing", "labels": labels, "annotations": {}, "startsAt": "2026-11-30T08:46:40Z"}
    payload = {"version": "4", "status": "firing", "commonLabels": labels, "alerts": [one]}
    asked = scenario.file.input.model_copy(update={"kind": "alert", "text": "", "payload": payload})
    return Scenario(scenario.folder, scenario.file.model_copy(update={"input": asked, "language": language}))


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_samples_alert_passes_with_its_true_cause(language: str, tmp_path: Path) -> None:
    outcome = await triaged(fired("CheckoutLatencyHigh", "checkout-service", language), tmp_path)
    report = outcome.report
    assert report is not None
    assert outcome.verdict == "PASS"
    causes = [one.claim.claim_text for one in outcome.claims if one.claim.claim_id in report.probable_cause]
    assert ["ORD-5031" in text for text in causes] == [True]
    assert {entry.entity for entry in report.affected} == {"order-service", "checkout-service", "gateway"}
    assert report.changes
    assert "recommendation" not in outcome.answer


async def test_the_samples_red_herring_has_no_proven_cause(tmp_path: Path) -> None:
    outcome = await triaged(fired("CpuHigh", "recommendation-service"), tmp_path)
    assert outcome.verdict == "LOW_CONFID"
    assert "2.14.0" in outcome.answer
    assert "ORD-5031" not in outcome.answer


async def test_an_alert_on_a_thing_that_nothing_speaks_of_is_not_blamed_on_another(tmp_path: Path) -> None:
    outcome = await triaged(fired("DiskFull", "warehouse-db"), tmp_path)
    assert outcome.report is not None
    assert (outcome.verdict, outcome.report.probable_cause) == ("REJECT", ())
    assert "warehouse-db" in outcome.report.not_checked


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded scenarios (shared/ beside the repository) are not here")
async def test_recorded_alerts_end_in_a_report_without_a_false_word(tmp_path: Path) -> None:
    grades: list[Grade] = []
    for scenario in [one for one in read_scenarios(SHARED)[0] if one.file.input.kind == "alert"]:
        outcome = await triaged(scenario, tmp_path)
        assert outcome.report is not None, scenario.name
        assert outcome.gatekeeper_result is not None
        assert outcome.gatekeeper_result.rejected_claim_ids == (), scenario.name
        grades.append(grade(scenario, outcome, []))
    assert len(grades) == SHARED_ALERTS
    assert [one.id for one in grades if one.false_mentions or one.degraded or not one.verified_quotes] == []
    assert [missed for one in grades for missed in one.missed if missed.startswith("verdict_in")] == []
    assert sum(not one.missed for one in grades) >= MET_EVERYTHING


async def test_a_pod_beside_the_broken_one_never_makes_a_pass(tmp_path: Path) -> None:
    def pod(name: str, ready: bool) -> dict[str, object]:
        return {"name": name, "namespace": "pay", "containers": [{"name": "web", "ready": ready, "restart_count": 0}]}

    pods = [pod("web-7f9dd8b6c4-x7gr9", False), pod("web-7f9dd8b6c4-k2m4p", True)]
    call = {"args": None, "status": "success", "output": json.dumps({"pods": pods})}
    labels = {"alertname": "PodNotReady", "namespace": "pay", "pod": "web-7f9dd8b6c4-x7gr9", "service": "web"}
    alert = {"status": "firing", "labels": labels, "annotations": {}, "startsAt": "2026-11-30T08:46:40Z"}
    document = {
        "id": "own/beside",
        "source": "own",
        "licence": "Apache-2.0",
        "language": "en",
        "now": None,
        "input": {"kind": "alert", "payload": {"version": "4", "status": "firing", "alerts": [alert]}},
        "world": {"tools": [{"name": "get_pods", "description": "pods", "calls": [call]}]},
        "expect": {},
    }
    (tmp_path / "scenario.json").write_text(json.dumps(document), encoding="utf-8")
    outcome = await triaged(read_scenario(tmp_path), tmp_path)
    assert outcome.report is not None
    assert outcome.verdict == "LOW_CONFID"
    assert [entry.entity for entry in outcome.report.healthy] == ["web-7f9dd8b6c4-k2m4p"]


def with_case(scenario: Scenario) -> Scenario:
    """The sample without its runbooks, and with an earlier case that any look-up finds."""
    told = "Root cause: the pool of order-service (HikariPool-1) was set to 8 in config v2.13.7."
    scope = {"domain": "cases", "document": "case-1", "title": "Checkout of eu-shop-7 timed out"}
    ref = {"raw_path": "$.evidence_blocks[0]", "text": told, "scope": scope}
    result = {"payload": {"evidence_blocks": [{}]}, "evidence_status": "supported", "evidence_refs": [ref]}
    call = {"args": None, "status": "success", "result": result}
    tool = RecordedTool.model_validate({"name": "lookup_knowledge", "description": "cases", "calls": [call]})
    found = {"tools": (tool,), "knowledge_dir": None, "knowledge_domains": ("cases",)}
    world = scenario.file.world.model_copy(update=found)
    return Scenario(scenario.folder, scenario.file.model_copy(update={"world": world}))


async def test_a_found_case_is_a_lead_in_an_answer_and_never_a_proof(tmp_path: Path) -> None:
    outcome = await triaged(with_case(read_scenario(SAMPLE)), tmp_path)
    assert any("v2.13.7" in line and "no evidence" in line for line in outcome.sections.next_steps)
    assert not any("v2.13.7" in proof.span_text for one in outcome.claims for proof in one.evidence)


async def test_a_found_case_is_a_similar_one_in_a_report_and_never_a_proof(tmp_path: Path) -> None:
    outcome = await triaged(with_case(fired("CheckoutLatencyHigh", "checkout-service")), tmp_path)
    assert outcome.report is not None
    assert [one.case_id for one in outcome.report.similar_cases] == ["case-1"]
    assert not any("v2.13.7" in proof.span_text for one in outcome.claims for proof in one.evidence)
