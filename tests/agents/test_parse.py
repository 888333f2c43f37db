"""From what a model wrote to the contract."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts import PlannerPlan
from agents.errors import ContractBroken
from agents.llm.parse import parse_answer

PLAN = {"selected_skill": None, "selection_reason": "r {x}", "plan": ["a \"quoted\" } step"], "reasoning": "because"}
JSON = json.dumps(PLAN)


@pytest.mark.parametrize(
    "text",
    [
        JSON,
        f"```json\n{JSON}\n```",
        f"Sure! Here it is:\n{JSON}\nHope it helps {{smile}}",
        f"<think>maybe {{\"plan\": 1}}</think>{JSON}",
        f"<thinking>\nlong\n</thinking>\n\n```\n{JSON}\n```",
        f"Use {{braces}} like this: {JSON}",
        json.dumps(PLAN, indent=4, ensure_ascii=False),
    ],
)
def test_thoughts_fences_and_talk_are_set_aside(text: str) -> None:
    assert parse_answer(text, PlannerPlan).model_dump(mode="json") == PLAN


@pytest.mark.parametrize("text", ["", "I would look at the logs first.", "<think>{}", "[1, 2]"])
def test_no_object_at_all_is_missing(text: str) -> None:
    with pytest.raises(ContractBroken) as caught:
        parse_answer(text, PlannerPlan)
    assert caught.value.status == "missing"


@pytest.mark.parametrize("text", [JSON[:-1], JSON[:40], '{"plan": "not a list"}', JSON.replace("reasoning", "reason")])
def test_an_object_that_is_not_the_contracts_is_malformed(text: str) -> None:
    with pytest.raises(ContractBroken) as caught:
        parse_answer(text, PlannerPlan)
    assert caught.value.status == "malformed"


def test_the_errors_name_the_fields() -> None:
    with pytest.raises(ContractBroken, match=r"plan: .*\n.*reasoning: Field required"):
        parse_answer('{"selected_skill": null, "selection_reason": "", "plan": "x"}', PlannerPlan)


def test_an_inner_object_never_stands_in_for_a_cut_outer_one() -> None:
    with pytest.raises(ContractBroken):
        parse_answer('{"outer": [' + JSON + ", ", PlannerPlan)


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_kept() -> None:
    text = JSON.replace("because", "\\ud800 and \\ud83d\\ude00")
    assert parse_answer(text, PlannerPlan).reasoning == "? and 😀"


@given(st.text(max_size=200))
def test_any_text_is_a_contract_or_a_broken_one(text: str) -> None:
    with pytest.raises(ContractBroken):
        parse_answer(text, PlannerPlan)
