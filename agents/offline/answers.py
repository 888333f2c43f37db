"""Whether supported claims answer the question that was asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.contracts import VerifiedClaim, VerifiedEvidence
from agents.offline.question import Question
from agents.offline.telling import ADDED_TOOL, COUNT_LINE, counts_asked, states_asked
from agents.question_kind import question_kind
from tools.contracts import NO_EVIDENCE_PATH

_CLOCK = re.compile(r"\b\d\d:\d\d\b")
_ONSET = re.compile(r"\bstatus=new\b.*\bfirst=|\bchange_at=\d|\bactiveAt=\d", re.DOTALL)


def answers(question: Question, claim: VerifiedClaim, evidence: Sequence[VerifiedEvidence]) -> bool:
    """A why needs a cause or proven health; a count its number; logs the lines asked for; a list items of its kind.

    `evidence` may hold the spans of other claims too.
    """
    if not question.has_words or not _is_about(question, evidence):
        return False
    spans = [one for one in evidence if one.claim_id == claim.claim_id and claim.claim_type != "gap"]
    if question.ask == "count":
        return any(COUNT_LINE.search(one.span_text) for one in spans) or _is_the_count(question, spans, evidence)
    if question.asks_when:
        return any(_is_first_sight(claim, one) or _is_record(question, one) for one in spans)
    if question.asks_of_added and question.ask != "why" and any(one.tool_name == ADDED_TOOL for one in spans):
        return True
    if claim.claim_type == "healthy" or (claim.claim_type == "root_cause" and question_kind(question.text) == "why"):
        return True
    if question.ask == "logs":
        return any(_is_asked_line(question, one) for one in spans)
    if question.ask in ("fact", "listing") and question.asks_for_changes:
        return claim.claim_type == "change"
    if question.ask == "listing":
        return question.kind is not None and any(question.kind in one.scope.values() for one in spans)
    if question.ask == "meaning":
        return any(code in one.span_text for one in spans if one.tool_name == "lookup_knowledge" for code in question.codes)
    if question.ask == "fact" and any(states_asked(question, one.span_text.strip()) for one in spans):
        return True
    return question.ask in ("why", "fact") and any(_is_record(question, one) for one in spans)


def _is_about(question: Question, evidence: Sequence[VerifiedEvidence]) -> bool:
    """Where one record or one workload is named, some proof must speak of it: else the answer is about something else."""
    shown = [f"{one.span_text} {' '.join(one.scope.values())}" for one in evidence if one.raw_path != NO_EVIDENCE_PATH]
    return all(
        any(name in text for name in named for text in shown) for named in (question.records, question.identifiers) if named
    )


def _is_first_sight(claim: VerifiedClaim, one: VerifiedEvidence) -> bool:
    """The claim says a time, and its proof is of something new: a line, a level, an alert."""
    return _CLOCK.search(claim.claim_text) is not None and _ONSET.search(one.span_text) is not None


def _is_the_count(
    question: Question, spans: Sequence[VerifiedEvidence], evidence: Sequence[VerifiedEvidence]
) -> bool:
    """One business row that counts what was asked. Several count parts of it, and nobody has added them up."""
    rows = {one.raw_path for one in evidence if one.tool_name == "query_order" and one.raw_path != NO_EVIDENCE_PATH}
    counts = [one for one in spans if one.tool_name == "query_order" and counts_asked(question, one.span_text)]
    return len(rows) == 1 and bool(counts)


def _is_asked_line(question: Question, one: VerifiedEvidence) -> bool:
    if "log" not in one.tool_name.lower():
        return False
    return not question.quoted or any(quoted in one.span_text for quoted in question.quoted)


def _is_record(question: Question, one: VerifiedEvidence) -> bool:
    """The row of a record that the question names, read by a business query."""
    return one.tool_name == "query_order" and any(record in one.span_text for record in question.records)
