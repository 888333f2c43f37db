"""Recorded transcripts of models that go astray, each played through the whole pipeline. The outcome is reviewed."""

import json
from pathlib import Path

import pytest
from golden import check_golden
from small_incident import request, world

from agents.contracts import RunOutcome
from agents.llm import build_model
from agents.llm.base import ModelSettings
from bot.jobs import ask
from storage.engine import Database

FOLDER = Path(__file__).parent / "transcripts"
GOLDEN = Path(__file__).parent / "golden" / "transcripts"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


async def played(name: str, db: Database) -> RunOutcome:
    model = build_model(f"scripted:{FOLDER / name}.json", ModelSettings(model="unused"))
    return await ask(request(), world(db, model).place)


def told(outcome: RunOutcome) -> str:
    gate = outcome.gatekeeper_result
    shown = {
        "verdict": outcome.verdict.value,
        "status": outcome.status,
        "path": [f"{step.source} → {step.target}: {step.reason}" for step in outcome.orchestration_trace.transitions],
        "ended": outcome.orchestration_trace.termination_reason,
        "claims": [f"[{a.number}] {a.claim.claim_type}: {a.claim.claim_text}" for a in outcome.claims],
        "hypotheses": [hypothesis.hypothesis_text for hypothesis in outcome.hypotheses],
        "failed_rules": list(gate.failed_rules) if gate else None,
        "answer": outcome.answer.split("\n"),
    }
    return json.dumps(shown, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", NAMES)
async def test_a_transcript_ends_as_reviewed(name: str, sqlite_database: Database) -> None:
    check_golden(GOLDEN / f"{name}.json", told(await played(name, sqlite_database)))


async def test_the_red_herring_is_no_cause_and_the_true_one_is(sqlite_database: Database) -> None:
    outcome = await played("red_herring", sqlite_database)
    causes = [a.claim.claim_text for a in outcome.claims if a.claim.claim_type == "root_cause"]
    assert len(causes) == 1
    assert "HikariPool-1" in causes[0]
    assert outcome.verdict == "PASS"


@pytest.mark.parametrize("name", ["misquoted_excerpt", "foreign_invocation_id", "prose", "retry_exhausted"])
async def test_what_was_not_proven_is_never_stated(name: str, sqlite_database: Database) -> None:
    outcome = await played(name, sqlite_database)
    assert outcome.verdict == "REJECT"
    assert outcome.claims == ()
    assert "60000ms" not in outcome.answer
    assert "Set it back" not in outcome.answer


async def test_invented_numbers_never_reach_the_answer(sqlite_database: Database) -> None:
    outcome = await played("invented_numbers", sqlite_database)
    assert not any(word in outcome.answer for word in ("host-99", "512", "03:00", "73%"))
    assert "maximum-pool-size changed from 30 to 5" in outcome.answer


async def test_malformed_json_is_repaired_in_one_turn(sqlite_database: Database) -> None:
    outcome = await played("malformed_json", sqlite_database)
    assert outcome.verdict == "PASS"
    assert outcome.usage.steps == 6


def test_a_file_that_is_no_transcript_is_refused_in_words(tmp_path: Path) -> None:
    from agents.errors import ModelRefused

    (tmp_path / "x.json").write_text('[{"rôle": 1}]')
    with pytest.raises(ModelRefused, match="no readable transcript"):
        build_model(f"scripted:{tmp_path / 'x.json'}", ModelSettings(model=""))
