"""Which claims answer which question, without a model."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from agents.contracts import VerifiedClaim, VerifiedEvidence
from agents.offline.answers import answers
from agents.offline.question import read

CAUSE = VerifiedClaim(
    claim_id="c", claim_type="root_cause", claim_text="order-service fails with ORD-5031", support_level="direct"
)
PROOF = VerifiedEvidence(
    claim_id="c",
    index=0,
    source_invocation_id=1,
    tool_name="query_logs",
    raw_path="$.logs[0]",
    span_text="order-service ERROR ORD-5031 checkout failed",
    span_start=0,
    span_end=44,
    evidence_sha256="0" * 64,
)


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("Why is order-service failing?", True),
        ("what broke order-service?", True),
        ("how do I restart order-service?", False),
        ("order-service 怎么重启？", False),
        ("what's the p99 of order-service now?", False),
    ],
)
def test_a_cause_answers_a_why_and_nothing_else(question: str, answered: bool) -> None:
    asked = read(question, datetime(2026, 11, 30, 9, tzinfo=UTC), ZoneInfo("UTC"))
    assert answers(asked, CAUSE, [PROOF]) is answered
