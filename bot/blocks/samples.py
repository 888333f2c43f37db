"""One payload of every kind that we send, made from an invented run: golden files in tests, and what `doctor --slack` has
Slack's own blocks.validate look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from zoneinfo import ZoneInfo

from agents.contracts import AnswerSections, RunOutcome, RunUsage, Verdict
from agents.replies import Replies
from bot.blocks.answer import AnswerView
from bot.blocks.cards import all_ended, cards_of
from bot.blocks.evidence import evidence_gone, evidence_loading, evidence_view
from bot.blocks.feedback import CaseDraft, case_offer, edit_case_view, why_not_view
from bot.blocks.gaps import add_context_view, ask_someone_view
from bot.blocks.home import HomeBudget, HomeFacts, HomeModel, HomeRun, HomeSource, home_view
from bot.blocks.incident import incident_line
from bot.blocks.incident_samples import sample_incidents
from bot.blocks.outcome import answer_message
from bot.blocks.progress import progress_blocks, progress_line, stop_block
from bot.blocks.reader import Reader
from bot.blocks.report_samples import sample_healthy, sample_rejected, sample_report, sample_resolved, sample_unproven
from bot.blocks.resolved import resolved_message
from bot.blocks.sample_run import (
    RUN,
    SAMPLE_AT,
    SAMPLE_GAP,
    sample_call,
    sample_events,
    sample_outcome,
    sample_proofs,
    sample_run,
    sample_step,
)
from bot.blocks.trace import trace_view


@dataclass(frozen=True)
class Sample:
    """`payload` of a message: {"blocks", "text"}; of a view: the view."""

    name: str
    kind: Literal["message", "view"]
    payload: dict[str, Any]


def samples(words: Replies) -> list[Sample]:
    """`words`: those of answers, blocks and incidents' lines."""
    english, chinese = (Reader(words, language, ZoneInfo("Asia/Shanghai")) for language in ("en", "zh"))
    return [*_messages(english, chinese), *_reports(english, chinese), *_incidents(english, chinese), *_views(english, chinese)]


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


def _incidents(english: Reader, chinese: Reader) -> Iterator[Sample]:
    for state, view in sample_incidents():
        for suffix, reader in (("", english), ("_zh", chinese)):
            if line := incident_line(view, reader):
                yield Sample(f"incident_{state}{suffix}", "message", {"blocks": line.blocks, "text": line.text})


def _answer(name: str, outcome: RunOutcome, reader: Reader) -> Sample:
    answer = answer_message(outcome, AnswerView(reader))
    return Sample(name, "message", {"blocks": answer.blocks, "text": answer.text})


def _views(english: Reader, chinese: Reader) -> Iterator[Sample]:
    draft = CaseDraft("Checkout slow", "GENERAL", "pool too small", "")
    for name, view in (
        ("view_evidence", evidence_view(RUN, sample_proofs(), 1, english)),
        ("view_evidence_loading", evidence_loading(english)),
        ("view_evidence_gone", evidence_gone(chinese)),
        ("view_trace", trace_view(sample_run(), [sample_step()], [sample_call()], 1, english)),
        ("view_why_not", why_not_view(RUN, english, channel="C1")),
        ("view_edit_case", edit_case_view(RUN, draft, chinese)),
        ("view_add_context", add_context_view(RUN, 0, SAMPLE_GAP, english)),
        ("view_ask_someone", ask_someone_view(RUN, 0, SAMPLE_GAP, chinese)),
        ("home", home_view(_home(), english)),
    ):
        yield Sample(name, "view", view)


def _low_confidence(reader: Reader) -> RunOutcome:
    outcome = sample_outcome()
    sections = outcome.sections.model_copy(update={"lead": reader.say("low_confid_lead")})
    return outcome.model_copy(update={"language": "zh", "verdict": Verdict.LOW_CONFID, "sections": sections})


def _rejected(reader: Reader) -> RunOutcome:
    gaps = (SAMPLE_GAP, "The tool query_metrics gave no answer: timed out.")
    sections = AnswerSections(lead=reader.say("reject_lead"), confirmed=(), gaps=gaps, next_steps=())
    usage = RunUsage(model="qwen-max", prompt_tokens=20_000, completion_tokens=1_234, cost=0.0123)
    changes = {"verdict": Verdict.REJECT, "claims": (), "sections": sections, "usage": usage}
    return sample_outcome().model_copy(update=changes)


def _home() -> HomeFacts:
    done = HomeRun("Why is checkout slow?", "PASS", SAMPLE_AT, "https://team.example/archives/C1/p1")
    return HomeFacts(
        runs=[done, HomeRun("And now?", None, SAMPLE_AT)],
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
