"""A question that names nothing ("since when?") is about what the conversation was about before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from agents.contracts import HistoryTurn
from agents.offline.question import Question, read

_TOLD = 800  # characters of an answer: its lead stands there


def read_in_context(text: str, history: Sequence[HistoryTurn], now: datetime, zone: ZoneInfo) -> Question:
    """The question with the subject of the last turn that had one; its way of asking, and its own window, stay."""
    question = read(text, now, zone)
    if question.names_something:
        return question
    asked = (read(turn.text, now, zone) for turn in reversed(history) if turn.role == "user")
    subject = next((one for one in asked if one.names_something), None)
    told = next((read(turn.text[:_TOLD], now, zone) for turn in reversed(history) if turn.role == "assistant"), None)
    if subject is None and told is not None and (told.identifiers or told.codes):
        subject = replace(told, names=told.identifiers[:1], terms=(), quoted=(), kind=None, other_kinds=(), window=None)
    if subject is None:
        return question
    return replace(
        question,
        names=subject.names,
        kind=question.kind or subject.kind,
        other_kinds=question.other_kinds or subject.other_kinds,
        namespaces=question.namespaces or subject.namespaces,
        subject=subject.subject,
        records=subject.records,
        codes=subject.codes or (told.codes[:1] if told else ()),
        window=question.window or subject.window,
        terms=tuple(dict.fromkeys([*question.terms, *subject.terms])),
        context=subject.text,
    )
