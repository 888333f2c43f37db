"""An earlier case is a lead in an answer, never a proof."""

from offline_world import Answers, executor_request

from agents.contracts import ExecutorDraft
from agents.offline.executor import turn

CASE = "Why is checkout slow? The pool of order-service was too small."


def drafted(question: str, answers: Answers) -> ExecutorDraft:
    reply = turn(executor_request(question, (), answers))
    assert isinstance(reply, ExecutorDraft)
    return reply


def test_a_found_case_is_something_to_compare_with() -> None:
    draft = drafted("Why is checkout slow?", Answers().knowledge(CASE, domain="cases"))
    (step,) = [action for action in draft.recommended_actions if "earlier case" in action.action_text]
    assert "no evidence" in step.action_text
    assert step.evidence[0].ref == "E1"
    assert draft.claims == ()


def test_of_several_cases_the_nearest_is_named() -> None:
    draft = drafted("Why is checkout slow?", Answers().knowledge(CASE, "Another case of long ago.", domain="cases"))
    assert sum("earlier case" in action.action_text for action in draft.recommended_actions) == 1


def test_a_runbook_is_no_case() -> None:
    draft = drafted("Why is checkout slow?", Answers().knowledge(CASE))
    assert not any("earlier case" in action.action_text for action in draft.recommended_actions)
