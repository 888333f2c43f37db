"""The share of a claim's words that its quotes bear."""

from __future__ import annotations

import pytest

from agents.contracts import VerifiedEvidence
from agents.gate.overlap import content_share


def proof(text: str, **scope: str) -> VerifiedEvidence:
    return VerifiedEvidence(
        claim_id="c", index=0, source_invocation_id=1, tool_name="query_logs", raw_path="$.x", span_text=text,
        span_start=0, span_end=len(text), evidence_sha256="", scope=scope,
    )  # fmt: skip


LINE = proof("request timed out after 30000ms waiting for a connection", service="order-service")


@pytest.mark.parametrize(
    ("claim", "low", "high"),
    [
        ("order-service requests timed out waiting for a connection", 0.9, 1.0),
        ("The marketing newsletter annoyed several subscribers", 0.0, 0.1),
        ("order-service 等待连接 30 秒后超时", 1.0, 1.0),
        ("cart-service 等待连接 31 秒后超时", 0.0, 0.0),
        ("系统变慢", 1.0, 1.0),
    ],
)
def test_same_language_counts_words_and_across_languages_only_facts_count(claim: str, low: float, high: float) -> None:
    assert low <= content_share(claim, [LINE]) <= high


def test_chinese_claims_on_chinese_records_compare_by_pairs_of_characters() -> None:
    record = [proof("数据库连接池使用率过高，等待线程增加")]
    assert content_share("连接池使用率过高", record) > 0.9
    assert content_share("磁盘空间不足", record) < 0.3
