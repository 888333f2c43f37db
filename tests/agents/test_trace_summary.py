"""tool_trace_summary: one item a tool, 15 fields."""

from typing import Any

from agents.contracts import ToolTraceItem
from agents.trace_summary import trace_summary
from tools.contracts import EvidenceRef, EvidenceStatus
from tools.invocation import CallKey, Invocation

LEVELS: dict[str, Any] = {"query_logs": "direct", "lookup_knowledge": "indirect", "date_time": "none", "read_skill": "none"}
SUPPORTED, NOTHING, DEDUPED, FAILED = EvidenceStatus


def call(number: int, tool: str, status: EvidenceStatus, text: str = "", **details: Any) -> Invocation:
    refs = (EvidenceRef(raw_path="$.logs[0]", text=text),) if text else ()
    return Invocation(
        id=number,
        key=CallKey("EXECUTOR", 1, number),
        tool_name=tool,
        arguments={"query": f"payment-service timeout {number}"},
        evidence_status=status,
        refs=refs,
        error="the server answered 503" if status is FAILED else None,
        details=details,
    )


def test_calls_of_a_tool_become_one_item_with_their_counts() -> None:
    [item] = trace_summary(
        [
            call(1, "query_logs", SUPPORTED, "19 errors since 08:43"),
            call(2, "query_logs", NOTHING, "nothing found"),
            call(3, "query_logs", DEDUPED),
            call(4, "query_logs", FAILED),
        ],
        LEVELS,
    )
    assert (item.trace_ref, item.tool_name, item.success, item.evidence_level) == ("trace-1", "query_logs", True, "direct")
    assert (item.invocation_count, item.failed_invocation_count, item.no_hit_invocation_count) == (4, 1, 2)
    assert item.source_invocation_ids == (1, 2, 3, 4)
    assert item.query_samples[0] == '{"query":"payment-service timeout 1"}'
    assert "19 errors since 08:43" in item.output_summary
    assert item.topic_domain == "general"


def test_retrieval_details_name_domains_layers_and_documents() -> None:
    details = {
        "retrieved_domains": ["api", "runbook"],
        "retrieval_layer": "L0",
        "relevance_level": "high",
        "source_documents": ["codes.md"],
    }
    [item] = trace_summary([call(1, "lookup_knowledge", SUPPORTED, "text", **details)], LEVELS)
    assert item.topic_domain == "api, runbook"
    assert (item.retrieval_layers, item.relevance_levels, item.source_documents) == (("L0",), ("high",), ("codes.md",))


def test_clock_skill_and_unknown_tools_are_left_out() -> None:
    calls = [call(1, "date_time", SUPPORTED, "now"), call(2, "read_skill", SUPPORTED), call(3, "invented", FAILED)]
    assert trace_summary(calls, LEVELS) == ()


def test_a_tool_that_only_failed_gives_no_evidence_and_says_why() -> None:
    [item] = trace_summary([call(1, "query_logs", FAILED)], LEVELS)
    assert (item.success, item.evidence_level, item.output_summary) == (False, "none", "the server answered 503")


def test_an_item_has_the_fifteen_fields_of_the_seeds() -> None:
    assert list(ToolTraceItem.model_fields) == [
        "trace_ref",
        "tool_name",
        "success",
        "input_summary",
        "output_summary",
        "evidence_level",
        "topic_domain",
        "source_invocation_ids",
        "invocation_count",
        "failed_invocation_count",
        "no_hit_invocation_count",
        "query_samples",
        "retrieval_layers",
        "relevance_levels",
        "source_documents",
    ]
