"""Whatever a report brings, Slack takes the message, nobody is pinged, no link is disguised, and nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from message_spans import spans_of
from nasty_texts import NASTY, SHORT, TEXT
from slack_schema import block_problems

from agents.contracts import (
    AiopsReport,
    Alert,
    AllowedClaim,
    BlastEntry,
    Hypothesis,
    RecommendedAction,
    RunOutcome,
    SimilarCase,
    Verdict,
)
from agents.replies import Replies
from bot.answers.printable import printable
from bot.blocks.answer import Answer, AnswerView
from bot.blocks.evidence import Proof, Quote, evidence_pages
from bot.blocks.outcome import answer_message
from bot.blocks.reader import Reader, slack_words
from bot.blocks.report_samples import sample_alert, sample_report
from bot.blocks.resolved import Resolved, resolved_message
from bot.shapes.blocks import texts
from bot.shapes.rules import units
from bot.slack.validator import check

WORDS = slack_words(Replies.load(Path(__file__).parents[2] / "prompts" / "replies"))
GENTLE = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
SAMPLE = sample_report()
MISSING = "No chart of the metric: it took too long."


def reader(language: str = "en") -> Reader:
    return Reader(WORDS, language, ZoneInfo("Asia/Shanghai"), ("good.example",))


def some(text: Any, most: int) -> Any:
    return st.lists(text, max_size=most).map(tuple)


def claim(number: int, text: str, quote: str, kind: Any) -> AllowedClaim:
    pattern = SAMPLE.claims[0]
    evidence = pattern.evidence[0].model_copy(
        update={"claim_id": f"c{number}", "span_text": quote, "span_start": 2, "span_end": 2 + len(quote)}
    )
    stated = pattern.claim.model_copy(update={"claim_id": f"c{number}", "claim_text": text, "claim_type": kind})
    return AllowedClaim(number=number, claim=stated, evidence=(evidence,))


KINDS = st.sampled_from(("root_cause", "symptom", "impact", "change", "healthy", "gap"))
IDS = st.lists(st.sampled_from([f"c{number}" for number in range(1, 8)]), min_size=1, max_size=4).map(tuple)
ENTRIES = some(st.builds(BlastEntry, entity=TEXT, claim_ids=IDS), 12)
ALERTS = st.builds(
    Alert,
    sender=SHORT,
    alert_name=st.none() | TEXT,
    status=st.sampled_from(("firing", "resolved", "acknowledged", "no_data")),
    severity=st.none() | st.sampled_from(("critical", "high", "warning", "info")),
    labels=st.dictionaries(SHORT, TEXT, max_size=3),
    annotations=st.dictionaries(st.sampled_from(("summary", "runbook_url")), TEXT, max_size=2),
    value=st.none() | SHORT,
    starts_at=st.none() | st.sampled_from(("2026-11-30T02:57:00Z", "2026-11-30T02:57:00", "yesterday", "")),
    links=st.dictionaries(st.sampled_from(("runbook", "dashboard")), TEXT, max_size=2),
    fingerprint=st.just("f"),
)


@st.composite
def reports(draw: st.DrawFn) -> RunOutcome:
    claims = tuple(claim(number, draw(TEXT), draw(TEXT), draw(KINDS)) for number in range(1, draw(st.integers(0, 7)) + 1))
    report = draw(
        st.builds(
            AiopsReport,
            headline=TEXT,
            mode=st.sampled_from(("PAYLOAD_TARGETED", "AUTO_DISCOVERY")),
            alerts=some(ALERTS, 8),
            probable_cause=st.just(()) | IDS,
            affected=ENTRIES,
            healthy=ENTRIES,
            other_reason=ENTRIES,
            not_checked=some(TEXT, 12),
            changes=st.just(()) | IDS,
            actions=some(st.builds(RecommendedAction, action_text=TEXT, reason=SHORT), 8),
            similar_cases=some(st.builds(SimilarCase, case_id=SHORT, title=TEXT, detail=SHORT), 6),
            missing_info=some(TEXT, 14),
            evaluation=st.just(SAMPLE.report.evaluation if SAMPLE.report else None),
        )
    )
    sections = SAMPLE.sections.model_copy(
        update={"lead": draw(TEXT), "gaps": draw(some(TEXT, 6)), "next_steps": draw(some(TEXT, 6))}
    )
    return SAMPLE.model_copy(
        update={
            "claims": claims,
            "report": report,
            "sections": sections,
            "question": draw(TEXT),
            "verdict": draw(st.sampled_from(list(Verdict))),
            "status": draw(st.sampled_from(("SUCCESS", "FAILED", "CANCELLED"))),
            "language": draw(st.sampled_from(("zh", "en"))),
            "hypotheses": draw(some(st.builds(Hypothesis, hypothesis_text=TEXT, basis=SHORT), 3)),
        }
    )


def drawn(outcome: RunOutcome) -> Answer:
    return answer_message(outcome, AnswerView(reader(outcome.language), mention="U1", missing=(MISSING,)))


def squeezed(text: str) -> str:
    # Back-ticks of an advice become code style.
    return re.sub(r"[\s|…`]+", "", printable(text))


def everything(outcome: RunOutcome, answer: Answer) -> str:
    """Message, attached text and the Evidence modal."""
    proofs = [Proof(one, tuple(Quote(each, None, "") for each in one.evidence)) for one in outcome.claims]
    pages = evidence_pages(proofs, reader())
    attached = answer.overflow.content if answer.overflow else ""
    return squeezed("".join(texts(answer.blocks)) + attached + "".join(texts(pages)))


def told_by(outcome: RunOutcome) -> Iterator[str]:
    """Everything that must be found again."""
    report = outcome.report
    assert report is not None
    yield from (one.claim.claim_text for one in outcome.claims)
    yield from (each.span_text for one in outcome.claims for each in one.evidence)
    for group in (report.affected, report.healthy, report.other_reason):
        yield from (entry.entity for entry in group)
    yield from (*report.not_checked, *report.missing_info, *outcome.sections.gaps, MISSING)
    yield from (action.action_text for action in report.actions)
    yield from (case.title or case.case_id for case in report.similar_cases)
    yield from (one.hypothesis_text for one in outcome.hypotheses)


def assert_is_taken(answer: Answer) -> None:
    assert check("chat.postMessage", {"channel": "C1", "blocks": answer.blocks, "text": answer.text}) == []
    assert block_problems(answer.blocks) == []
    assert answer.text.strip()
    assert units(answer.text) <= 150


@GENTLE
@given(reports())
def test_slack_takes_any_report(outcome: RunOutcome) -> None:
    assert_is_taken(drawn(outcome))


@GENTLE
@given(reports())
def test_nothing_of_a_report_is_lost(outcome: RunOutcome) -> None:
    there = everything(outcome, drawn(outcome))
    for text in told_by(outcome):
        assert not text.strip() or squeezed(text.strip()) in there


@GENTLE
@given(reports())
def test_no_report_pings_anyone_or_disguises_a_link(outcome: RunOutcome) -> None:
    answer = drawn(outcome)
    assert "<" not in answer.text
    for span in spans_of(answer.blocks):
        assert span.get("type") not in ("broadcast", "usergroup", "channel", "team")
        assert span.get("type") != "user" or span["user_id"] == "U1"
        if span.get("type") == "link":
            assert set(span) <= {"type", "url", "style"}, "a link shows where it leads"
            assert re.match(r"https?://[a-zA-Z0-9.:\[\]-]+(/|\?|#|$)", span["url"])
        if span.get("type") == "mrkdwn":
            assert "<" not in span["text"]


@GENTLE
@given(reports())
def test_a_phone_shows_verdict_alert_and_next_step_first(outcome: RunOutcome) -> None:
    first = "".join(texts(drawn(outcome).blocks))[:600]
    words, report = reader(outcome.language), outcome.report
    assert report is not None
    assert first[0] in "✅⚠⛔"
    beginning = " ".join(printable(report.headline).split())[:60]
    assert squeezed(beginning) in squeezed(first)
    assert words.say("triage_cause").strip() in first or words.say("triage_health").strip() in first
    if any(action.action_text.strip() for action in report.actions):
        assert words.say("next") in first


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_storm_of_a_report_is_taken_and_kept(verdict: Verdict) -> None:
    """40 claims over 20 kB lines, 60 alerts, 40 entities in a group, every nasty text: at the sizes of the issue."""
    lines = [(f"{NASTY[number % len(NASTY)]} line {number} " * 2_000)[:20_000] for number in range(40)]
    kinds = ("root_cause", "symptom", "change", "healthy")
    claims = tuple(claim(number, line[:200], line, kinds[number % 4]) for number, line in enumerate(lines, 1))
    entries = tuple(
        BlastEntry(entity=f"{NASTY[number % len(NASTY)]}service-{number}", claim_ids=(f"c{number + 1}",)) for number in range(40)
    )
    alerts = tuple(
        sample_alert(alert_name=f"{NASTY[number % len(NASTY)]} alert {number}", links={"runbook": f"https://r.example/{number}"})
        for number in range(60)
    )
    assert SAMPLE.report is not None
    report = SAMPLE.report.model_copy(
        update={
            "headline": lines[1],
            "alerts": alerts,
            "probable_cause": ("c4", "c8"),
            "changes": tuple(one.claim.claim_id for one in claims if one.claim.claim_type == "change"),
            "affected": entries,
            "healthy": entries,
            "other_reason": entries,
            "not_checked": tuple(line[:500] for line in lines),
            "missing_info": tuple(line[:1_000] for line in lines),
            "actions": tuple(RecommendedAction(action_text=line[:2_000], reason=line[:300]) for line in lines),
        }
    )
    outcome = SAMPLE.model_copy(update={"claims": claims, "report": report, "verdict": verdict})
    answer = drawn(outcome)
    assert_is_taken(answer)
    there = everything(outcome, answer)
    for text in (*told_by(outcome), *(alert.alert_name or "" for alert in alerts), *(alert.links["runbook"] for alert in alerts)):
        assert squeezed(text) in there


@GENTLE
@given(TEXT, some(TEXT, 8), st.none() | st.integers(-5, 10**7), st.integers(0, 200))
def test_slack_takes_any_end(name: str, at_end: tuple[str, ...], seconds: int | None, turns: int) -> None:
    lasted = None if seconds is None else timedelta(seconds=seconds)
    over = Resolved(name, datetime(2026, 11, 30, tzinfo=UTC), lasted, at_end, alerts=turns, turns=turns)
    message = resolved_message(over, reader("zh"))
    assert check("chat.postMessage", {"channel": "C1", "blocks": message.blocks, "text": message.text}) == []
    assert block_problems(message.blocks) == []
    assert "<" not in message.text
    assert units(message.text) <= 150
