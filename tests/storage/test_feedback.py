"""One vote a person and run; the last one by its own time wins, whatever the order in which the events come."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from slack_jobs import new_job

from storage.engine import Database
from storage.errors import RunNotFound
from storage.feedback import FeedbackStore, Tally
from storage.jobs import JobStore
from storage.sessions import Thread
from storage.trace import TraceStore

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def at(second: int) -> datetime:
    return NOON + timedelta(seconds=second)


@pytest.fixture
def votes(database: Database) -> FeedbackStore:
    JobStore(database).add(new_job(1))
    return FeedbackStore(database)


def aggregate(database: Database) -> str | None:
    return TraceStore(database).run("run-1").feedback


def test_a_vote_is_kept_and_counted(database: Database, votes: FeedbackStore) -> None:
    assert votes.vote("run-1", "U1", "useful", "button", at(0)) == Tally(1, 0)
    [vote] = votes.votes("run-1")
    assert (vote.user_id, vote.vote, vote.source, vote.reason, vote.voted_at) == ("U1", "useful", "button", None, at(0))
    assert aggregate(database) == "useful"


def test_the_last_vote_of_a_person_wins(database: Database, votes: FeedbackStore) -> None:
    votes.vote("run-1", "U1", "useful", "button", at(0))
    assert votes.vote("run-1", "U1", "not_useful", "reaction", at(1)) == Tally(0, 1)
    assert aggregate(database) == "not_useful"


def test_a_vote_that_comes_late_does_not_win(database: Database, votes: FeedbackStore) -> None:
    votes.vote("run-1", "U1", "not_useful", "button", at(5))
    assert votes.vote("run-1", "U1", "useful", "reaction", at(1)) == Tally(0, 1, changed=False)
    assert aggregate(database) == "not_useful"


def test_the_same_vote_again_changes_nothing(votes: FeedbackStore) -> None:
    votes.vote("run-1", "U1", "useful", "button", at(0))
    assert votes.vote("run-1", "U1", "useful", "reaction", at(1)) == Tally(1, 0, changed=False)


def test_a_withdrawn_vote_no_longer_counts(database: Database, votes: FeedbackStore) -> None:
    votes.vote("run-1", "U1", "useful", "reaction", at(0))
    assert votes.retract("run-1", "U1", "useful", "reaction", at(1)) == Tally(0, 0)
    assert aggregate(database) is None


def test_withdrawing_the_old_vote_keeps_the_new_one(votes: FeedbackStore) -> None:
    votes.vote("run-1", "U1", "useful", "reaction", at(0))
    votes.vote("run-1", "U1", "not_useful", "reaction", at(1))
    assert votes.retract("run-1", "U1", "useful", "reaction", at(2)) == Tally(0, 1, changed=False)


def test_a_removal_that_overtakes_its_vote_still_removes_it(votes: FeedbackStore) -> None:
    assert votes.retract("run-1", "U1", "useful", "reaction", at(1)) == Tally(0, 0, changed=False)
    assert votes.vote("run-1", "U1", "useful", "reaction", at(0)) == Tally(0, 0, changed=False)


def test_people_who_disagree_make_it_mixed(database: Database, votes: FeedbackStore) -> None:
    votes.vote("run-1", "U1", "useful", "button", at(0))
    votes.vote("run-1", "U2", "not_useful", "button", at(0))
    assert aggregate(database) == "mixed"
    assert votes.tally("run-1") == Tally(1, 1, changed=False)


def test_votes_given_at_once_are_all_counted(database: Database, votes: FeedbackStore) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: votes.vote("run-1", f"U{n}", "not_useful" if n == 7 else "useful", "button", at(n)), range(8)))
    assert (votes.tally("run-1"), aggregate(database)) == (Tally(7, 1, changed=False), "mixed")


def test_a_reason_stays_with_its_vote(votes: FeedbackStore) -> None:
    votes.vote("run-1", "U1", "not_useful", "button", at(0))
    votes.reason("run-1", "U1", "wrong service 🐢")
    assert votes.votes("run-1")[0].reason == "wrong service 🐢"


def test_a_reason_without_a_vote_is_refused(votes: FeedbackStore) -> None:
    with pytest.raises(RunNotFound):
        votes.reason("run-1", "U1", "wrong")


def test_a_vote_on_a_run_that_is_gone_is_refused(votes: FeedbackStore) -> None:
    with pytest.raises(RunNotFound):
        votes.vote("run-9", "U1", "useful", "button", at(0))


def test_the_rate_adds_up_the_votes_of_channels_since_a_day(database: Database, votes: FeedbackStore) -> None:
    JobStore(database).add(new_job(2, Thread("T1", "C2", "1700000000.000200")))
    votes.vote("run-1", "U1", "useful", "button", at(0))
    votes.vote("run-1", "U2", "useful", "button", at(10))
    votes.vote("run-2", "U1", "not_useful", "button", at(10))
    votes.retract("run-2", "U2", "useful", "button", at(10))
    rates = (votes.rate(), votes.rate(["C2"]), votes.rate([]), votes.rate(since=at(5)))
    assert [(rate.useful, rate.not_useful) for rate in rates] == [(2, 1), (0, 1), (0, 0), (1, 1)]


@pytest.mark.parametrize(
    ("useful", "not_useful", "down"), [(0, 0, False), (1, 0, False), (1, 1, True), (2, 1, False), (0, 1, True)]
)
def test_what_as_many_find_useless_as_useful_is_voted_down(useful: int, not_useful: int, down: bool) -> None:
    assert Tally(useful, not_useful).voted_down is down
