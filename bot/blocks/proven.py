"""The proven statements of an answer with their first quotes; all of them, in full, are in the Evidence modal."""

from __future__ import annotations

from agents.contracts import AllowedClaim, RunOutcome, VerifiedEvidence
from bot.blocks.reader import Reader
from bot.blocks.rich import Element, bullets, preformatted, section, spans
from bot.blocks.text import shown_pieces
from bot.evidence_source import source_parts
from bot.shapes.rules import units
from bot.statements import Statement, statements

_ALL_CHARS = 4_200
_STATEMENT_CHARS, _QUOTE_CHARS, _QUOTES = 500, 240, 2
_LEAST_ROOM = 200


def proven_elements(outcome: RunOutcome, reader: Reader) -> tuple[list[Element], bool]:
    """Rich text elements, and whether a statement was cut or left out. Quotes go first when room is short."""
    stated = [one for one in statements(outcome) if one.text is None or one.text.strip()]
    elements: list[Element] = []
    left = False
    for index, statement in enumerate(stated):
        room = _ALL_CHARS - _chars(elements)
        if room < _LEAST_ROOM:
            more = reader.say("statements_left", count=len(stated) - index)
            return [*_headed(elements, reader), section(spans(more, italic=True))], True
        shown, cut = _statement(statement, room, reader)
        elements += shown
        left = left or cut
    return _headed(elements, reader), left


def _headed(elements: list[Element], reader: Reader) -> list[Element]:
    """What only repeats the conclusion is its evidence; anything else is confirmed."""
    repeats = bool(elements) and elements[0]["type"] != "rich_text_list"
    heading = reader.say("evidence_heading" if repeats else "confirmed")
    return [section(spans(heading, bold=True)), *elements] if elements else []


def _statement(statement: Statement, room: int, reader: Reader) -> tuple[list[Element], bool]:
    elements: list[Element] = []
    cut = False
    if statement.text is not None:
        first, *rest = shown_pieces(statement.text, min(_STATEMENT_CHARS, room))
        cut = bool(rest)
        text = f"{first.rstrip()} …" if cut else first
        elements.append(bullets([spans(text, reader.link_hosts)]))
    for allowed in statement.claims:
        quoted = _quotes(allowed, reader)
        if _chars(elements) + _chars(quoted) <= room:
            elements += quoted
    return elements, cut


def _quotes(allowed: AllowedClaim, reader: Reader) -> list[Element]:
    elements: list[Element] = []
    for evidence in allowed.evidence[:_QUOTES]:
        source = " · ".join(source_parts(evidence, reader.zone))
        elements.append(section(spans(f"[{allowed.number}] {shown_pieces(source, 200)[0]}", italic=True)))
        elements.append(preformatted(_shortened(evidence, reader)))
    more = len(allowed.evidence) - _QUOTES
    if more > 0:
        elements.append(section(spans(f"[{allowed.number}] {reader.say('quotes_left', count=more)}", italic=True)))
    return elements


def _shortened(evidence: VerifiedEvidence, reader: Reader) -> str:
    first, *rest = shown_pieces(evidence.span_text, _QUOTE_CHARS)
    count = units("".join(rest))
    return f"{first.rstrip()}\n… {reader.say('chars_left', count=count)}" if rest else first


def _chars(elements: list[Element]) -> int:
    return sum(_span_chars(element) for element in elements)


def _span_chars(element: Element) -> int:
    return sum(
        _span_chars(member) if "elements" in member else units(str(member.get("text", member.get("url", ""))))
        for member in element["elements"]
    )
