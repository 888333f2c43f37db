"""Follow-ups that name nothing are about what the conversation was about."""

from dataclasses import replace

import pytest
from offline_world import NOW, UTC_ZONE, Answers, executor_request

from agents.contracts import ExecutorDraft, ExecutorInput, HistoryTurn
from agents.llm.base import ModelRequest
from agents.offline.executor import turn
from agents.offline.follow_up import read_in_context
from agents.question_kind import asks_when, question_kind

POOL = "order-service ERROR 50 0 08:43 ORD-5031 order not stored: no connection from the pool"
CALLER = "checkout-service ERROR 50 0 08:43 CHK-5042 call to order-service failed with ORD-5031"
NOISE = "recommendation-service WARN 557 0 08:30 feature cache miss for segment 975"
RUNBOOK = "Cause: ORD-5031 means that the connection pool of order-service is exhausted."
EARLIER = (
    HistoryTurn(role="user", text="Why is checkout slow since 08:20?"),
    HistoryTurn(role="assistant", text="order-service fails with ORD-5031. See the runbook.", run_id="r"),
)


def drafted(question: str, history: tuple[HistoryTurn, ...], *logs: str) -> ExecutorDraft:
    request: ModelRequest = executor_request(question, (), Answers().logs(*logs).knowledge(RUNBOOK))
    assert isinstance(request.payload, ExecutorInput)
    reply = turn(replace(request, payload=request.payload.model_copy(update={"history": history})))
    assert isinstance(reply, ExecutorDraft)
    return reply


@pytest.mark.parametrize("text", ["since when?", "从什么时候开始？", "which service?", "Why?", "And in the last 2 hours?"])
def test_the_subject_is_that_of_the_earlier_question(text: str) -> None:
    question = read_in_context(text, EARLIER, NOW, UTC_ZONE)
    assert (question.names, question.codes, question.text) == (("checkout",), ("ORD-5031",), text)
    assert question.window is not None


def test_where_no_question_named_one_the_answer_did() -> None:
    history = (HistoryTurn(role="user", text="What is wrong?"), EARLIER[1])
    question = read_in_context("since when?", history, NOW, UTC_ZONE)
    assert (question.names, question.codes) == (("order-service",), ("ORD-5031",))


@pytest.mark.parametrize("text", ["What about payment?", "支付呢？", "Why did order SO-20261130-4380 fail?"])
def test_a_question_with_a_subject_keeps_it(text: str) -> None:
    assert "checkout" not in read_in_context(text, EARLIER, NOW, UTC_ZONE).names


@pytest.mark.parametrize("text", ["since when?", "从什么时候开始？", "When did it start?"])
def test_since_when_is_answered_by_first_sightings(text: str) -> None:
    draft = drafted(text, EARLIER, NOISE, POOL, CALLER)
    assert [claim.claim_type for claim in draft.claims] == ["symptom", "symptom"]
    assert "order-service has logged a new error since 08:43" in draft.claims[0].claim_text
    assert draft.recommended_actions == ()


def test_since_when_without_a_subject_says_what_is_missing_and_states_no_time() -> None:
    draft = drafted("since when?", (), NOISE, POOL, CALLER)
    assert any("name the service" in one for one in draft.missing_info)
    assert not any("08:" in claim.claim_text for claim in draft.claims)


def test_since_when_of_what_is_not_new_says_that_nothing_shows_it() -> None:
    old = "checkout-service ERROR 50 50 08:43 CHK-5042 call to order-service failed"
    assert any("Nothing that was read shows when it began" in one for one in drafted("since when?", EARLIER, old).missing_info)


@pytest.mark.parametrize(
    ("text", "is_when"),
    [
        ("Since when does it happen?", True),
        ("How long?", True),
        ("How long does checkout take?", False),
        ("When did checkout-service restart?", False),
        ("Why is it slow?", False),
    ],
)
def test_since_when_something_is_wrong_is_told_from_other_times(text: str, is_when: bool) -> None:
    assert asks_when(text) is is_when
    assert not is_when or question_kind(text) == "fact"
