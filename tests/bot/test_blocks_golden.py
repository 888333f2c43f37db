"""One payload a verdict and a block kind as files: reviewed by people, and sent to Slack's own blocks.validate by doctor.

PROOFTHREAD_TEST_UPDATE=1 rewrites them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from golden import check_golden
from slack_schema import block_problems, chunk_problems, view_problems

from agents.contracts import RunOutcome, RunUsage, Verdict
from agents.events import RunEvent
from agents.replies import Replies
from bot.blocks.cards import all_ended, cards_of
from bot.blocks.evidence import evidence_gone, evidence_loading, evidence_view, proofs_of
from bot.blocks.feedback import CaseDraft, case_offer, edit_case_view, why_not_view
from bot.blocks.gaps import add_context_view, ask_someone_view
from bot.blocks.home import HomeBudget, HomeFacts, HomeModel, HomeRun, HomeSource, home_view
from bot.blocks.outcome import AnswerView, answer_message
from bot.blocks.progress import progress_blocks, progress_chunks, progress_line, progress_markdown, stop_block
from bot.blocks.reader import Reader, slack_words
from bot.blocks.trace import trace_view
from bot.validator import check
from storage.trace import Run, Step, StoredInvocation

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "golden"
WORDS = slack_words(Replies.load(ROOT / "prompts" / "replies"))
SHANGHAI = ZoneInfo("Asia/Shanghai")
AT = datetime(2026, 11, 30, 8, 40, tzinfo=UTC)
TS = "1700000000.000100"
EVENTS = [
    RunEvent("run-1", "node_started", "PLANNER"),
    RunEvent("run-1", "node_finished", "PLANNER"),
    RunEvent("run-1", "node_started", "EXECUTOR"),
    RunEvent("run-1", "tool_started", "query_logs", 'level="ERROR"', call="a"),
    RunEvent("run-1", "tool_started", "query_logs", 'level="WARN"', call="b"),
    RunEvent("run-1", "tool_finished", "query_logs", "5 quotable pieces", call="b"),
    RunEvent("run-1", "tool_finished", "query_logs", "timed out after 10 s", ok=False, call="a"),
]


def english() -> Reader:
    return Reader(WORDS, "en", SHANGHAI)


def chinese() -> Reader:
    return Reader(WORDS, "zh", SHANGHAI)


def message(outcome: RunOutcome, reader: Reader, **changes: Any) -> dict[str, Any]:
    answer = answer_message(outcome.model_copy(update=changes), AnswerView(reader))
    return {"channel": "C1", "blocks": answer.blocks, "text": answer.text}


def low_confidence(outcome: RunOutcome) -> dict[str, Any]:
    reader = chinese()
    sections = outcome.sections.model_copy(update={"lead": reader.say("low_confid_lead")})
    return message(outcome, reader, language="zh", verdict=Verdict.LOW_CONFID, sections=sections)


def rejected(outcome: RunOutcome) -> dict[str, Any]:
    reader = english()
    gaps = ("No slow statements were looked at.", "The tool query_metrics gave no answer: timed out.")
    sections = outcome.sections.model_copy(
        update={"lead": reader.say("reject_lead"), "confirmed": (), "gaps": gaps, "next_steps": ()}
    )
    usage = RunUsage(model="qwen-max", prompt_tokens=20_000, completion_tokens=1_234, cost=0.0123)
    return message(outcome, reader, verdict=Verdict.REJECT, claims=(), sections=sections, usage=usage)


def stored_call(outcome: RunOutcome) -> StoredInvocation:
    quote = outcome.claims[0].evidence[0]
    line = f"2026-11-30T08:43:12Z {quote.span_text} service=order-service"
    return StoredInvocation(
        session_id="s", step_id=1, node="EXECUTOR", round=1, sequence=1, arguments_hash="h", tool_name="query_logs",
        input_params={"level": "ERROR", "service": "order-service"}, output_preview="1 line", output_length=10,
        retrieval_layer=None, l0_match_count=None, l1_match_count=None, is_truncated=False, relevance_level=None,
        dedup_reason=None, payload={}, duration_ms=12, success=True, error_message=None, id=3, run_id="run-1",
        finished=True,
        retrieval_details={
            "evidence_status": "supported",
            "evidence_refs": [{"raw_path": "$.logs[0]", "text": line, "scope": {}}],
        },
    )  # fmt: skip


def with_line(outcome: RunOutcome) -> RunOutcome:
    """The span stands inside its line, not at its start."""
    claim = outcome.claims[0]
    quote = claim.evidence[0]
    moved = quote.model_copy(update={"span_start": 21, "span_end": 21 + len(quote.span_text)})
    return outcome.model_copy(update={"claims": (claim.model_copy(update={"evidence": (moved,)}),)})


def evidence(outcome: RunOutcome) -> dict[str, Any]:
    return evidence_view("run-1", proofs_of(with_line(outcome).claims, [stored_call(outcome)]), 1, english())


def traced(outcome: RunOutcome) -> dict[str, Any]:
    run = Run(
        run_id="run-1", session_id="s", agent_flow="CHAT", query=outcome.question, language="en", zone="UTC",
        status="SUCCESS", verdict="PASS", answer=outcome.answer, total_duration_ms=1234, total_token_count=150,
        step_count=1, tool_call_count=1, cost=None, self_evaluation=None,
        orchestration_trace={"transitions": [{"source": "START", "target": "PLANNER", "reason": "ok"},
                                             {"source": "VERIFIER", "target": "PLANNER", "reason": "evidence_retry"}]},
        feedback=None, state="", next_node=None, attempt=1, lease_owner=None, lease_until=None, deadline_seconds=180,
        deadline=None, cancel_requested_at=None, created_at=AT, started_at=AT, finished_at=AT,
    )  # fmt: skip
    step = Step(
        session_id="s", node="PLANNER", round=1, sequence=1, request_hash="h", agent_name="planner",
        model_name="qwen-max", model_input="", model_output="", thought="", has_tool_call=False, duration_ms=900,
        prompt_tokens=100, completion_tokens=50, cached_tokens=0, cost=None, request_whole="", reply_whole="", ok=True,
        error=None, id=1, run_id="run-1", step_index=1,
    )  # fmt: skip
    return trace_view(run, [step], [stored_call(outcome)], 1, english())


def home() -> dict[str, Any]:
    facts = HomeFacts(
        runs=[HomeRun("Why is checkout slow?", "PASS", AT, "https://team.example/archives/C1/p1"), HomeRun("And now?", None, AT)],
        open_questions=["Why does billing lag?"],
        verdicts={"PASS": 3, "LOW_CONFID": 1},
        sources=[HomeSource("logs", True, "3 folders"), HomeSource("prometheus", False, "connection refused")],
        channels=["#ops"],
        useful=3,
        not_useful=1,
        model=HomeModel("qwen-max", "llm.example.org"),
        budget=HomeBudget(12_000, 1_000_000, 0.5, 20.0),
        hints=["Give the bot the scope reactions:write, so that it can show that it has seen a question."],
    )
    return home_view(facts, english())


MESSAGES: dict[str, Callable[[RunOutcome], dict[str, Any]]] = {
    "message_pass": lambda outcome: message(outcome, english()),
    "message_low_confid": low_confidence,
    "message_reject": rejected,
    "message_cancelled": lambda outcome: message(outcome, english(), status="CANCELLED", verdict=Verdict.LOW_CONFID),
    "message_case_offer": lambda _: {"channel": "C1", "blocks": case_offer("run-1", True, english()), "text": "Saved"},
    "message_progress": lambda _: {
        "channel": "C1",
        "blocks": [*progress_blocks(cards_of(EVENTS, english()), english()), stop_block("run-1", english())],
        "text": progress_line(all_ended(cards_of(EVENTS, english())), 12.4, english()),
    },
}
VIEWS: dict[str, Callable[[RunOutcome], dict[str, Any]]] = {
    "view_evidence": evidence,
    "view_evidence_loading": lambda _: evidence_loading(english()),
    "view_evidence_gone": lambda _: evidence_gone(chinese()),
    "view_trace": traced,
    "view_why_not": lambda _: why_not_view("run-1", english(), channel="C1"),
    "view_edit_case": lambda _: edit_case_view("run-1", CaseDraft("Checkout slow", "GENERAL", "pool too small", ""), chinese()),
    "view_add_context": lambda _: add_context_view("run-1", 0, "No slow statements were looked at.", english()),
    "view_ask_someone": lambda _: ask_someone_view("run-1", 0, "No slow statements were looked at.", chinese()),
    "home": lambda _: home(),
}  # fmt: skip


def golden(name: str, payload: Any) -> None:
    check_golden(FOLDER / f"{name}.json", json.dumps(payload, ensure_ascii=False, indent=1) + "\n")


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_looks_as_reviewed(name: str, outcome: RunOutcome) -> None:
    payload = MESSAGES[name](outcome)
    assert check("chat.postMessage", payload) == []
    assert block_problems(payload["blocks"]) == []
    golden(name, payload)


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_looks_as_reviewed(name: str, outcome: RunOutcome) -> None:
    view = VIEWS[name](outcome)
    call = {"user_id": "U1"} if view["type"] == "home" else {"trigger_id": "1.2"}
    assert check("views.publish" if view["type"] == "home" else "views.open", {**call, "view": view}) == []
    assert view_problems(view) == []
    golden(name, view)


def test_a_stream_looks_as_reviewed() -> None:
    reader = english()
    sent = [
        progress_chunks(cards_of(EVENTS[:end], reader), cards_of(EVENTS[: end + 1], reader), reader)
        for end in range(len(EVENTS))
    ]
    assert not chunk_problems([chunk for chunks in sent for chunk in chunks])
    golden("stream", sent)
    golden("progress_markdown", progress_markdown(cards_of(EVENTS, reader), reader).splitlines())
