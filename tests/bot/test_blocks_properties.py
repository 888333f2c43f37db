"""Whatever a run brings, Slack takes the message, nobody is pinged, no link is disguised, and nothing is lost."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from message_spans import spans_of
from nasty_texts import NASTY, SHORT, TEXT
from slack_schema import block_problems, chunk_problems, view_problems

from agents.contracts import (
    AllowedClaim,
    AnswerSections,
    RunOutcome,
    RunUsage,
    Verdict,
    VerifiedClaim,
    VerifiedEvidence,
)
from agents.events import RunEvent
from agents.replies import Replies
from bot.answers.printable import printable
from bot.blocks.answer import Answer, AnswerView
from bot.blocks.cards import all_ended, cards_of
from bot.blocks.evidence import Proof, Quote, evidence_pages
from bot.blocks.gaps import add_context_view, ask_someone_view
from bot.blocks.home import HomeFacts, HomeRun, HomeSource, home_view
from bot.blocks.modal import paged_view
from bot.blocks.outcome import answer_message
from bot.blocks.progress import progress_blocks, progress_chunks, progress_markdown, status_line
from bot.blocks.reader import Reader, slack_words
from bot.blocks.sample_run import sample_outcome
from bot.blocks.text import escape, markdown_escape, phone_line, shown_pieces, split_text
from bot.shapes.blocks import texts
from bot.shapes.rules import units
from bot.slack.validator import check

ROOT = Path(__file__).parents[2]
WORDS = slack_words(Replies.load(ROOT / "prompts" / "replies"))
TS = "1700000000.000100"

@st.composite
def claims(draw: st.DrawFn, number: int) -> AllowedClaim:
    claim = VerifiedClaim(
        claim_id=f"c{number}",
        claim_type=draw(st.sampled_from(("root_cause", "symptom", "impact", "change", "healthy", "gap"))),
        claim_text=draw(TEXT),
        support_level=draw(st.sampled_from(("direct", "indirect"))),
    )
    quotes = draw(st.lists(TEXT, min_size=1, max_size=3))
    scope = {"service": draw(SHORT), "window_from": "2026-11-30T08:40:00Z", "window_to": "2026-11-30T09:10:00Z"}
    return AllowedClaim(
        number=number,
        claim=claim,
        evidence=tuple(
            VerifiedEvidence(
                claim_id=claim.claim_id,
                index=index,
                source_invocation_id=index + 1,
                tool_name="query_logs",
                raw_path=f"$.logs[{index}]",
                span_text=text,
                span_start=2,
                span_end=2 + len(text),
                evidence_sha256="0" * 64,
                scope=scope,
            )
            for index, text in enumerate(quotes)
        ),
    )


@st.composite
def outcomes(draw: st.DrawFn) -> RunOutcome:
    count = draw(st.integers(0, 4))
    proven = tuple(draw(claims(number)) for number in range(1, count + 1))
    marked = st.tuples(TEXT, st.integers(0, 41)).map(lambda pair: f"{pair[0]} [{pair[1]}]")
    run = sample_outcome()
    degraded = {"degraded": draw(st.booleans()), "window_from": "", "window_to": ""}
    return run.model_copy(
        update={
            "run_id": "0123456789abcdef0123456789abcdef",
            "question": draw(TEXT),
            "language": draw(st.sampled_from(("zh", "en"))),
            "verdict": draw(st.sampled_from(list(Verdict))),
            "status": draw(st.sampled_from(("SUCCESS", "FAILED", "CANCELLED"))),
            "answer": draw(TEXT),
            "sections": AnswerSections(
                lead=draw(st.one_of(TEXT, marked)),
                confirmed=tuple(draw(st.lists(st.one_of(TEXT, marked), max_size=6))),
                gaps=tuple(draw(st.lists(TEXT, max_size=20))),
                next_steps=tuple(draw(st.lists(TEXT, max_size=12))),
            ),
            "claims": proven,
            "missing_info": (),
            "orchestration_trace": run.orchestration_trace.model_copy(update=degraded),
            "usage": RunUsage(
                model=draw(st.sampled_from(("offline", "qwen-max", "<!channel>"))),
                prompt_tokens=draw(st.integers(0, 10**7)),
                cost=draw(st.one_of(st.none(), st.floats(0, 100))),
            ),
            "duration_ms": draw(st.integers(0, 10**6)),
        }
    )


def reader(language: str = "en") -> Reader:
    return Reader(WORDS, language, ZoneInfo("Asia/Shanghai"), ("good.example",))


def proofs(outcome: RunOutcome) -> list[Proof]:
    """Every other quote still has its line."""
    return [
        Proof(
            claim,
            tuple(
                Quote(one, f"> {one.span_text} <" if one.index % 2 == 0 else None, 'query_logs(level="ERROR")')
                for one in claim.evidence
            ),
        )
        for claim in outcome.claims
    ]


def shown(blocks: Any) -> str:
    return "".join(texts(blocks))


def everything(outcome: RunOutcome, answer: Answer) -> str:
    """Message, attached text and every page of the modal, joined: white space at a seam may differ."""
    pages = evidence_pages(proofs(outcome), reader(outcome.language))
    whole = shown(answer.blocks) + (answer.overflow.content if answer.overflow else "") + shown(pages)
    return _squeezed(whole)


def _squeezed(text: str) -> str:
    # Back-ticks of an advice become code style.
    return re.sub(r"[\s|…`]+", "", printable(text))


def assert_pages_are_taken(outcome: RunOutcome) -> None:
    """Slack's own schema is slow: it sees the first page and the last."""
    pages = evidence_pages(proofs(outcome), reader(outcome.language))
    for number in range(1, len(pages) + 1):
        view = paged_view("evidence", outcome.run_id, pages, number, reader(outcome.language))
        assert check("views.open", {"trigger_id": "1.2", "view": view}) == []
        assert units(shown(view)) <= 14_000
        assert view_problems(view) == [] if number in (1, len(pages)) else True


GENTLE = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def drawn(outcome: RunOutcome) -> Answer:
    return answer_message(outcome, AnswerView(reader(outcome.language), mention="U1"))


@GENTLE
@given(outcomes())
def test_slack_takes_any_answer(outcome: RunOutcome) -> None:
    answer = drawn(outcome)
    call = {"channel": "C1", "blocks": answer.blocks, "text": answer.text}
    assert check("chat.postMessage", call) == []
    assert block_problems(answer.blocks) == []
    assert answer.text.strip()
    assert units(answer.text) <= 150


@GENTLE
@given(outcomes())
def test_nothing_of_an_answer_is_lost(outcome: RunOutcome) -> None:
    answer = drawn(outcome)
    there = everything(outcome, answer)
    wanted = [claim.claim.claim_text for claim in outcome.claims]
    wanted += [quote.span_text for claim in outcome.claims for quote in claim.evidence]
    wanted += [*outcome.sections.gaps, *outcome.sections.next_steps]
    # The next step stands between the two parts of a long conclusion.
    wanted += shown_pieces(outcome.sections.lead, 260)
    for text in wanted:
        assert _squeezed(text) in there


@GENTLE
@given(outcomes())
def test_no_answer_pings_anyone_or_disguises_a_link(outcome: RunOutcome) -> None:
    answer = drawn(outcome)
    assert "<" not in answer.text
    for span in spans_of(answer.blocks + evidence_pages(proofs(outcome), reader())):
        assert span.get("type") not in ("broadcast", "usergroup", "channel", "team")
        assert span.get("type") != "user" or span["user_id"] == "U1"
        if span.get("type") == "link":
            assert set(span) <= {"type", "url", "style"}
            assert re.match(r"https?://good\.example(/|\?|#|$)", span["url"])
        if span.get("type") == "mrkdwn":
            assert "<" not in span["text"]


@GENTLE
@given(outcomes())
def test_a_phone_shows_verdict_conclusion_and_next_step_first(outcome: RunOutcome) -> None:
    answer = drawn(outcome)
    first = shown(answer.blocks)[:600]
    words = reader(outcome.language)
    assert first.startswith(words.say(f"verdict_{outcome.verdict.value.lower()}"))
    lead = _squeezed(outcome.sections.lead if outcome.sections.lead.strip() else outcome.answer)
    assert lead[:100] in _squeezed(first)
    if any(step.strip() for step in outcome.sections.next_steps):
        assert words.say("next") in first


@GENTLE
@given(outcomes())
def test_slack_takes_every_page_of_the_evidence(outcome: RunOutcome) -> None:
    assert_pages_are_taken(outcome)


@GENTLE
@given(st.lists(st.tuples(st.sampled_from(("node_started", "node_finished", "tool_started", "tool_finished", "retry", "degraded")), st.sampled_from(("PLANNER", "EXECUTOR", "query_logs", "VERIFIED_INPUT", "<!here>")), TEXT, st.booleans()), max_size=60))  # fmt: skip
def test_slack_takes_any_progress(history: list[tuple[Any, str, str, bool]]) -> None:
    events = [RunEvent("run-1", kind, name, detail, ok) for kind, name, detail, ok in history]
    words = reader()
    streamed: dict[str, str] = {}
    for end in range(len(events) + 1):
        before, now = cards_of(events[: max(end - 1, 0)], words), cards_of(events[:end], words)
        chunks = progress_chunks(before if end else (), now, words)
        if chunks:
            call = {"channel": "D1", "ts": TS, "chunks": chunks}
            assert [problem for problem in check("chat.appendStream", call) if problem.code != "msg_too_long"] == []
            assert chunk_problems(chunks) == []
        streamed |= {chunk["id"]: chunk["status"] for chunk in chunks if chunk["type"] == "task_update"}
    cards = cards_of(events, words)
    assert streamed == {card.id: card.status for card in cards}
    assert all(card.status != "in_progress" for card in all_ended(cards))
    blocks = progress_blocks(cards, words)
    assert check("chat.update", {"channel": "C1", "ts": TS, "blocks": blocks, "text": status_line(cards, words)}) == []
    assert block_problems(blocks) == []
    markdown = progress_markdown(cards, words)
    assert check("chat.update", {"channel": "C1", "ts": TS, "markdown_text": markdown}) == []
    assert not re.search(r"(?<!\\)<[!@]", markdown)


@GENTLE
@given(TEXT, TEXT, st.booleans() | st.none())
def test_slack_takes_any_home_and_any_gap(first: str, second: str, healthy: bool | None) -> None:
    at = datetime(2026, 11, 30, 8, 40, tzinfo=UTC)
    facts = HomeFacts(
        runs=[HomeRun(first, verdict, at, "https://team.example/archives/C1/p1") for verdict in ("PASS", None)] * 8,
        open_questions=[first] * 21,
        sources=[HomeSource(first, healthy, second)] * 3,
        channels=[first],
        hints=[second],
    )
    view = home_view(facts, reader("zh"))
    assert check("views.publish", {"user_id": "U1", "view": view}) == []
    assert view_problems(view) == []
    for modal in (add_context_view("r", 0, first, reader(), channel="C1"), ask_someone_view("r", 1, second, reader())):
        assert check("views.open", {"trigger_id": "1.2", "view": modal}) == []
        assert view_problems(modal) == []


@pytest.mark.parametrize("verdict", list(Verdict))
def test_forty_claims_over_lines_of_20_kb_are_taken_and_kept(verdict: Verdict, outcome: RunOutcome) -> None:
    """Once each, so that hypothesis need not draw it: every nasty text, at the sizes of the issue."""
    texts_of_lines = [(f"{NASTY[number % len(NASTY)]} line {number} " * 2_000)[:20_000] for number in range(40)]
    quote = outcome.claims[0].evidence[0]
    many = tuple(
        AllowedClaim(
            number=number,
            claim=outcome.claims[0].claim.model_copy(update={"claim_id": f"c{number}", "claim_text": text[:200]}),
            evidence=(quote.model_copy(update={"span_text": text, "span_start": 2, "span_end": 2 + len(text)}),),
        )
        for number, text in enumerate(texts_of_lines, 1)
    )
    sections = outcome.sections.model_copy(
        update={"confirmed": tuple(f"{one.claim.claim_text} [{one.number}]" for one in many), "gaps": tuple(NASTY)}
    )
    large = outcome.model_copy(update={"claims": many, "sections": sections, "verdict": verdict})
    answer = drawn(large)
    assert check("chat.postMessage", {"channel": "C1", "blocks": answer.blocks, "text": answer.text}) == []
    assert block_problems(answer.blocks) == []
    assert_pages_are_taken(large)
    there = everything(large, answer)
    for one in many:
        assert _squeezed(one.claim.claim_text) in there
        assert _squeezed(one.evidence[0].span_text) in there


# ---------------------------------------------------------------- text


@settings(max_examples=200, deadline=None)
@given(TEXT, st.integers(8, 3000))
@example("word " * 50, 20)
@example("\N{FIRE}" * 50, 9)
def test_pieces_join_to_the_text_and_end_between_words(text: str, limit: int) -> None:
    pieces = split_text(text, limit)
    assert "".join(pieces) == text
    assert all(units(piece) <= limit for piece in pieces)
    for before, after in zip(pieces, pieces[1:], strict=False):
        if before[-1].isascii() and before[-1].isalnum() and after[0].isascii() and after[0].isalnum():
            assert not re.search(r"\s", before), "a word was cut although there was a seam before it"


@settings(max_examples=200, deadline=None)
@given(TEXT, st.integers(10, 200))
def test_a_phone_line_is_one_short_line(text: str, limit: int) -> None:
    line = phone_line(text, limit)
    assert units(line) <= limit
    assert "\n" not in line


@pytest.mark.parametrize("text", NASTY)
def test_escaped_text_holds_no_markup_of_slack(text: str) -> None:
    assert not re.search(r"[<>]", escape(text))
    assert not re.search(r"(?<!\\)[<>*_`~]", markdown_escape(text))


def test_pieces_end_at_the_largest_seam_that_fits() -> None:
    text = "First sentence. Second one is longer.\n\nA new paragraph, with a clause and more words than fit."
    assert split_text(text, 60)[0] == "First sentence. Second one is longer.\n\n"
    assert split_text("支付网关超时。请检查连接池配置，然后重试。", 12)[0] == "支付网关超时。"
    assert split_text("one two three", 9) == ["one two ", "three"]
    assert split_text("👩\u200d💻👩\u200d💻", 6)[0] == "👩\u200d💻"
