"""When evidence names a cause: an error whose code a runbook explains, or a change of the same thing just before it.

Everything else is a lead. What runs hot or loud beside the asked path is never a cause, however surprising it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from agents.offline.evidence import Change, Chunk, Evidence, LogKind, Row
from agents.offline.question import Question, codes_of
from agents.offline.ranking import kind_score, telling_kinds
from agents.offline.topology import depths

CASES = "cases"
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)|\n(?=#)")
_SENTENCE = re.compile(r".+?(?:[。！？]|[.!?](?=\s|$)|$)")
_TO_DO = re.compile(r"\b(fix|mitigat\w*|resol\w*|what to do|remed\w*|steps)\b|处理|解决|修复|恢复|步骤", re.IGNORECASE)
_OPENS_ADVICE = re.compile(r"(处理|解决|修复|Fix|Mitigation|Resolution)\s*[：:]")
_CAUSE = re.compile(r"\b(cause[ds]?|because|due to|means that|root cause|reason)\b|原因|由于|因为|导致|表示", re.IGNORECASE)
_NO_CAUSE = re.compile(
    r"\b(symptom|not the (root )?cause|only (says|means)|no action|needs no)\b|不是根因|并非原因|只说明|不需要处理|症状",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z][a-z]{3,}|[A-Z]{3,}|[A-Z][a-z]+")
_COMMON = frozenset(
    ["service", "request", "requests", "available", "connection", "timed", "after", "from", "with", "that", "this", "version", "deploy", "config", "change", "order", "error", "spring", "http", "info", "warn", "java", "server", "client", "main", "setting", "value", "true", "false", "data", "name", "time"]
)
_LEAD_TIME = timedelta(minutes=45)


@dataclass(frozen=True)
class Explained:
    """A code in an error line (or a business row), and the sentence of a runbook that names its cause."""

    code: str
    service: str
    kind: LogKind | None
    row: Row | None
    chunk: Chunk
    sentence: str
    change: Change | None = None


@dataclass(frozen=True)
class Changed:
    """A change of the service just before its first new error, about the same thing."""

    kind: LogKind
    change: Change


def explained(question: Question, evidence: Evidence, language: str) -> list[Explained]:
    """Most likely first: the asked record's own code, then the deepest service on the asked path, then the most
    surprising error; of two runbooks the one in the reader's language."""
    reached = depths(question, evidence)
    asked_rows = [row for row in evidence.rows if any(record in row.text for record in question.records)]
    found = [((0, 0, 0.0), one) for row in asked_rows for one in _of_row(row, evidence)]
    news = [kind for kind in telling_kinds(evidence.kinds) if kind.is_error and kind.count]
    asked = [kind for kind in evidence.kinds if kind.count and _asks_for(question, kind) and kind not in news]
    for kind in [*news, *asked]:
        if kind.service in reached:
            order = (1, -reached[kind.service], -kind_score(kind))
            found += [(order, one) for one in _of_kind(kind, evidence)]
    found.sort(key=lambda entry: (*entry[0], _is_chinese(entry[1].sentence) != (language == "zh")))
    return list({one.code: one for _, one in reversed(found)}.values())[::-1]


def _is_chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)


def changed(question: Question, evidence: Evidence) -> list[Changed]:
    reached = depths(question, evidence)
    found = []
    for kind in telling_kinds(evidence.kinds):
        if kind.is_error and kind.is_new and kind.service in reached:
            change = change_before(kind, evidence)
            if change:
                found.append((reached[kind.service], kind_score(kind), Changed(kind, change)))
    found.sort(key=lambda entry: (-entry[0], -entry[1]))
    return [one for _, _, one in found]


def change_before(kind: LogKind, evidence: Evidence) -> Change | None:
    """The last change of this service before its first new error that shares a telling word with the error."""
    if kind.first is None:
        return None
    near = [
        (change.at, number, change)
        for number, change in enumerate(evidence.changes)
        if change.service == kind.service and change.at is not None and change.at <= kind.first <= change.at + _LEAD_TIME
    ]
    error = _words(_texts(kind, evidence), kind.service)
    about = [entry for entry in near if _words(entry[2].text, kind.service) & error]
    return max(about)[2] if about else None


def share_a_word(change: str, error: str) -> bool:
    """Whether both speak of one thing by a word of six letters or more: migrations, migration."""
    said, meant = ({word[:9].removesuffix("s") for word in _words(text, "") if len(word) >= 6} for text in (change, error))
    return bool(said & meant)


def _texts(kind: LogKind, evidence: Evidence) -> str:
    """The error's line, and the stack trace or lines of the same service that carry its code."""
    near = [cited.ref.text for cited in evidence.lines if any(code in cited.ref.text for code in kind.codes)]
    return "\n".join([kind.line, *near])


def _words(text: str, service: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)} - _COMMON - set(service.lower().split("-"))


def _asks_for(question: Question, kind: LogKind) -> bool:
    return any(code in question.codes for code in kind.codes)


def _of_kind(kind: LogKind, evidence: Evidence) -> Iterator[Explained]:
    for code in kind.codes:
        for chunk, sentence in _explanations(code, evidence.chunks):
            yield Explained(code, kind.service, kind, None, chunk, sentence, change_before(kind, evidence))


def _of_row(row: Row, evidence: Evidence) -> Iterator[Explained]:
    for code in codes_of(row.text):
        for chunk, sentence in _explanations(code, evidence.chunks):
            kind = next((kind for kind in evidence.kinds if code in kind.codes), None)
            change = change_before(kind, evidence) if kind else None
            yield Explained(code, kind.service if kind else "", kind, row, chunk, sentence, change)


def _explanations(code: str, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, str]]:
    """Sentences that hold the code and name a cause; one that only calls it a symptom names none."""
    for chunk in chunks:
        if chunk.domain == CASES or code not in chunk.text:
            continue
        for sentence in sentences(chunk.text):
            if code in sentence and _CAUSE.search(sentence) and not _NO_CAUSE.search(sentence):
                yield chunk, sentence


def explains(chunk: Chunk, code: str) -> bool:
    return next(_explanations(code, [chunk]), None) is not None


def sentences(text: str) -> list[str]:
    """Sentences on one line each: a wrapped paragraph is one text, a list item another."""
    found = []
    for paragraph in _BLOCK.split(text):
        line = " ".join(paragraph.split())
        found += [sentence.strip() for sentence in _SENTENCE.findall(line) if sentence.strip()]
    return found


def advice(chunks: Iterable[Chunk], code: str, limit: int = 3) -> list[tuple[Chunk, str]]:
    """What the runbook says to do about a code: the sections headed so, and sentences that open with such a word."""
    found: list[tuple[Chunk, str]] = []
    for chunk in chunks:
        crumbs = chunk.cited.ref.scope.get("breadcrumb", "")
        about = code in chunk.text or code in crumbs
        headed = _TO_DO.search(crumbs.rsplit(">", 1)[-1]) is not None
        for sentence in sentences(chunk.text):
            opened = _OPENS_ADVICE.match(sentence)
            told = sentence[opened.end() :].strip() if opened else sentence
            if about and (headed or opened) and (chunk, told) not in found:
                found.append((chunk, told))
    return found[:limit]
