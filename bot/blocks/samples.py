"""One payload of every kind that we send, made from an invented run: golden files in tests, and what `doctor --slack` has
Slack's own blocks.validate look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from agents.contracts import (
    AllowedClaim,
    AnswerSections,
    OrchestrationTrace,
    RunOutcome,
    RunUsage,
    Verdict,
    VerifiedClaim,
    VerifiedEvidence,
)
from agents.events import RunEvent
from agents.replies import Replies
from bot.blocks.answer import AnswerView
from bot.blocks.cards import all_ended, cards_of
from bot.blocks.evidence import Proof, Quote, evidence_gone, evidence_loading, evidence_view
from bot.blocks.feedback import CaseDraft, case_offer, edit_case_view, why_not_view
from bot.blocks.gaps import add_context_view, ask_someone_view
from bot.blocks.home import HomeBudget, HomeFacts, HomeModel, HomeRun, HomeSource, home_view
from bot.blocks.outcome import answer_message
from bot.blocks.progress import progress_blocks, progress_line, stop_block
from bot.blocks.reader import Reader
from bot.blocks.report_samples import sample_healthy, sample_rejected, sample_report, sample_resolved, sample_unproven
from bot.blocks.resolved import resolved_message
from bot.blocks.trace import trace_view
from storage.trace import Run, Step, StoredInvocation

RUN = "run-1"
_AT = datetime(2026, 11, 30, 8, 40, tzinfo=UTC)
_QUOTE = "ERROR HikariPool-1 - Connection is not available, request timed out after 30000ms"
_LINE = f"2026-11-30T08:43:12Z {_QUOTE} service=order-service"
_GAP = "No slow statements were looked at."


@dataclass(frozen=True)
class Sample:
    """`payload` of a message: {"blocks", "text"}; of a view: the view."""

    name: str
    kind: Literal["message", "view"]
    payload: dict[str, Any]


def samples(words: Replies) -> list[Sample]:
    english, chinese = (Reader(words, language, ZoneInfo("Asia/Shanghai")) for language in ("en", "zh"))
    return [*_messages(english, chinese), *_reports(english, chinese), *_views(english, chinese)]


def _messages(english: Reader, chinese: Reader) -> Iterator[Sample]:
    cards = cards_of(sample_events(), english)
    yield _answer("message_pass", sample_outcome(), english)
    yield _answer("message_low_confid", _low_confidence(chinese), chinese)
    yield _answer("message_reject", _rejected(english), english)
    stopped = sample_outcome().model_copy(update={"status": "CANCELLED", "verdict": Verdict.LOW_CONFID})
    yield _answer("message_cancelled", stopped, english)
    offer = {"blocks": case_offer(RUN, True, english), "text": english.say("case_saved")}
    yield Sample("message_case_offer", "message", offer)
    running = [*progress_blocks(cards, english), stop_block(RUN, english)]
    progress = {"blocks": running, "text": progress_line(all_ended(cards), 12.4, english)}
    yield Sample("message_progress", "message", progress)


def _reports(english: Reader, chinese: Reader) -> Iterator[Sample]:
    yield _answer("report_pass", sample_report(), english)
    yield _answer("report_healthy", sample_healthy(), english)
    yield _answer("report_low_confid", sample_unproven(), chinese)
    yield _answer("report_reject", sample_rejected(), english)
    for name, reader in (("report_resolved", english), ("report_resolved_zh", chinese)):
        over = resolved_message(sample_resolved(), reader)
        yield Sample(name, "message", {"blocks": over.blocks, "text": over.text})


def _answer(name: str, outcome: RunOutcome, reader: Reader) -> Sample:
    answer = answer_message(outcome, AnswerView(reader))
    return Sample(name, "message", {"blocks": answer.blocks, "text": answer.text})


def _views(english: Reader, chinese: Reader) -> Iterator[Sample]:
    draft = CaseDraft("Checkout slow", "GENERAL", "pool too small", "")
    for name, view in (
        ("view_evidence", evidence_view(RUN, sample_proofs(), 1, english)),
        ("view_evidence_loading", evidence_loading(english)),
        ("view_evidence_gone", evidence_gone(chinese)),
        ("view_trace", trace_view(sample_run(), [_step()], [sample_call()], 1, english)),
        ("view_why_not", why_not_view(RUN, english, channel="C1")),
        ("view_edit_case", edit_case_view(RUN, draft, chinese)),
        ("view_add_context", add_context_view(RUN, 0, _GAP, english)),
        ("view_ask_someone", ask_someone_view(RUN, 0, _GAP, chinese)),
        ("home", home_view(_home(), english)),
    ):
        yield Sample(name, "view", view)


# ---------------------------------------------------------------- the invented run


def sample_events() -> list[RunEvent]:
    """Two calls side by side: the second answers first, the first fails."""
    return [
        RunEvent(RUN, "node_started", "PLANNER"),
        RunEvent(RUN, "node_finished", "PLANNER"),
        RunEvent(RUN, "node_started", "EXECUTOR"),
        RunEvent(RUN, "tool_started", "query_logs", 'level="ERROR"', call="a"),
        RunEvent(RUN, "tool_started", "query_logs", 'level="WARN"', call="b"),
        RunEvent(RUN, "tool_finished", "query_logs", "5 quotable pieces", call="b"),
        RunEvent(RUN, "tool_finished", "query_logs", "timed out after 10 s", ok=False, call="a"),
    ]


def sample_outcome() -> RunOutcome:
    return RunOutcome(
        run_id=RUN,
        session_id="session-1",
        question="Why is checkout slow?",
        language="en",
        verdict=Verdict.PASS,
        status="SUCCESS",
        answer="order-service has no free database connection.",
        sections=AnswerSections(
            lead="order-service has no free database connection.",
            confirmed=("order-service waits for connections of HikariPool-1 [1]",),
            gaps=(_GAP,),
            next_steps=("Set maximum-pool-size back to 30.",),
        ),
        claims=(_claim(),),
        hypotheses=(),
        recommended_actions=(),
        missing_info=(_GAP,),
        gatekeeper_result=None,
        verifier_output=None,
        orchestration_trace=OrchestrationTrace(
            version="1",
            transitions=(),
            final_node="COMPOSER",
            termination_reason="completed",
            degraded=False,
            evidence_retry_count=0,
            window_from="2026-11-30T08:40:00Z",
            window_to="2026-11-30T09:10:00Z",
        ),
        usage=RunUsage(model="offline", steps=4, tool_calls=3),
        duration_ms=1234,
    )


def _low_confidence(reader: Reader) -> RunOutcome:
    outcome = sample_outcome()
    sections = outcome.sections.model_copy(update={"lead": reader.say("low_confid_lead")})
    return outcome.model_copy(update={"language": "zh", "verdict": Verdict.LOW_CONFID, "sections": sections})


def _rejected(reader: Reader) -> RunOutcome:
    gaps = (_GAP, "The tool query_metrics gave no answer: timed out.")
    sections = AnswerSections(lead=reader.say("reject_lead"), confirmed=(), gaps=gaps, next_steps=())
    usage = RunUsage(model="qwen-max", prompt_tokens=20_000, completion_tokens=1_234, cost=0.0123)
    changes = {"verdict": Verdict.REJECT, "claims": (), "sections": sections, "usage": usage}
    return sample_outcome().model_copy(update=changes)


def _claim() -> AllowedClaim:
    claim = VerifiedClaim(
        claim_id="c1",
        claim_type="root_cause",
        claim_text="order-service waits for connections of HikariPool-1",
        support_level="direct",
    )
    start = _LINE.index(_QUOTE)
    evidence = VerifiedEvidence(
        claim_id="c1",
        index=0,
        source_invocation_id=3,
        tool_name="query_logs",
        raw_path="$.logs[0]",
        span_text=_QUOTE,
        span_start=start,
        span_end=start + len(_QUOTE),
        evidence_sha256="0" * 64,
        scope={
            "service": "order-service",
            "window_from": "2026-11-30T08:40:00Z",
            "window_to": "2026-11-30T09:10:00Z",
        },
    )
    return AllowedClaim(number=1, claim=claim, evidence=(evidence,))


def sample_proofs() -> list[Proof]:
    claim = sample_outcome().claims[0]
    query = 'query_logs(level="ERROR", service="order-service")'
    return [Proof(claim, tuple(Quote(one, _LINE, query) for one in claim.evidence))]


def sample_run() -> Run:
    transitions = [
        {"source": "START", "target": "PLANNER", "reason": "ok"},
        {"source": "VERIFIER", "target": "PLANNER", "reason": "evidence_retry"},
    ]
    return Run(
        run_id=RUN, session_id="session-1", agent_flow="CHAT", query="Why is checkout slow?", language="en", zone="UTC",
        status="SUCCESS", verdict="PASS", answer=None, total_duration_ms=1234, total_token_count=150, step_count=1,
        tool_call_count=1, cost=None, self_evaluation=None, orchestration_trace={"transitions": transitions},
        feedback=None, state="", next_node=None, attempt=1, lease_owner=None, lease_until=None, deadline_seconds=180,
        deadline=None, cancel_requested_at=None, created_at=_AT, started_at=_AT, finished_at=_AT,
    )  # fmt: skip


def _step() -> Step:
    return Step(
        session_id="session-1", node="PLANNER", round=1, sequence=1, request_hash="", agent_name="planner",
        model_name="qwen-max", model_input="", model_output="", thought="", has_tool_call=False, duration_ms=900,
        prompt_tokens=100, completion_tokens=50, cached_tokens=0, cost=None, request_whole="", reply_whole="", ok=True,
        error=None, id=1, run_id=RUN, step_index=1,
    )  # fmt: skip


def sample_call() -> StoredInvocation:
    details = {"evidence_status": "supported", "evidence_refs": [{"raw_path": "$.logs[0]", "text": _LINE, "scope": {}}]}
    return StoredInvocation(
        session_id="session-1", step_id=1, node="EXECUTOR", round=1, sequence=1, arguments_hash="",
        tool_name="query_logs", input_params={"level": "ERROR", "service": "order-service"}, output_preview="1 line",
        output_length=10, retrieval_layer=None, l0_match_count=None, l1_match_count=None, is_truncated=False,
        relevance_level=None, dedup_reason=None, retrieval_details=details, payload={}, duration_ms=12, success=True,
        error_message=None, id=3, run_id=RUN, finished=True,
    )  # fmt: skip


def _home() -> HomeFacts:
    done = HomeRun("Why is checkout slow?", "PASS", _AT, "https://team.example/archives/C1/p1")
    return HomeFacts(
        runs=[done, HomeRun("And now?", None, _AT)],
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
