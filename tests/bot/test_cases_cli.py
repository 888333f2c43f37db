"""`proofthread cases`, `purge` and `replay` of a frozen run, as a user meets them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from slack_jobs import THREAD
from small_incident import good_run, request, scripted, world

from bot.cases import Cases
from bot.cli import run
from bot.jobs import execute, new_run
from storage.cases import CaseStore
from storage.engine import Database
from storage.feedback import FeedbackStore
from storage.jobs import JobKey, JobStore, NewJob
from storage.knowledge import KnowledgeStore
from storage.trace import TraceStore
from tools.ingest import SyncDeps
from tools.skills import SkillRegistry


@pytest.fixture
def database(tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """The database that the commands open, of a working folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROOFTHREAD_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    file = tmp_path / "proofthread.db"
    file.write_bytes(sqlite_template.read_bytes())
    db = Database(f"sqlite:///{file}")
    yield db
    db.close()


@pytest.fixture
def run_id(database: Database) -> str:
    """A run of user U1 that was found useful."""
    return asyncio.run(useful_run(database))


async def useful_run(db: Database) -> str:
    place = world(db, scripted(*good_run())).place
    new = new_run(request(session_id=THREAD.session_id), place)
    JobStore(db).add(NewJob(JobKey("T1", "C1", "1.1", "mention"), new, THREAD, "U1"))
    await execute(new.run_id, place)
    FeedbackStore(db).vote(new.run_id, "U1", "useful", "button", datetime.now(UTC))
    cases = Cases(db, SyncDeps(db, str, "test"), SkillRegistry(), str, lambda: "case-1")
    await cases.after_vote(new.run_id, is_private=False)
    return new.run_id


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(arguments) == code
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return out if code == 0 else err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(said(capsys, *arguments, "--json"))


def test_cases_are_listed_and_shown(database: Database, run_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    listed = said(capsys, "cases", "list")
    assert "case-1" in listed
    assert "active" in listed
    shown = said(capsys, "cases", "show", run_id)
    for part in ("Why is checkout slow?", "HikariPool-1", "Set maximum-pool-size back", "channel C1", run_id):
        assert part in shown
    [case] = as_json(capsys, "cases", "list", "--status", "active")["cases"]
    assert as_json(capsys, "cases", "show", "case-1") == case
    assert (case["case_id"], case["diagnosis_id"], case["verdict"]) == ("case-1", run_id, "PASS")
    assert as_json(capsys, "cases", "list", "--status", "draft") == {"cases": []}


def test_an_edited_case_says_the_new_words_and_keeps_the_others(
    database: Database, run_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = CaseStore(database).get("case-1")
    case = as_json(capsys, "cases", "edit", "case-1", "--solution", "Set it to 30", "--by", "ann")
    assert (case["solution"], case["root_cause"], case["created_by"]) == ("Set it to 30", before.root_cause, "ann")
    assert "Set it to 30" in said(capsys, "cases", "show", "case-1")


def test_a_retracted_case_leaves_the_search(
    database: Database, run_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert KnowledgeStore(database).chunk_count() == 1
    assert "retracted by operator" in said(capsys, "cases", "retract", "case-1")
    assert KnowledgeStore(database).chunk_count() == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("cases", "show", "nobody"), "cases list"),
        (("cases", "edit", "case-1"), "--title"),
        (("cases", "edit", "case-1", "--root-cause", " "), "--root-cause is empty"),
        (("cases", "edit", "case-1", "--category", ""), "--category is empty"),
        (("cases", "list", "--status", "old"), "active, draft, retracted"),
        (("purge", "--run", "nobody"), "nobody"),
        (("purge", "--run", "a", "--user", "b"), "one of"),
    ],
)
def test_what_must_be_put_right_is_said(
    database: Database, run_id: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    assert says in said(capsys, *arguments, code=2)


def test_an_empty_library_says_how_it_fills(database: Database, capsys: pytest.CaptureFixture[str]) -> None:
    assert "useful" in said(capsys, "cases", "list")


def test_a_purge_by_age_keeps_what_is_young(
    database: Database, run_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, "purge") == "Nothing to delete.\n"
    done = as_json(capsys, "purge", "--days", "0")
    assert (done["runs"], done["cases"], done["case_ids"]) == (1, 1, ["case-1"])
    assert (TraceStore(database).recent_runs(9), KnowledgeStore(database).chunk_count()) == ([], 0)


@pytest.mark.parametrize("which", ["run", "user"])
def test_a_run_or_a_persons_runs_are_purged(
    database: Database, run_id: str, capsys: pytest.CaptureFixture[str], which: str
) -> None:
    assert "Deleted: runs 1, sessions 1," in said(capsys, "purge", f"--{which}", run_id if which == "run" else "U1")
    assert KnowledgeStore(database).chunk_count() == 0


def test_an_edited_case_is_replayed_when_its_run_is_gone(
    database: Database, run_id: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said(capsys, "cases", "edit", "case-1", "--title", "The pool")
    said(capsys, "purge", "--days", "0")
    replayed = as_json(capsys, "replay", "case-1", "--save", str(tmp_path / "kept"))
    assert replayed["run_id"] == run_id
    assert {tool["name"] for tool in json.loads((tmp_path / "kept" / "scenario.json").read_text())["world"]["tools"]} == {
        "query_logs",
        "query_metrics",
        "query_changes",
    }
