"""A click may come days after the answer: what it needs is read back from the run's row."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agents.contracts import AnswerSections
from agents.state import RunRequest, StateUnreadable, dump_state, first_state
from bot.answers.stored_answer import stored_answer
from bot.blocks.sample_run import sample_outcome, sample_run


def test_claims_and_gaps_come_back_as_the_answer_numbered_them() -> None:
    claim = sample_outcome().claims[0]
    request = RunRequest("s", "Why?", "en", "UTC", datetime(2026, 11, 30, tzinfo=UTC))
    sections = AnswerSections(lead="x", confirmed=(), gaps=("first", " ", "second"), next_steps=())
    state = replace(
        first_state(request, "run-1", fence="f", start="PLANNER"),
        sections=sections,
        verified_claims=(claim.claim,),
        verified_evidence=claim.evidence,
    )
    answer = stored_answer(replace(sample_run(), state=dump_state(state)))
    assert answer.claims == (claim,)
    assert answer.gaps == ("first", "second")


def test_a_row_of_another_version_is_unreadable() -> None:
    with pytest.raises(StateUnreadable, match="version"):
        stored_answer(replace(sample_run(), state='{"version": 99}'))
