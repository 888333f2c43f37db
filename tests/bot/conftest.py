"""A finished run to render and to grade."""

from __future__ import annotations

import pytest

from agents.contracts import Hypothesis, RunOutcome
from bot.blocks.sample_run import sample_outcome


@pytest.fixture
def outcome() -> RunOutcome:
    """The sample run, of which nobody knows over which window it looked."""
    run = sample_outcome()
    trace = run.orchestration_trace.model_copy(update={"window_from": "", "window_to": ""})
    hypothesis = Hypothesis(hypothesis_text="A query holds connections", basis="waits")
    return run.model_copy(update={"orchestration_trace": trace, "hypotheses": (hypothesis,)})
