"""The proven statements of an answer: the conclusion's with their quotes, the others with their sources. All quotes, in
full, are in the Evidence modal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.contracts import AllowedClaim, RunOutcome, Verdict, VerifiedEvidence
from bot.answers.evidence_source import source_names, source_parts
from bot.answers.printable import printable
from bot.answers.statements import Statement, marks, statements
from bot.blocks.reader import Reader
from bot.blocks.rich import Element, Span, bullets, preformatted, section, spans
from bot.blocks.text import shown_pieces
from bot.shapes.rules import units

_ALL_CHARS = 4_200
_STATEMENT_CHARS, _QUOTE_CHARS, _QUOTES, _SOURCE_CHARS = 500, 200, 2, 200
_LEAST_ROOM = 200
# Where the conclusion points at no claim, so many statements get their quotes.
_QUOTED = 2
_QUOTED_WORDS = re.compile(r'["“«](.{4,}?)["”»]')


def proven_elements(
    outcome: RunOutcome, reader: Reader, room: int = _ALL_CHARS, read: str = ""
) -> tuple[list[Element], bool]:
    """Rich text elements, and whether a statement was cut or left out. Quotes go first when room is short. `read` is a
    statement that stands in full above."""
    stated = [one for one in statements(outcome) if one.text is None or one.text.strip()]
    if not stated:
        return _nothing(outcome, reader), False
    said = [one for one in stated if _is_said(one, outcome) or (one.claims and one.text == read)]
    others = [one for one in stated if one not in said]
    quoted = [one for one in others if _in_conclusion(one, outcome)] or ([] if said else others[:_QUOTED])
    elements, left = _evidence(said, reader, room // 2), False
    for index, statement in enumerate(others):
        left_over = room - _chars(elements)
        if left_over < _LEAST_ROOM:
            more = reader.say("statements_left", count=len(others) - index)
            return [*elements, section(spans(more, italic=True))], True
        shown, cut = _statement(statement, left_over, statement in quoted, reader)
        elements += [section(spans(reader.say("confirmed"), bold=True)), *shown] if index == 0 else shown
        left = left or cut
    return elements, left


def _nothing(outcome: RunOutcome, reader: Reader) -> list[Element]:
    if outcome.verdict is Verdict.PASS:
        return []
    heading = section(spans(reader.say("confirmed"), bold=True))
    return [heading, bullets([spans(reader.say("none_confirmed"))])]


def _is_said(statement: Statement, outcome: RunOutcome) -> bool:
    """The conclusion has said it to the letter: only its evidence is new."""
    if statement.text is None:
        return True
    words = re.sub(r"\s*\[\d+\]", "", statement.text).strip().rstrip(".。")
    lead = re.sub(r"\s*\[\d+\]", "", outcome.sections.lead)
    return bool(statement.claims) and words in lead and _in_conclusion(statement, outcome)


def _in_conclusion(statement: Statement, outcome: RunOutcome) -> bool:
    return bool({one.number for one in statement.claims} & set(marks(outcome.sections.lead)))


def _evidence(said: list[Statement], reader: Reader, room: int) -> list[Element]:
    elements: list[Element] = []
    for claim in (claim for statement in said for claim in statement.claims):
        quotes = _quotes(claim, reader)
        if _chars(elements) + _chars(quotes) <= room:
            elements += quotes
    return [section(spans(reader.say("evidence_heading"), bold=True)), *elements] if elements else []


def _statement(statement: Statement, room: int, with_quotes: bool, reader: Reader) -> tuple[list[Element], bool]:
    first, *rest = shown_pieces(statement.text or "", min(_STATEMENT_CHARS, room))
    text = f"{first.rstrip()} …" if rest else first
    sources = [] if with_quotes else source_spans(statement.claims)
    elements = [bullets([spans(text, reader.link_hosts) + sources])]
    for claim in statement.claims if with_quotes else ():
        quotes = _quotes(claim, reader)
        if _chars(elements) + _chars(quotes) <= room:
            elements += quotes
    return elements, bool(rest)


def source_spans(claims: Sequence[AllowedClaim]) -> list[Span]:
    """In the same line of the list: tool and source, without the window."""
    named = dict.fromkeys(" · ".join(source_names(one)) for claim in claims for one in claim.evidence)
    text = shown_pieces("; ".join(named), _SOURCE_CHARS)[0].strip()
    return spans(f" ({text})", italic=True) if text else []


def _quotes(allowed: AllowedClaim, reader: Reader) -> list[Element]:
    elements: list[Element] = []
    for evidence in allowed.evidence[:_QUOTES]:
        source = " · ".join(source_parts(evidence, reader.zone))
        elements.append(section(spans(f"[{allowed.number}] {shown_pieces(source, _SOURCE_CHARS)[0]}", italic=True)))
        elements.append(preformatted(_shortened(allowed.claim.claim_text, evidence, reader)))
    more = len(allowed.evidence) - _QUOTES
    if more > 0:
        elements.append(section(spans(f"[{allowed.number}] {reader.say('quotes_left', count=more)}", italic=True)))
    return elements


def _shortened(claim: str, evidence: VerifiedEvidence, reader: Reader) -> str:
    """The part of a long quote that the claim repeats, or its beginning."""
    text = printable(evidence.span_text)
    if units(text) <= _QUOTE_CHARS:
        return text
    start = _start(claim, text)
    first = shown_pieces(text[start:], _QUOTE_CHARS)[0]
    left = reader.say("chars_left", count=units(text) - units(first))
    return f"{'… ' if start else ''}{first.rstrip()}\n… {left}"


def _start(claim: str, text: str) -> int:
    """Where to begin, at a word, so that the words that the claim quotes are seen."""
    for words in _QUOTED_WORDS.findall(printable(claim)):
        place = text.find(words)
        if place + units(words) > _QUOTE_CHARS:
            return text.rfind(" ", 0, max(place - _QUOTE_CHARS // 4, 0)) + 1
    return 0


def _chars(elements: list[Element]) -> int:
    return sum(_span_chars(element) for element in elements)


def _span_chars(element: Element) -> int:
    return sum(
        _span_chars(member) if "elements" in member else units(str(member.get("text", member.get("url", ""))))
        for member in element["elements"]
    )
