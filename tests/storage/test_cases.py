"""A useful run has one case; who may find it, and what a person's word is worth against a vote."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from slack_jobs import THREAD, new_job

from storage.audience import Audience
from storage.cases import Case, CaseStore, CaseText, NewCase
from storage.engine import Database
from storage.errors import CaseNotFound, RunNotFound
from storage.feedback import FeedbackStore
from storage.frozen import FrozenScenarios
from storage.jobs import JobStore

TEXT = CaseText("why is checkout slow?", "HikariPool-1 is exhausted 🐢", "Set the size to 30.", "CONNECTION_POOL")
OTHER_TEXT = CaseText("Checkout slow", "the pool shrank", "revert", "CONFIG")
NEW = NewCase("case-1", "run-1", TEXT, "active", "PASS", "en", "T1", "C1", THREAD.ts, is_private=False)
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
HERE, ELSEWHERE, ABROAD = Audience("T1", "C1"), Audience("T1", "C2"), Audience("T2", "C1")


@pytest.fixture
def cases(database: Database) -> CaseStore:
    for number in (1, 2):
        JobStore(database).add(new_job(number))
    return CaseStore(database)


def offered(cases: CaseStore, audience: Audience = HERE) -> list[str]:
    found = [case.case_id for case in cases.searchable(audience)]
    assert cases.searchable_ids(audience) == set(found)
    return found


def test_a_case_comes_back_as_it_was_saved(cases: CaseStore) -> None:
    case = cases.save(NEW)
    assert (case.case_id, case.diagnosis_id, case.source_type, case.created_by) == ("case-1", "run-1", "AUTO", "system")
    assert (case.text, case.status, case.verdict, case.voted_down, case.retracted_by) == (TEXT, "active", "PASS", False, None)
    assert cases.get("case-1") == cases.get("run-1") == cases.of_run("run-1") == case


def test_a_run_has_one_case(cases: CaseStore) -> None:
    with ThreadPoolExecutor(6) as threads:
        saved = set(threads.map(lambda n: cases.save(replace(NEW, case_id=f"case-{n}")), range(6)))
    assert len(saved) == 1
    assert cases.list() == list(saved)


def test_a_draft_is_not_offered_until_a_person_edits_it(cases: CaseStore) -> None:
    cases.save(replace(NEW, status="draft", verdict="LOW_CONFID"))
    assert offered(cases) == []
    case = cases.edit("run-1", OTHER_TEXT, "U1")
    assert (case.text, case.status, case.is_edited, case.created_by) == (OTHER_TEXT, "active", True, "U1")
    assert offered(cases) == ["case-1"]


def test_editing_before_saving_makes_an_edited_case(cases: CaseStore) -> None:
    case = cases.save_edited(replace(NEW, status="draft"), OTHER_TEXT, "U1")
    assert (case.text, case.status, case.is_edited) == (OTHER_TEXT, "active", True)


def test_a_case_is_not_saved_over(cases: CaseStore) -> None:
    edited = cases.save_edited(NEW, OTHER_TEXT, "U1")
    assert cases.save(replace(NEW, text=TEXT)) == edited


def test_a_case_follows_the_votes(database: Database, cases: CaseStore) -> None:
    votes = FeedbackStore(database)
    assert cases.follow_votes(NEW) is None
    votes.vote("run-1", "U1", "useful", "button", NOON)
    made = cases.follow_votes(NEW)
    assert made is not None
    assert (made.status, offered(cases)) == ("active", ["case-1"])
    votes.retract("run-1", "U1", "useful", "button", NOON)
    gone = cases.follow_votes(NEW)
    assert gone is not None
    assert (gone.status, gone.retracted_by, offered(cases)) == ("retracted", "system", [])
    votes.vote("run-1", "U2", "useful", "button", NOON)
    back = cases.follow_votes(NEW)
    assert back is not None
    assert (back.case_id, back.status) == ("case-1", "active")


def test_an_edited_case_stays_without_votes(cases: CaseStore) -> None:
    edited = cases.save_edited(NEW, OTHER_TEXT, "U1")
    assert cases.follow_votes(NEW) == edited


def test_a_persons_retraction_outlives_a_vote_but_not_an_edit(cases: CaseStore) -> None:
    cases.save(NEW)
    assert cases.retract("case-1", "U2").retracted_by == "U2"
    assert cases.save(NEW).status == "retracted"
    assert cases.edit("case-1", OTHER_TEXT, "U1").status == "active"


@pytest.mark.parametrize("private", [False, True])
def test_a_private_channels_case_stays_in_it(cases: CaseStore, private: bool) -> None:
    cases.save(replace(NEW, is_private=private))
    seen = [bool(offered(cases, who)) for who in (HERE, ELSEWHERE, ABROAD, Audience())]
    assert seen == [True, not private, False, not private]


def test_a_case_voted_down_is_not_offered_also_when_it_was_edited(database: Database, cases: CaseStore) -> None:
    cases.save_edited(NEW, OTHER_TEXT, "U1")
    votes = FeedbackStore(database)
    votes.vote("run-1", "U2", "not_useful", "button", NOON)
    assert (offered(cases), cases.get("case-1").is_offered) == ([], False)
    votes.retract("run-1", "U2", "not_useful", "button", NOON)
    assert offered(cases) == ["case-1"]


def test_a_case_made_after_the_votes_knows_them(database: Database, cases: CaseStore) -> None:
    votes = FeedbackStore(database)
    votes.vote("run-1", "U1", "useful", "button", NOON)
    votes.vote("run-1", "U2", "not_useful", "button", NOON)
    assert cases.save(NEW).voted_down is True


def test_a_long_title_is_cut_at_a_hundred_characters(cases: CaseStore) -> None:
    title = "🐢" * 99 + "\ud800" + "x" * 10
    assert cases.save(replace(NEW, text=replace(TEXT, title=title))).title == "🐢" * 99 + "\ufffd"


def test_cases_are_listed_newest_first_and_by_status(cases: CaseStore) -> None:
    cases.save(NEW)
    cases.save(replace(NEW, case_id="case-2", run_id="run-2", status="draft"))

    def ids(found: list[Case]) -> list[str]:
        return [case.case_id for case in found]

    assert (ids(cases.list()), ids(cases.list("draft")), ids(cases.list(limit=1))) == (
        ["case-2", "case-1"], ["case-2"], ["case-2"],
    )  # fmt: skip


def test_what_is_not_there_is_said(cases: CaseStore) -> None:
    with pytest.raises(CaseNotFound, match="cases list"):
        cases.edit("nobody", TEXT, "U1")
    with pytest.raises(CaseNotFound, match="nobody"):
        cases.get("nobody")
    with pytest.raises(RunNotFound, match="run-9"):
        cases.save(replace(NEW, run_id="run-9"))


def test_a_frozen_scenario_is_kept_whole_replaced_and_thawed(database: Database) -> None:
    frozen = FrozenScenarios(database)
    for document in ('{"id": "🐢"}', '{"id": "' + "x" * 300_000 + '"}'):
        frozen.freeze("run-1", document)
        assert frozen.get("run-1") == document
    frozen.thaw("run-1")
    assert frozen.get("run-1") is None
