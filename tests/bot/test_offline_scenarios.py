"""The offline backend through the whole pipeline: the sample incident, and the recorded questions of others."""

import json
from pathlib import Path

import pytest

from agents.contracts import RunOutcome
from bot.evaluate import run_scenario
from bot.evaluation.grading import grade
from bot.evaluation.scenarios import Scenario, read_scenario, read_scenarios
from bot.settings import load_settings

ROOT = Path(__file__).parent.parent.parent
SAMPLE = ROOT / "bot" / "emulator" / "scenarios" / "checkout-slow"
SHARED = ROOT.parent / "shared" / "scenarios"
SHARED_QUESTIONS = 18
WITH_QUOTES = 12


async def asked(scenario: Scenario, folder: Path) -> RunOutcome:
    loaded = load_settings({"PROOFTHREAD_MODEL": "offline"}, folder)
    return (await run_scenario(scenario, loaded, folder)).outcome


def worded(scenario: Scenario, text: str, language: str) -> Scenario:
    question = scenario.file.input.model_copy(update={"text": text})
    file = scenario.file.model_copy(update={"input": question, "language": language})
    return Scenario(scenario.folder, file)


@pytest.mark.parametrize(("text", "language"), [("Why is checkout slow?", "en"), ("结账为什么变慢了？", "zh")])
async def test_the_sample_passes_with_its_true_cause(text: str, language: str, tmp_path: Path) -> None:
    outcome = await asked(worded(read_scenario(SAMPLE), text, language), tmp_path)
    causes = [one for one in outcome.claims if one.claim.claim_type == "root_cause"]
    assert outcome.verdict == "PASS"
    assert not outcome.orchestration_trace.degraded
    assert ["ORD-5031" in one.claim.claim_text for one in causes] == [True]
    assert len(outcome.claims) >= 3
    assert len({proof.tool_name for one in outcome.claims for proof in one.evidence}) >= 2
    assert "recommendation" not in outcome.answer
    assert outcome.gatekeeper_result is not None
    assert outcome.gatekeeper_result.rejected_claim_ids == ()


async def test_the_sample_answers_in_chinese_with_verbatim_quotes(tmp_path: Path) -> None:
    outcome = await asked(worded(read_scenario(SAMPLE), "结账为什么变慢了？", "zh"), tmp_path)
    assert "运行手册给出的原因" in outcome.sections.lead
    assert "maximum-pool-size 30 -> 8" in outcome.sections.lead


async def test_a_question_about_one_order_is_answered_from_its_row(tmp_path: Path) -> None:
    outcome = await asked(worded(read_scenario(SAMPLE), "Why did order SO-20261130-4380 fail?", "en"), tmp_path)
    tools = {proof.tool_name for one in outcome.claims if one.claim.claim_type == "root_cause" for proof in one.evidence}
    assert outcome.verdict == "PASS"
    assert tools == {"query_order", "lookup_knowledge"}


async def test_the_red_herring_asked_about_by_itself_has_no_proven_cause(tmp_path: Path) -> None:
    text = "Why is recommendation-service using so much CPU?"
    outcome = await asked(worded(read_scenario(SAMPLE), text, "en"), tmp_path)
    assert outcome.verdict == "LOW_CONFID"
    assert "2.14.0" in outcome.hypotheses[-1].hypothesis_text


async def test_a_window_with_nothing_in_it_is_said_and_is_not_health(tmp_path: Path) -> None:
    outcome = await asked(worded(read_scenario(SAMPLE), "what went wrong in payment last night?", "en"), tmp_path)
    assert outcome.verdict != "PASS"
    assert all(one.claim.claim_type != "healthy" for one in outcome.claims)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded scenarios (shared/ beside the repository) are not here")
async def test_recorded_questions_end_honestly_and_mostly_with_a_quote(tmp_path: Path) -> None:
    scenarios = [one for one in read_scenarios(SHARED)[0] if one.file.input.kind == "question"]
    grades = [grade(one, await asked(one, tmp_path), []) for one in scenarios]
    assert len(grades) == SHARED_QUESTIONS
    assert sum(one.verified_quotes > 0 and not one.degraded for one in grades) >= WITH_QUOTES
    assert [missed for one in grades for missed in one.missed if missed.startswith("verdict_in")] == []


@pytest.mark.parametrize(
    ("error", "step"),
    [
        ('pods is forbidden: User "bot" cannot list resource "pods"', "Give the bot the right to read there"),
        ('Error from server (NotFound): pods "billing-1" not found', "Check the name and the place"),
        ("Unable to connect to the server: i/o timeout", "Restore pod_logs"),
    ],
)
async def test_what_was_not_allowed_not_found_or_broken_is_never_proven(error: str, step: str, tmp_path: Path) -> None:
    call = {"args": {"pod": "billing-1", "namespace": "pay"}, "status": "error", "error": error}
    document = {
        "id": "own/refused",
        "source": "own",
        "licence": "Apache-2.0",
        "language": "en",
        "now": None,
        "input": {"kind": "question", "text": "Why does billing-1 in namespace pay fail?", "history": []},
        "world": {"tools": [{"name": "pod_logs", "description": "logs of a pod", "calls": [call]}]},
        "expect": {},
    }
    (tmp_path / "scenario.json").write_text(json.dumps(document), encoding="utf-8")
    outcome = await asked(read_scenario(tmp_path), tmp_path)
    assert outcome.verdict != "PASS"
    assert error.split(":")[0] in outcome.answer
    assert step in outcome.answer
