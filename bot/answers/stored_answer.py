"""What a finished run's answer was, read back from its row: for clicks that come long after it."""

from __future__ import annotations

from dataclasses import dataclass

from agents.answer import allowed_claims
from agents.contracts import AllowedClaim, AnswerSections
from agents.state import load_state
from storage.trace import Run


@dataclass(frozen=True)
class StoredAnswer:
    """`gaps` are numbered as in the buttons of the answer: blank ones left out."""

    claims: tuple[AllowedClaim, ...]
    sections: AnswerSections

    @property
    def gaps(self) -> tuple[str, ...]:
        return tuple(gap for gap in self.sections.gaps if gap.strip())


def stored_answer(run: Run) -> StoredAnswer:
    """Raises StateUnreadable where the row was written by another version."""
    state = load_state(run.state)
    unwritten = AnswerSections(lead=state.answer, confirmed=(), gaps=(), next_steps=())
    return StoredAnswer(allowed_claims(state), state.sections or unwritten)
